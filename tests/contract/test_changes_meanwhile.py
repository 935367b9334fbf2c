"""Projects and sessions that change between two steps of a use case (ISO-6, ISO-10, ISO-12): the last to commit sees the first.

SQLite has one writer, so there a change can only come between two transactions; on PostgreSQL it also comes into the middle of one.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.chat.turns import TurnRequest
from cloister.services.conversations.record import Recorder
from cloister.services.memories.entities import Entities
from cloister.storage.stores.turns import TurnStore
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house
from support.waiting import eventually

SAID = "My brother Xandor works at Zentrix in Vienna."
LOCKS_WAITED_FOR = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


@pytest.fixture
def setup(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def call_before(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, happen: Callable[[], object]) -> None:
    """Let something happen just before the first call of a method, and never again."""
    original: Callable[..., Any] = getattr(owner, name)
    pending = [happen]

    def replacement(*given: Any, **named: Any) -> Any:
        if pending:
            pending.pop()()
        return original(*given, **named)

    monkeypatch.setattr(owner, name, replacement)


def say_before_a_move(setup: MemorySetup, first: MemberVisibility) -> ProjectId:
    """Ann's words in a project, not extracted yet, in a session that is in no project now: a change of the first one neither moves
    that session nor waits for its memories."""
    project = setup.project("Garden", first)
    setup.session("told", project, user="ann")
    setup.say("told", SAID)
    setup.move("told", None)
    return project


def change(setup: MemorySetup, project: ProjectId, visibility: MemberVisibility) -> None:
    setup.services.projects.change_project(setup.reach, project, member_visibility=visibility)


def assert_filed(setup: MemorySetup, project: ProjectId, visibility: MemberVisibility) -> None:
    """A private project shows ann's entities to ann alone, a shared one the same ones to everybody."""
    assert "Xandor" in setup.names(project, "ann")
    for other in ("bob", None):
        assert ("Xandor" in setup.names(project, other)) == (visibility == "shared")


@pytest.mark.parametrize("second", ["private", "shared"])
def test_iso_10_entities_are_filed_by_what_their_project_is_when_they_are_stored(
    setup: MemorySetup, monkeypatch: pytest.MonkeyPatch, second: MemberVisibility
) -> None:
    """The project is divided, or shared, while the extractor reads."""
    project = say_before_a_move(setup, "shared" if second == "private" else "private")
    call_before(monkeypatch, type(setup.services.extractor), "entities", lambda: change(setup, project, second))
    setup.services.extraction.extract_now(setup.reach, "told")
    assert_filed(setup, project, second)


@pytest.mark.parametrize("second", ["private", "shared"])
def test_iso_10_a_project_is_not_regrouped_while_entities_are_being_filed_in_it(
    setup: MemorySetup, engine: Engine, monkeypatch: pytest.MonkeyPatch, second: MemberVisibility
) -> None:
    """The change comes after extraction has read the project and before it stores the first entity: it waits for the commit."""
    project = say_before_a_move(setup, "shared" if second == "private" else "private")
    with ThreadPoolExecutor(1) as other:

        def change_at_once() -> None:
            running = other.submit(change, setup, project, second)
            if engine.name == "postgres":
                eventually(lambda: running.done() or engine.rows(LOCKS_WAITED_FOR) != [(0,)])
                assert not running.done(), "the project changed under an extraction that had read it"

        call_before(monkeypatch, Entities, "mention", change_at_once)
        setup.services.extraction.extract_now(setup.reach, "told")
    assert setup.services.projects.project(setup.reach, project).member_visibility == second
    assert_filed(setup, project, second)


@pytest.mark.parametrize("confined", [True, False])
@pytest.mark.parametrize(
    ("engine", "moment"),
    # SQLite's only writer has the lock from the start of its transaction.
    [("sqlite", "before the transaction"), ("postgres", "before the transaction"), ("postgres", "before the lock")],
    indirect=["engine"],
)
def test_iso_12_a_session_that_moves_while_a_turn_begins_is_checked_as_it_is_when_it_is_locked(
    setup: MemorySetup, engine: Engine, monkeypatch: pytest.MonkeyPatch, moment: str, confined: bool
) -> None:
    """The request says in which project the session is, or its key reaches only that one: nothing is appended in another."""
    garden, kitchen = setup.project("Garden"), setup.project("Kitchen")
    setup.session("tab", garden)
    setup.session("other", garden)
    reach = Reach(tenant=setup.reach.tenant, confined_to=garden if confined else None)
    ask = TurnRequest(
        session="tab",
        project=garden,
        must_be_in=True,
        drafts=[Draft(role="user", content="Who?")],
        has_whole_history=True,
    )
    owner, method = (TurnStore, "take") if moment == "before the lock" else (Recorder, "prepare")
    call_before(monkeypatch, owner, method, lambda: setup.move("tab", kitchen))
    with pytest.raises((Conflict, NotFound)):
        setup.services.turns.begin(reach, ask)
    assert setup.find("tab").project == kitchen
    assert setup.checked("tab") == []
    # The turn was given back with the rollback.
    monkeypatch.undo()
    again = TurnRequest(session="tab", project=kitchen, must_be_in=True, drafts=ask.drafts)
    assert setup.services.turns.begin(setup.reach, again).session.project == kitchen
