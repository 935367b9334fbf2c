"""Memories that a person or a program adds change what is true as spoken ones do (MEM-12), on both engines."""

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.memory import StoredMemory
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.build_context import ContextRequest
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def add(house: MemorySetup, name: str, *contents: str, **named: object) -> list[StoredMemory]:
    return list(house.services.memories.add(house.reach, name, contents, **named).memories)  # pyright: ignore[reportArgumentType]


def true(house: MemorySetup, name: str) -> list[str]:
    request = ContextRequest(question="Where does the user live?", min_relevance=0)
    found = house.services.context.build(house.reach, name, request)
    return sorted(stored.memory.content for stored in found.derived.memories)


def correct(house: MemorySetup, stored: StoredMemory, content: str) -> None:
    change = MemoryChange(given=frozenset({"content"}), content=content)
    house.services.corrections.correct(house.reach, stored.memory.id, change, by=None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("User lives in Rome.", "User lives in Oslo."),
        ("I live in Rome.", "I live in Oslo."),
        ("Lives in Rome", "Lives in Oslo"),
        ("Ann lives in Rome.", "Ann lives in Oslo."),
        ("The user is vegetarian", "The user is no longer vegetarian"),
    ],
)
def test_mem_12_a_manual_memory_supersedes_the_old_one_in_any_session_of_the_user(
    house: MemorySetup, first: str, second: str
) -> None:
    """MEM-12: both were in the context. When the newer one goes, the older is true again."""
    for name in ("a", "b"):
        house.session(name, user="ann")
    add(house, "a", first)
    (newer,) = add(house, "b", second)
    assert true(house, "a") == true(house, "b") == [second]
    house.services.memories.forget(house.reach, newer.memory.id)
    assert true(house, "a") == [first]


def test_mem_12_manual_and_spoken_facts_supersede_each_other(house: MemorySetup) -> None:
    house.session("a", user="ann")
    house.tell("a", "I live in Rome.")
    add(house, "a", "Lives in Oslo")
    assert true(house, "a") == ["Lives in Oslo"]
    house.tell("a", "I moved to Paris last week.")
    assert true(house, "a") == ["The user moved to Paris last week."]


def test_iso_4_mem_12_nothing_of_another_person_or_pool_is_superseded(house: MemorySetup) -> None:
    """ISO-4, MEM-11: the same words of another user in a shared project, in another project, and of somebody with a name."""
    shared, other = house.project("Shared", "shared"), house.project("Other", "shared")
    for name, project, user in (("a", shared, "ann"), ("b", shared, "bob"), ("c", other, "ann"), ("d", shared, None)):
        house.session(name, project=project, user=user)
        add(house, name, "User lives in Rome.")
    add(house, "a", "User lives in Oslo.")
    assert [stored.status for name in "abcd" for stored in house.stored(name)] == [
        "superseded",
        "active",
        "active",
        "active",
        "active",
    ]
    add(house, "b", "Ann lives in Paris.", "Bob lives in Bergen.")
    assert [stored.status for stored in house.stored("b")] == ["superseded", "active", "active"]
    assert [stored.status for stored in house.stored("a")] == ["superseded", "active"]


def test_mem_11_the_name_of_a_speaker_stands_for_that_speaker(house: MemorySetup) -> None:
    """MEM-11: two people speak in one session; a memory that names one of them changes nothing of the other."""
    house.session("a", user="household")
    for author in ("Rosa", "Tom"):
        draft = Draft(role="user", content="I live in Rome.", author=author)
        house.services.record.messages(house.reach, "a", [draft])
    house.services.extraction.extract_now(house.reach, "a")
    add(house, "a", "Tom lives in Oslo.")
    assert true(house, "a") == ["Rosa lives in Rome.", "Tom lives in Oslo."]


