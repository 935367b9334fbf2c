"""What a person does to a memory holds for its copies: the same statement of the same person in the same pool (MEM-13, 046)."""

import pytest

from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MemoryId
from cloister.domain.scope import Reach
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine
from support.setups.facts import FactSetup, settle_facts
from support.setups.memories import HOUR, settle_house

KEY = "key_0000000000000007"
NUTS = "The user is allergic to nuts"
ROME = "home = The user lives in Rome"


@pytest.fixture
def house(engine: Engine) -> FactSetup:
    return settle_facts(engine)


def change(house: FactSetup, memory: MemoryId, **fields: object) -> None:
    given = MemoryChange(given=frozenset(fields), **fields)  # pyright: ignore[reportArgumentType]
    house.services.corrections.correct(house.reach, memory, given, by=KEY)


def said_in_two_sessions(house: FactSetup, said: str) -> MemoryId:
    """By Ann in `a` and `b` of one project, by Bob there, and by Ann in another project; gives the memory of `b`."""
    garden, cellar = house.project("Garden", "private"), house.project("Cellar", "private")
    for name, project, user in (("a", garden, "ann"), ("b", garden, "ann"), ("c", garden, "bob"), ("d", cellar, "ann")):
        house.session(name, project=project, user=user)
        house.state(name, said, 1)
    return house.stored("b")[0].memory.id


def test_a_retraction_holds_for_all_copies_and_is_undone_with_them(house: FactSetup) -> None:
    """MEM-13, ISO-4: not for another person's, and not for another pool's. A session that moves takes its copy as it is."""
    memory = said_in_two_sessions(house, NUTS)
    house.services.corrections.retract(Reach(tenant=house.reach.tenant, user="ann"), memory, by=KEY)
    assert [house.statuses(name)["nuts"] for name in "abcd"] == ["retracted", "retracted", "active", "active"]
    assert house.true("a") == house.true("b") == set()
    listed = house.services.memories.of_user(house.reach, "ann", limit=9)
    assert sorted(stored.status for stored in listed) == ["active", "retracted"]
    house.services.corrections.restore(house.reach, house.stored("a")[0].memory.id, by=KEY)
    assert house.true("a") == house.true("b") == {"nuts"}
    assert [revision.action for revision in house.services.corrections.history(house.reach, memory, limit=9)] == [
        "create",
        "retract",
        "restore",
    ]
    house.services.corrections.retract(house.reach, memory, by=KEY)
    house.move("a", None)
    house.services.corrections.restore(house.reach, memory, by=KEY)
    assert [house.statuses(name)["nuts"] for name in "ab"] == ["retracted", "active"]


def test_a_correction_holds_for_all_copies_and_is_undone_with_them(house: FactSetup) -> None:
    """MEM-13: a copy in a session that already says the new text is retracted instead: no session has a memory twice (MEM-2)."""
    memory = said_in_two_sessions(house, ROME)
    house.services.memories.add(house.reach, "a", ["The user lives in Bern"])
    house.services.memories.forget(house.reach, house.memory("a", "The user lives in Bern").memory.id)
    change(house, memory, content="The user lives in Milan")
    assert [house.statuses(name) for name in "abcd"] == [{"Milan": "active"}] * 2 + [{"Rome": "active"}] * 2
    change(house, memory, pinned=True)
    assert [stored.memory.pinned for name in "abc" for stored in house.stored(name)] == [True, True, False]
    for _ in range(2):
        house.services.corrections.restore(house.reach, memory, by=KEY)
    assert [house.statuses(name) for name in "ab"] == [{"Rome": "active"}] * 2
    house.state("a", "The user keeps bees", 2)
    change(house, memory, content="The user keeps bees")
    assert (house.statuses("a"), house.statuses("b")) == ({"Rome": "retracted", "bees": "active"}, {"bees": "active"})
    house.services.corrections.restore(house.reach, memory, by=KEY)
    assert house.statuses("a") == {"Rome": "active", "bees": "active"}


