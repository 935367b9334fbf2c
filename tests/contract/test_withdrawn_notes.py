"""Notes on entities do not say what memories no longer say (MEM-12, MEM-13, MEM-15)."""

from collections.abc import Callable

import pytest

from cloister.domain.identifiers import MemoryId, ProjectId
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup, settle_house

ROME = "The user lives in Rome."


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def shown(house: MemorySetup, project: ProjectId) -> list[bool]:
    """Whether a context, a search, the project's profile, a list and a single entity say that the user lives in Rome."""
    services, reach = house.services, house.reach
    listed = services.entities.page(reach, project, user_id="ann", limit=9)
    rome = next(entity for entity in listed if entity.name == "Rome")
    texts = (
        house.context("a", "What do you know of Rome?").derived.entities,
        services.search.search(reach, "Rome", SearchTarget(session="a"), 9, ["entities"]),
        services.profiles.of_project(reach, project, user_id="ann").text,
        rome.notes,
        services.entities.get(reach, rome.id).entity.notes,
    )
    return [ROME in repr(text) for text in texts]


def stated(house: MemorySetup) -> tuple[ProjectId, MemoryId]:
    garden = house.project("Garden", "private")
    house.session("a", project=garden, user="ann")
    house.tell("a", "I live in Rome.")
    return garden, house.stored("a")[0].memory.id


def change(house: MemorySetup, memory: MemoryId, **fields: object) -> None:
    given = MemoryChange(given=frozenset(fields), **fields)  # pyright: ignore[reportArgumentType]
    house.services.corrections.correct(house.reach, memory, given, by=None)


Withdraw = Callable[[MemorySetup, MemoryId], object]
WAYS: dict[str, Withdraw] = {
    "retracted": lambda house, memory: house.services.corrections.retract(house.reach, memory, by=None),
    "corrected": lambda house, memory: change(house, memory, content="The user lives in Milan."),
    "expired": lambda house, memory: change(house, memory, expires_at=house.clock.moment + HOUR),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_note_is_not_shown_while_its_memory_is_withdrawn(house: MemorySetup, way: str) -> None:
    """MEM-13: and shown again when that is undone."""
    garden, memory = stated(house)
    assert shown(house, garden) == [True] * 5
    WAYS[way](house, memory)
    house.clock.moment += 2 * HOUR
    assert shown(house, garden) == [False] * 5
    house.services.corrections.restore(house.reach, memory, by=None)
    assert shown(house, garden) == [True] * 5


def test_a_note_is_not_shown_while_another_fact_is_true(house: MemorySetup) -> None:
    """MEM-12: another user's note of the same words stays."""
    garden, _ = stated(house)
    house.session("b", project=garden, user="bob")
    house.tell("b", "I live in Rome.")
    house.tell("a", "I moved to Oslo.")
    assert shown(house, garden) == [False] * 5
    of_bob = house.services.entities.page(house.reach, garden, user_id="bob", limit=9)
    assert [entity.notes for entity in of_bob] == [ROME]


def test_forgetting_a_memory_removes_its_sentence_from_the_notes(house: MemorySetup, engine: Engine) -> None:
    """MEM-13, ORG-9: also from the database; other sentences stay."""
    garden, memory = stated(house)
    house.tell("a", "We often visit Rome in the spring.")
    house.services.memories.forget(house.reach, memory)
    assert shown(house, garden) == [False] * 5
    notes = [row[0] for row in engine.rows("SELECT notes FROM mention")]
    assert ROME not in notes and any("spring" in str(note) for note in notes)


def test_notes_keep_to_what_a_project_does_not_want(house: MemorySetup) -> None:
    """MEM-15: an unwanted category is in no note either."""
    clinic = house.project("Clinic", "private", unwanted_categories=["place"])
    house.session("a", project=clinic, user="ann")
    house.tell("a", "I live in Rome.", "My sister Anna plays the cello.")
    found = house.services.entities.page(house.reach, clinic, user_id="ann", limit=9)
    assert house.memories("a") and ROME not in house.memories("a")
    assert [ROME in entity.notes for entity in found] == [False] * len(found)
