"""Identifiers: what is made can be read back, what was not made here is refused, and nothing else is let through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.errors import InvalidProjectId, NotFound
from cloister.domain.identifiers import (
    MAX_SEQUENCE,
    SEQUENCE_BITS,
    MessageId,
    ProjectId,
    SessionId,
    format_episode_id,
    format_message_id,
    format_project_id,
    format_tenant_id,
    message_id,
    new_external_id,
    new_pool_id,
    new_project_id,
    new_session_id,
    new_tenant_id,
    parse_message_id,
    parse_project_id,
    sequence_of,
    session_of,
)
from cloister.domain.text import checked_name

SESSIONS = st.integers(1, (1 << 42) - 1).map(SessionId)
SEQUENCES = st.integers(1, MAX_SEQUENCE)
NUMBERS = st.integers(1, (1 << 63) - 1)


@given(SESSIONS, SEQUENCES)
def test_a_message_id_holds_its_session_and_its_place(session: SessionId, sequence: int) -> None:
    """ISO-1: integers inside."""
    identity = message_id(session, sequence)
    assert session_of(identity) == session
    assert sequence_of(identity) == sequence
    assert 0 < identity < 1 << 63


@given(SESSIONS, SEQUENCES, SESSIONS, SEQUENCES)
def test_messages_of_one_session_are_neighbours_in_order(
    session: SessionId, sequence: int, other_session: SessionId, other_sequence: int
) -> None:
    ordered = (session, sequence) < (other_session, other_sequence)
    assert (message_id(session, sequence) < message_id(other_session, other_sequence)) == ordered


@pytest.mark.parametrize("sequence", [-1, 0, MAX_SEQUENCE + 1])
def test_a_sequence_number_that_would_reach_into_another_session_is_refused(sequence: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        message_id(SessionId(5), sequence)


@given(NUMBERS)
def test_names_read_back_as_the_number_they_were_made_of(number: int) -> None:
    assert parse_project_id(format_project_id(ProjectId(number))) == number
    assert parse_message_id(format_message_id(MessageId(number))) == number


@given(NUMBERS)
def test_every_outside_name_is_a_prefix_and_sixteen_digits(number: int) -> None:
    """ISO-1, ORG-1."""
    names = (
        format_tenant_id(number),  # pyright: ignore[reportArgumentType]
        format_project_id(ProjectId(number)),
        format_message_id(MessageId(number)),
        format_episode_id(MessageId(number)),
    )
    assert [name.partition("_")[0] for name in names] == ["ten", "proj", "msg", "ep"]
    assert {len(name.partition("_")[2]) for name in names} == {16}


IMPOSSIBLE = ["{}0000000000000000", "{}8000000000000000", "{}ffffffffffffffff"]
BAD_NAMES = [
    "",
    "{}",
    "{}123",
    "{}00000000000000001",
    "{}000000000000000g",
    "{}000000000000000A",
    "{}-00000000000000a",
    "{}0x0000000000000a",
    "{} 00000000000000a",
    "{}000000000000000a\n",
    " {}000000000000000a",
    "{}000000000000_00a",
    "{}٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠١",
    "000000000000000a",
    "{}{}000000000000000a",
    "{}\ud800",
    "{}000000000000000a\x00",
    "ses_000000000000000a",
]


@pytest.mark.parametrize("form", BAD_NAMES)
def test_a_project_id_of_another_form_is_refused(form: str) -> None:
    given_id = form.replace("{}", "proj_")
    with pytest.raises(InvalidProjectId) as caught:
        parse_project_id(given_id)
    assert caught.value.field == "project_id"


@pytest.mark.parametrize("form", IMPOSSIBLE)
def test_a_project_id_of_the_right_form_that_no_project_can_have_is_not_found(form: str) -> None:
    """ORG-3: the form is checked first, then the ownership."""
    given_id = form.replace("{}", "proj_")
    with pytest.raises(NotFound) as caught:
        parse_project_id(given_id)
    assert str(caught.value) == f"There is no project {given_id!r} here."


@pytest.mark.parametrize("form", [*BAD_NAMES, *IMPOSSIBLE])
def test_a_message_id_of_another_form_is_simply_not_found(form: str) -> None:
    given_id = form.replace("{}", "msg_")
    with pytest.raises(NotFound) as caught:
        parse_message_id(given_id)
    assert str(caught.value) == f"There is no message {given_id!r} here."


@given(st.text())
def test_no_text_at_all_breaks_the_parsers(text: str) -> None:
    for parse, refusal in ((parse_project_id, (InvalidProjectId, NotFound)), (parse_message_id, NotFound)):
        try:
            number = parse(text)
        except refusal:
            continue
        assert 0 < number < 1 << 63


def test_one_kind_of_name_is_never_read_as_another() -> None:
    with pytest.raises(InvalidProjectId):
        parse_project_id(format_message_id(MessageId(10)))
    with pytest.raises(NotFound):
        parse_message_id(format_project_id(ProjectId(10)))


def test_new_ids_are_positive_distinct_and_fit_their_column() -> None:
    for new, bits in (
        (new_tenant_id, 63),
        (new_project_id, 63),
        (new_pool_id, 63),
        (new_session_id, 63 - SEQUENCE_BITS),
    ):
        drawn = [new() for _ in range(500)]
        assert len(set(drawn)) == 500
        assert all(0 < number < 1 << bits for number in drawn)


def test_a_new_external_id_is_one_that_a_caller_might_have_given() -> None:
    drawn = {new_external_id() for _ in range(500)}
    assert len(drawn) == 500
    for name in drawn:
        assert checked_name(name, "external_id") == name
