"""How much a tenant may keep (ORG-7): its own limits over the server's, and a refusal as soon as not all would fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.errors import QuotaExceeded
from cloister.domain.usage import Limits, refuse_over

COUNTS = st.integers(0, 1 << 40)
MAYBE = st.none() | COUNTS
LIMITS = st.builds(Limits, messages=MAYBE, sessions=MAYBE, projects=MAYBE, files=MAYBE, entries=MAYBE)
FIELDS = ("messages", "sessions", "projects")


@given(LIMITS, LIMITS)
def test_a_limit_of_the_tenant_holds_and_where_it_has_none_the_servers(own: Limits, servers: Limits) -> None:
    """ORG-7."""
    together = own.over(servers)
    for field in FIELDS:
        mine = getattr(own, field)
        assert getattr(together, field) == (getattr(servers, field) if mine is None else mine)


@given(LIMITS)
def test_no_limits_change_nothing(limits: Limits) -> None:
    alone = limits.over(Limits())
    assert alone == Limits().over(limits) == alone.over(Limits())
    assert all(getattr(alone, field) == getattr(limits, field) for field in FIELDS)
    assert (alone.files, alone.entries) == (
        limits.messages if limits.files is None else limits.files,
        limits.messages if limits.entries is None else limits.entries,
    )


def test_a_limit_of_nothing_is_a_limit() -> None:
    """ORG-7: 0 is not the same as none, and is not replaced by the server's."""
    nothing = Limits(messages=0, sessions=0, projects=0, files=0, entries=0)
    assert nothing.over(Limits(messages=9, sessions=9, projects=9, files=9, entries=9)) == nothing


@given(COUNTS, COUNTS, st.none() | COUNTS)
def test_what_fits_passes_and_what_does_not_is_refused(stored: int, more: int, limit: int | None) -> None:
    """ORG-7."""
    if limit is None or stored + more <= limit:
        refuse_over("messages", stored, more, limit)
        return
    with pytest.raises(QuotaExceeded):
        refuse_over("messages", stored, more, limit)


@pytest.mark.parametrize(
    ("stored", "more", "fits"), [(9, 1, True), (10, 0, True), (9, 2, False), (10, 1, False), (0, 11, False)]
)
def test_the_last_place_can_be_taken_and_no_more(stored: int, more: int, fits: bool) -> None:
    """ORG-7: a limit of ten is ten."""
    if fits:
        refuse_over("sessions", stored, more, 10)
        return
    with pytest.raises(QuotaExceeded) as caught:
        refuse_over("sessions", stored, more, 10)
    assert caught.value.code == "quota_exceeded"


def test_the_refusal_says_what_how_many_and_what_to_do() -> None:
    """ORG-7: a clear answer."""
    with pytest.raises(QuotaExceeded) as caught:
        refuse_over("messages", 999_990, 20, 1_000_000)
    assert str(caught.value) == (
        "The quota of 1,000,000 messages is reached (999,990 kept): forget some, or have the limit raised."
    )
