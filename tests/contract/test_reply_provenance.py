"""ISO-12: a reply keeps where it came from. Its entities go to the project of its question, what it quotes stays in the pool from
which it was recalled, and what was given another pool's text becomes no memory and no note where the session is now."""

from collections.abc import Sequence
from itertools import product

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import TurnMoved
from cloister.domain.extraction import NO_GUIDANCE, ExtractedEntity, ExtractedMemory, Guidance, KnownMemory, Statement
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.memory import quoted
from cloister.services.chat.turns import Turn, TurnRequest
from cloister.services.conversations.move import MovePreview
from cloister.services.memories import extract
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

SECRET = "The safe opens with 4711."
QUOTING = f"I was told this: {quoted([SECRET])} So it is."


class Names:
    """Makes of every statement a memory, an entity and a note of the same words."""

    name = "names"
    languages: tuple[str, ...] = ()

    def memories(
        self,
        said: Sequence[Statement],
        known: Sequence[KnownMemory],
        of_user: Sequence[KnownMemory] = (),
        guidance: Guidance = NO_GUIDANCE,
    ) -> list[ExtractedMemory]:
        return [ExtractedMemory(content=one.content, sources=(one.id,)) for one in said]

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        return [ExtractedEntity(name=one.content, type="other", notes=one.content, sources=(one.id,)) for one in said]

    def notes(self, said: Sequence[Statement]) -> list[tuple[str, tuple[MessageId, ...]]]:
        return [(one.content, (one.id,)) for one in said]

    def close(self) -> None: ...


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine, extractor=Names())


def asked(house: MemorySetup, project: ProjectId | None, words: str = "Question") -> Turn:
    ask = TurnRequest(session="tab", drafts=[Draft(role="user", content=words)], project=project)
    return house.services.turns.begin(house.reach, ask)


def answered(house: MemorySetup, turn: Turn, words: str = "Reply", *, given: bool = False) -> None:
    house.services.turns.end(turn, Draft(role="assistant", content=words), given_recalled_text=given)


def contents(house: MemorySetup) -> list[str]:
    return [message.content for message in house.services.sessions.messages(house.reach, "tab", limit=99)[1]]


PLACES = ("garden", "cellar", None)


@pytest.mark.parametrize(("asked_in", "stored_in"), [pair for pair in product(PLACES, PLACES) if pair[0] != pair[1]])
@pytest.mark.parametrize("is_read_before", [False, True])
def test_iso_12_the_entities_of_a_reply_go_to_the_project_of_its_question(
    house: MemorySetup, asked_in: str | None, stored_in: str | None, is_read_before: bool
) -> None:
    """ISO-6: though it was stored after the move, whether the question was read before it or not; what was said in the new project
    meanwhile, and later, is of that one."""
    projects: dict[str | None, ProjectId | None] = {name: house.project(name or "") for name in PLACES if name}
    here, there = projects.get(asked_in), projects.get(stored_in)
    turn = asked(house, here)
    if is_read_before:
        house.services.extraction.extract_now(house.reach, "tab")
    house.move("tab", there)
    house.services.record.messages(house.reach, "tab", [Draft(role="user", content="Meanwhile")])
    answered(house, turn)
    house.services.record.messages(house.reach, "tab", [Draft(role="user", content="Later")])
    house.services.extraction.extract_now(house.reach, "tab")
    if here is not None:
        assert house.names(here) == ["Question", "Reply"]
    if there is not None:
        assert sorted(house.names(there)) == ["Later", "Meanwhile"]


def test_iso_6_the_last_message_before_a_move_belongs_where_it_was_said(house: MemorySetup) -> None:
    """A user's message that nobody answered is the very last one of its project."""
    garden, cellar = house.project("Garden"), house.project("Cellar")
    house.session("tab", garden)
    house.services.record.messages(house.reach, "tab", [Draft(role="user", content="Unanswered")])
    house.move("tab", cellar)
    house.services.extraction.extract_now(house.reach, "tab")
    assert (house.names(garden), house.names(cellar)) == (["Unanswered"], [])


@pytest.mark.parametrize("given", [False, True])
def test_iso_12_what_was_given_another_pools_text_is_no_evidence_where_the_session_is_now(
    house: MemorySetup, given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract, "RECENT_WINDOW", 1)
    monkeypatch.setattr(extract, "_FEWEST_TO_OBSERVE", 1)
    garden, cellar = house.project("Garden"), house.project("Cellar")
    answered(house, asked(house, garden), given=given)
    house.move("tab", cellar)
    house.services.record.messages(house.reach, "tab", [Draft(role="user", content="Later")])
    house.services.extraction.extract_now(house.reach, "tab")
    if given:
        assert "Reply" not in house.memories("tab")
    assert house.notes("tab") == (["Question"] if given else ["Question", "Reply"])
    assert house.names(garden) == ["Question", "Reply"] and house.names(cellar) == ["Later"]


