"""Who may be told what, and how events are packed for other processes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.events import Event, of_move, reset, visible_to
from cloister.domain.identifiers import MessageId, ProjectId, TenantId
from cloister.domain.scope import Reach
from cloister.storage.event_payloads import packed, unpacked
from support.samples.bare_sessions import bare_session

TENANT = TenantId(1)
PROJECTS = [None, ProjectId(1), ProjectId(2), ProjectId(3)]
projects = st.sampled_from(PROJECTS)
names = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=255)
kinds = st.sampled_from(["session.created", "session.changed", "session.deleted", "message.added", "turn.started"])
events = st.builds(
    Event,
    kind=kinds,
    session=names,
    project=projects,
    user=st.none() | names,
    at=st.integers(0, 1 << 62),
    moved=st.booleans(),
    origin=projects,
    first_message=st.none() | st.integers(1, (1 << 63) - 1).map(MessageId),
    messages=st.integers(0, 1_000),
)


@given(events, st.sampled_from(PROJECTS[1:]))
def test_iso_4_a_confined_reader_is_never_told_of_another_project(event: Event, project: ProjectId) -> None:
    shown = visible_to(event, Reach(tenant=TENANT, confined_to=project), None)
    concerned = {event.project, event.origin} if event.moved else {event.project}
    assert (shown is not None) == (project in concerned)
    if shown is not None:
        assert (shown.project, shown.origin, shown.moved) == (project, None if event.moved else event.origin, False)


@given(events, st.none() | names)
def test_a_reader_of_one_user_is_told_of_that_user_alone(event: Event, user: str | None) -> None:
    shown = visible_to(event, Reach(tenant=TENANT), user)
    assert shown == (event if user in (None, event.user) else None)


def test_a_reset_reaches_those_whom_it_concerns() -> None:
    garden, cellar = Reach(tenant=TENANT, confined_to=ProjectId(1)), Reach(tenant=TENANT, confined_to=ProjectId(2))
    assert visible_to(reset(0, project=ProjectId(1)), garden, "ada") is not None
    assert visible_to(reset(0, project=ProjectId(1)), cellar, "ada") is None
    assert visible_to(reset(0, project=None), cellar, None) is None
    assert visible_to(reset(0, wide=True), cellar, "ada") is not None
    assert visible_to(reset(0, project=ProjectId(2)), Reach(tenant=TENANT), None) is not None


@given(st.lists(st.tuples(st.integers(1, (1 << 63) - 1).map(TenantId), st.lists(events, max_size=5)), max_size=20))
def test_what_is_packed_is_unpacked_in_order_and_fits(said: list[tuple[TenantId, list[Event]]]) -> None:
    payloads = list(packed("me", said, 8_000))
    assert all(len(payload.encode()) < 8_000 for payload in payloads)
    back = [pair for payload in payloads for pair in unpacked(payload, "you") or []]
    flat = [(tenant, event) for tenant, several in said for event in several]
    assert [(tenant, event) for tenant, (event,) in back] == flat
    assert [unpacked(payload, "me") for payload in payloads] == [[] for _ in payloads]


def test_what_is_of_another_version_is_not_guessed_at() -> None:
    assert unpacked(json.dumps([2, "you", [1, "session.created"]]), "me") is None
    assert unpacked(json.dumps([1, "you", [1, "session.created"]]), "me") is None


def test_a_move_within_its_project_is_a_change_and_no_move() -> None:
    session = bare_session(tenant=TENANT, project=ProjectId(1))
    assert of_move(session, ProjectId(1), 5).moved is False
    assert of_move(session, None, 5) == Event(
        "session.changed", "roses", None, None, 5, moved=True, origin=ProjectId(1)
    )