def test_mem_12_what_was_true_earlier_arrives_superseded(house: MemorySetup) -> None:
    """MEM-12: `valid_from` says since when it is true; and an assistant's "I" is not the user."""
    house.session("a", user="ann")
    add(house, "a", "User lives in Oslo.")
    add(house, "a", "User lives in Rome.", valid_from=house.clock.moment - 1_000_000_000)
    add(house, "a", "I live in Paris.", by_assistant=[0])
    assert [stored.status for stored in house.stored("a")] == ["active", "superseded", "active"]


def test_mem_13_a_corrected_text_is_read_as_a_new_one_is(house: MemorySetup) -> None:
    """MEM-12, MEM-13: it supersedes what it makes untrue, in whatever form; undone, it does not."""
    house.session("a", user="ann")
    add(house, "a", "User lives in Rome.")
    (other,) = add(house, "a", "Likes tea")
    correct(house, other, "Lives in Oslo")
    assert true(house, "a") == ["Lives in Oslo"]
    house.services.corrections.restore(house.reach, other.memory.id, by=None)
    assert true(house, "a") == ["Likes tea", "User lives in Rome."]
    (vegetarian,) = add(house, "a", "User is vegetarian.")
    correct(house, other, "No longer vegetarian")
    assert house.services.corrections.get(house.reach, vegetarian.memory.id).status == "active", "it was said later"
    correct(house, vegetarian, "User was a vegetarian as a child")
    assert "User was a vegetarian as a child" in true(house, "a")


@pytest.mark.parametrize("said_by_hand", [False, True])
def test_mem_12_a_change_holds_for_every_session_that_stated_the_old_fact(
    house: MemorySetup, said_by_hand: bool
) -> None:
    """MEM-12: of four copies of one statement two stayed true, because a statement that was known got no subject."""
    for name in ("a", "b", "c", "d", "e"):
        house.session(name, user="ann")
    for name in ("a", "b", "c", "d"):
        if said_by_hand:
            add(house, name, "The user lives in Rome.")
        else:
            house.tell(name, "I live in Rome.")
    house.tell("e", "I moved to Oslo last week.")
    assert {stored.status for name in "abcd" for stored in house.stored(name)} == {"superseded"}
    assert true(house, "a") == ["The user moved to Oslo last week."]


def test_mem_12_a_correction_to_something_else_makes_true_again_what_was_replaced(house: MemorySetup) -> None:
    """MEM-12, MEM-13: also where the extractor named the two as a pair. Undone, all is as before."""
    house.session("a", user="ann")
    for said in ("I live in Rome.", "I moved to Oslo.", "I moved to Paris."):
        house.tell("a", said)
    rome, oslo, paris = house.stored("a")
    correct(house, paris, "The user lives in Bern.")
    assert true(house, "a") == ["The user lives in Bern."]
    correct(house, paris, "The user keeps bees.")
    assert true(house, "a") == ["The user keeps bees.", oslo.memory.content]
    correct(house, oslo, "The user sings.")
    assert true(house, "a") == ["The user keeps bees.", rome.memory.content, "The user sings."]
    for changed, expected in (
        (oslo, ["The user keeps bees.", oslo.memory.content]),
        (paris, ["The user lives in Bern."]),
        (paris, [paris.memory.content]),
    ):
        house.services.corrections.restore(house.reach, changed.memory.id, by=None)
        assert true(house, "a") == expected


def test_mem_12_a_replaced_memory_that_is_corrected_to_something_else_is_true(house: MemorySetup) -> None:
    """MEM-12, MEM-13: it says no longer what was replaced. Corrected to another value it keeps its position in time."""
    house.session("a", user="ann")
    for said in ("I live in Rome.", "I moved to Oslo."):
        house.tell("a", said)
    rome, oslo = house.stored("a")
    correct(house, rome, "The user lives in Turin.")
    assert true(house, "a") == [oslo.memory.content]
    correct(house, rome, "The user keeps bees.")
    assert true(house, "a") == ["The user keeps bees.", oslo.memory.content]
    house.services.corrections.restore(house.reach, rome.memory.id, by=None)
    assert true(house, "a") == [oslo.memory.content]
