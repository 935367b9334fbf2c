"""What a session excludes is not recalled there, other things take its place, and no exclusion says what is in another pool."""

from dataclasses import replace

import pytest

from cloister.domain.context import Source
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import format_message_id
from cloister.domain.scope import Reach
from cloister.domain.sessions.exclusions import MOST_EXCLUSIONS, ExcludedKind
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"
ANNA, CELLO = "My neighbour Anna plays the cello.", "What does my neighbour Anna play?"


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def exclude(house: MemorySetup, kind: ExcludedKind, item: int, session: str = "asks") -> None:
    house.services.receipts.exclusions.exclude(house.reach, session, kind, item)


def excluded(house: MemorySetup, reach: Reach | None = None) -> list[tuple[str, int]]:
    found = house.services.receipts.exclusions.of_session(reach or house.reach, "asks")
    return [(each.exclusion.kind, each.exclusion.item) for each in found]


def test_what_is_excluded_is_recalled_by_other_sessions_only(house: MemorySetup) -> None:
    """A message, a memory, pinned or not, and an entity; in contexts and in searches."""
    garden = house.project()
    for name in ("tells", "asks", "other"):
        house.session(name, garden)
    (said,) = house.tell("tells", ANNA)
    (memory,) = house.stored("tells")
    entity = house.entities(garden)[0]
    exclude(house, "message", said.id)
    exclude(house, "memory", memory.memory.id)
    exclude(house, "entity", entity.id)
    mine, others = house.context("asks", CELLO), house.context("other", CELLO)
    assert said.id not in {item.message.id for item in mine.relevant_history}
    assert (mine.derived.memories, mine.derived.entities, mine.left_out["excluded"]) == ((), (), 3)
    assert said.id in {item.message.id for item in others.relevant_history}
    assert others.derived.memories and others.derived.entities and others.left_out["excluded"] == 0
    here, there = SearchTarget(session="asks"), SearchTarget(session="other")
    assert "cello" not in str(house.searched(CELLO, here)) and "cello" in str(house.searched(CELLO, there))
    house.services.receipts.exclusions.include(house.reach, "asks", "memory", memory.memory.id)
    assert house.context("asks", CELLO).derived.memories


def test_others_take_the_places_of_what_is_excluded(house: MemorySetup) -> None:
    """The limit counts what is left: of the best matches, and of the most recent messages of the pool."""
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    said = house.say("tells", *(f"The gate code of house {number} is 44{number}." for number in range(10, 15)))
    for method in ("semantic", "recent"):
        source = Source(role="user", method=method, limit=2, conversation_scope="pool")
        request = ContextRequest(question=QUESTION, min_relevance=0, sources=[source])
        before = house.services.context.build(house.reach, "asks", request).relevant_history
        assert len(before) == 2
        for item in before:
            exclude(house, "message", item.message.id)
        after = house.services.context.build(house.reach, "asks", request).relevant_history
        assert len(after) == 2 and {item.message.id for item in after}.isdisjoint(item.message.id for item in before)
        for item in before:
            house.services.receipts.exclusions.include(house.reach, "asks", "message", item.message.id)
    assert len(said) == 5


def test_iso_3_what_the_session_cannot_recall_is_missing_whether_it_exists_or_not(house: MemorySetup) -> None:
    garden, cellar = house.project(), house.project("Cellar")
    house.session("asks", garden)
    house.session("foreign", cellar)
    (said,) = house.say("foreign", GATE)
    with pytest.raises(NotFound) as foreign:
        exclude(house, "message", said.id)
    assert str(foreign.value) == f"There is no message {format_message_id(said.id)!r} here."
    house.services.forgetting.message(house.reach, said.id)
    with pytest.raises(NotFound) as missing:
        exclude(house, "message", said.id)
    assert str(missing.value) == str(foreign.value)
    with pytest.raises(NotFound) as kept:
        house.services.receipts.exclusions.include(house.reach, "asks", "message", said.id)
    assert kept.value.kind == "exclusion"


def test_iso_12_an_exclusion_does_not_follow_its_session_into_another_pool(house: MemorySetup) -> None:
    """Neither listed, nor counted, nor to be taken back there; it counts again when the session comes back."""
    garden, cellar = house.project(), house.project("Cellar")
    house.session("tells", garden)
    house.session("asks", garden)
    (said,) = house.say("tells", GATE)
    exclude(house, "message", said.id)
    house.move("asks", cellar)
    there = replace(house.reach, confined_to=cellar)
    assert excluded(house) == excluded(house, there) == []
    assert house.context("asks", QUESTION).left_out["excluded"] == 0
    with pytest.raises(NotFound):
        house.services.receipts.exclusions.include(there, "asks", "message", said.id)
    house.move("asks", garden)
    assert excluded(house) == [("message", said.id)]
    assert said.id not in {item.message.id for item in house.context("asks", QUESTION).relevant_history}


def test_an_exclusion_goes_with_its_session_and_with_what_it_excludes(house: MemorySetup, engine: Engine) -> None:
    garden = house.project(visibility="private")
    house.session("asks", garden, "ann")

    def count() -> int:
        return len(engine.rows("SELECT exclusion_id FROM exclusion"))

    def told(name: str) -> None:
        house.session(name, garden, "ann")
        (said,) = house.tell(name, ANNA)
        exclude(house, "message", said.id)
        exclude(house, "memory", house.stored(name)[0].memory.id)
        exclude(house, "entity", house.entities(garden, "ann")[0].id)
        assert count() == 3

    told("one")
    house.services.forgetting.message(
        house.reach, house.services.sessions.messages(house.reach, "one", limit=1)[1][0].id
    )
    assert count() == 0
    house.services.forgetting.session(house.reach, "one")
    told("two")
    house.services.forgetting.contents(house.reach, "two")
    assert count() == 0
    told("three")
    house.services.forgetting.contents(house.reach, "asks")
    assert count() == 0
    house.services.forgetting.session(house.reach, "three")
    told("four")
    house.services.erase_user.erase(house.reach, "ann")
    assert count() == 0


def test_the_number_of_exclusions_of_a_session_is_bounded(house: MemorySetup, engine: Engine) -> None:
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    said = house.say("tells", *(f"Bean {number}." for number in range(MOST_EXCLUSIONS + 1)))
    for message in said[:MOST_EXCLUSIONS]:
        exclude(house, "message", message.id)
    exclude(house, "message", said[0].id)
    with pytest.raises(Conflict, match="at most 200"):
        exclude(house, "message", said[-1].id)
    assert len(excluded(house)) == MOST_EXCLUSIONS