def test_iso_12_a_quotation_is_shown_only_in_the_pool_that_it_is_of(house: MemorySetup) -> None:
    """By GET messages and in the conversation of the next prompt, whenever the reply was stored; moved back, it is there again."""
    garden, cellar = house.project("Garden"), house.project("Cellar")
    answered(house, asked(house, garden), QUOTING)
    for project, is_shown in ((cellar, False), (garden, True), (None, False), (garden, True)):
        house.move("tab", project)
        assert (SECRET in contents(house)[1]) == is_shown
        said = [item.message for item in house.context("tab", "safe").current_conversation]
        assert (SECRET in said[1].content) == is_shown
        assert "So it is." in said[1].content
        assert said[1].tokens < 60


def test_iso_12_what_was_quoted_while_members_shared_is_not_shown_after_they_are_divided(house: MemorySetup) -> None:
    """ISO-10: also in a session without a user, whose pool keeps its id. A reply that quotes is refused after it."""
    team = house.project("Team", "shared")
    answered(house, asked(house, team), QUOTING)
    turn = asked(house, team)
    assert SECRET in contents(house)[1]
    house.services.projects.change_project(house.reach, team, member_visibility="private")
    with pytest.raises(TurnMoved):
        answered(house, turn, QUOTING)
    assert SECRET not in repr(contents(house))
    assert [text.endswith("So it is.") for text in contents(house)[1::2]] == [True]


def test_iso_12_what_was_quoted_while_members_shared_does_not_come_back_with_a_session_that_was_away(
    house: MemorySetup,
) -> None:
    """ISO-10: the session is in another project while the members are divided, and comes back into a pool of the same id."""
    team, cellar = house.project("Team", "shared"), house.project("Cellar")
    answered(house, asked(house, team), QUOTING)
    house.move("tab", cellar)
    house.services.projects.change_project(house.reach, team, member_visibility="private")
    house.move("tab", team)
    assert SECRET not in repr(contents(house))
    assert SECRET not in repr(house.context("tab", "safe").current_conversation)


@pytest.mark.parametrize("is_away", [False, True])
@pytest.mark.parametrize("user", [None, "bob"])
def test_iso_12_what_was_quoted_before_members_were_divided_stays_hidden_when_they_share_again(
    house: MemorySetup, user: str | None, is_away: bool
) -> None:
    """What was said may have been forgotten or moved in between, so only what is recalled after it is quoted again."""
    team, cellar = house.project("Team", "shared"), house.project("Cellar")
    house.session("tab", team, user)
    answered(house, asked(house, team), QUOTING)
    if is_away:
        house.move("tab", cellar)
    for visibility in ("private", "shared"):
        house.services.projects.change_project(house.reach, team, member_visibility=visibility)
    house.move("tab", team)
    answered(house, asked(house, team), QUOTING)
    said = [item.message.content for item in house.context("tab", "safe").current_conversation]
    for shown in (contents(house), said):
        assert [SECRET in text for text in shown] == [False, False, False, True]
        assert shown[1].endswith("So it is.")


@pytest.mark.parametrize("words", ["The safe opens with 4417.", QUOTING])
def test_iso_12_a_reply_that_was_given_text_of_a_pool_is_not_stored_where_the_session_is_by_now(
    house: MemorySetup, words: str
) -> None:
    """The words recalled in one project would be read and recalled in another: they were not there when the session moved."""
    garden, cellar = house.project("Garden"), house.project("Cellar")
    turn = asked(house, garden)
    house.move("tab", cellar)
    with pytest.raises(TurnMoved):
        answered(house, turn, words, given=True)
    assert contents(house) == ["Question"]
    answered(house, asked(house, cellar, "Again"))
    failed = asked(house, cellar, "And again")
    house.move("tab", garden)
    reply = Draft(role="assistant", content="The model failed.", status="failed")
    stored = house.services.turns.end(failed, reply, given_recalled_text=True)
    assert stored is not None and stored.recalled_pool is None


def test_iso_12_a_dry_run_of_a_move_counts_and_changes_nothing(house: MemorySetup, engine: Engine) -> None:
    garden, cellar = house.project("Garden"), house.project("Cellar")
    answered(house, asked(house, garden), given=True)
    answered(house, asked(house, garden))
    answered(house, asked(house, garden), QUOTING)
    house.services.extraction.extract_now(house.reach, "tab")
    before = engine.dump()
    sessions = house.services.sessions
    preview = sessions.preview_move(house.reach, "tab", cellar)
    memories = len(house.memories("tab"))
    assert memories
    assert preview == MovePreview(messages=6, memories=memories, observations=0, replies_given_recalled_text=2)
    nothing = MovePreview(messages=0, memories=0, observations=0, replies_given_recalled_text=0)
    assert sessions.preview_move(house.reach, "tab", garden) == nothing
    assert engine.dump() == before