def test_forgetting_removes_all_copies(house: FactSetup) -> None:
    """MEM-13, ORG-9."""
    memory = said_in_two_sessions(house, NUTS)
    house.services.memories.forget(house.reach, memory)
    assert [len(house.stored(name)) for name in "abcd"] == [0, 0, 1, 1]
    with pytest.raises(NotFound):
        house.services.corrections.get(house.reach, memory)


def test_sessions_without_a_user_are_people_of_their_own(house: FactSetup) -> None:
    """MEM-13: as for what supersedes what."""
    for name in "ab":
        house.session(name)
        house.state(name, NUTS, 1)
    house.services.corrections.retract(house.reach, house.stored("a")[0].memory.id, by=KEY)
    assert [house.statuses(name)["nuts"] for name in "ab"] == ["retracted", "active"]


def test_a_superseded_memory_that_is_corrected_or_pinned_stays_superseded(house: FactSetup) -> None:
    """MEM-12, MEM-13: in its position in time. What was protected before the newer fact came stays active."""
    house.session("a", user="ann")
    house.state("a", ROME, 1)
    house.state("a", "home = The user lives in Oslo", 2)
    rome = house.memory("a", "The user lives in Rome").memory.id
    change(house, rome, pinned=True)
    assert house.statuses("a") == {"Rome": "superseded", "Oslo": "active"}
    change(house, rome, content="The user lives in Turin")
    assert house.statuses("a") == {"Turin": "superseded", "Oslo": "active"}
    assert house.true("a", as_of=1) == {"Turin"}
    for _ in range(2):
        house.services.corrections.restore(house.reach, rome, by=KEY)
        assert house.statuses("a") == {"Rome": "superseded", "Oslo": "active"}
    change(house, rome, content="The user lives in Turin.")
    assert house.statuses("a") == {"Turin.": "superseded", "Oslo": "active"}
    house.session("b", user="bob")
    house.state("b", ROME, 1)
    change(house, house.stored("b")[0].memory.id, content="The user lives in Milan")
    house.state("b", "home = The user lives in Oslo", 2)
    change(house, house.memory("b", "The user lives in Milan").memory.id, pinned=True)
    assert house.statuses("b") == {"Milan": "active", "Oslo": "active"}


def test_what_is_said_again_after_it_expired_is_learned_again(house: FactSetup) -> None:
    """MEM-13: what was said before the expiry, or was retracted, is not."""
    house.session("a", user="ann")
    house.state("a", NUTS, 1)
    memory = house.stored("a")[0].memory.id
    change(house, memory, expires_at=house.clock.moment + HOUR)
    house.clock.moment += 2 * HOUR
    house.state("a", NUTS, 2)
    assert [stored.status for stored in house.stored("a")] == ["expired"]
    house.tell("a", NUTS)
    assert [stored.status for stored in house.stored("a")] == ["expired", "active"]
    house.services.corrections.retract(house.reach, house.stored("a")[1].memory.id, by=KEY)
    house.tell("a", NUTS)
    assert [stored.status for stored in house.stored("a")] == ["expired", "retracted"]


def test_a_corrected_memory_is_found_by_the_questions_that_found_it_before(engine: Engine) -> None:
    """MEM-12, MEM-13: the words of its subject are indexed with the corrected text too."""
    house = settle_house(engine)
    house.session("a", user="ann")
    house.tell("a", "I work at Google.")
    (memory,) = house.stored("a")
    given = MemoryChange(given=frozenset({"content"}), content="The user works at Apple.")
    house.services.corrections.correct(house.reach, memory.memory.id, given, by=KEY)
    (hit,) = house.services.search.search(
        house.reach, "Who is my employer?", SearchTarget(session="a"), 5, ["memories"]
    )
    assert hit.relevance > 0.5
