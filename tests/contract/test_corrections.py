"""Memories in people's hands (MEM-13): get, correct, pin, expire, retract, undo; every change kept with who and when."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from cloister.domain.errors import Conflict, InvalidRequest, NotFound, TooLarge
from cloister.domain.identifiers import MemoryId
from cloister.domain.memory import StoredMemory
from cloister.domain.recall.assembly import TOKENS_AROUND_A_MESSAGE
from cloister.domain.scope import Reach
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine
from support.setups.facts import DAY, FactSetup, settle_facts
from support.setups.memories import EVERYTHING, HOUR

KEY = "key_0000000000000007"


@pytest.fixture
def house(engine: Engine) -> FactSetup:
    return settle_facts(engine)


def change(house: FactSetup, memory: MemoryId, **fields: object) -> StoredMemory:
    given = MemoryChange(given=frozenset(fields), **fields)  # pyright: ignore[reportArgumentType]
    return house.services.corrections.correct(house.reach, memory, given, by=KEY)


def actions(house: FactSetup, memory: MemoryId) -> list[tuple[str, str | None]]:
    found = house.services.corrections.history(house.reach, memory, limit=EVERYTHING)
    return [(revision.action, revision.changed_by) for revision in found]


def one(house: FactSetup, said: str = "home = The user lives in Rome", name: str = "a") -> MemoryId:
    house.session(name, user="ann" if name == "a" else name)
    house.state(name, said, 1)
    return house.stored(name)[0].memory.id


def test_a_correction_changes_what_is_given_and_nothing_else(house: FactSetup) -> None:
    """MEM-13: the text, and where it came from; its sources, its session and when it was said stay."""
    memory = one(house)
    before = house.services.corrections.get(house.reach, memory)
    after = change(house, memory, content="The  user lives\nin Milan.", importance=0.25)
    expected = replace(before.memory, content="The user lives in Milan.", importance=0.25, source="corrected")
    assert after.memory == expected
    assert house.services.corrections.get(house.reach, memory) == after
    labelled = change(house, memory, categories=["home", "home"], metadata={"a": 1}, importance=None)
    assert (labelled.memory.categories, labelled.memory.metadata) == (("home",), {"a": 1})
    assert labelled.memory.importance is None


def test_a_corrected_text_is_recalled_and_the_old_one_is_not(house: FactSetup) -> None:
    """MEM-13: it is indexed again, in the transaction that changes it."""
    memory = one(house)
    change(house, memory, content="The user keeps bees.")
    assert "bees" in repr(house.searched("bees", SearchTarget(session="a")))
    assert "Rome" not in house.context("a", "Where does the user live?").memory_context
    (hit,) = house.services.search.search(house.reach, "bees", SearchTarget(session="a"), 5, ["memories"])
    assert hit.relevance > 0.5


def test_every_change_is_kept_with_who_when_and_what_was_before(house: FactSetup) -> None:
    """MEM-13: the first entry says how the memory came to be."""
    memory = one(house)
    change(house, memory, content="The user lives in Milan")
    change(house, memory, pinned=True)
    house.services.corrections.retract(house.reach, memory, by=None)
    created, corrected, pinned, retracted = house.services.corrections.history(house.reach, memory, limit=EVERYTHING)
    assert (created.action, created.changed_by, created.before) == ("create", "extraction", None)
    assert (corrected.action, corrected.changed_by) == ("correct", KEY)
    assert corrected.before is not None and corrected.before.content == "The user lives in Rome"
    assert pinned.before is not None and (pinned.before.content, pinned.before.pinned) == (
        "The user lives in Milan",
        False,
    )
    assert (retracted.action, retracted.changed_by) == ("retract", None)
    assert created.changed_at < corrected.changed_at < pinned.changed_at < retracted.changed_at
    first = house.services.corrections.history(house.reach, memory, limit=2)
    rest = house.services.corrections.history(house.reach, memory, limit=9, after=(first[-1].changed_at, first[-1].id))
    assert [*first, *rest] == [created, corrected, pinned, retracted]


def test_a_change_that_changes_nothing_is_no_revision(house: FactSetup) -> None:
    """MEM-13."""
    memory = one(house)
    change(house, memory, content="The user lives in Rome", pinned=False)
    house.services.corrections.retract(house.reach, memory, by=KEY)
    house.services.corrections.retract(house.reach, memory, by=KEY)
    assert actions(house, memory) == [("create", "extraction"), ("retract", KEY)]


def test_the_last_change_can_be_undone_within_a_day(house: FactSetup) -> None:
    """MEM-13: step by step; later, or without a change, it is a conflict that says why."""
    memory = one(house)
    corrections = house.services.corrections
    with pytest.raises(Conflict, match="no change"):
        corrections.restore(house.reach, memory, by=KEY)
    before = corrections.get(house.reach, memory)
    change(house, memory, content="The user keeps bees.")
    corrections.retract(house.reach, memory, by=KEY)
    assert house.true("a") == set()
    assert corrections.restore(house.reach, memory, by=KEY).status == "active"
    assert house.true("a") == {"bees."}
    assert corrections.restore(house.reach, memory, by=KEY) == before
    assert house.true("a", "Where does the user live?") == {"Rome"}
    with pytest.raises(Conflict, match="no change"):
        corrections.restore(house.reach, memory, by=KEY)
    assert [action for action, _ in actions(house, memory)] == ["create", "correct", "retract", "restore", "restore"]
    change(house, memory, pinned=True)
    house.clock.moment += DAY
    with pytest.raises(Conflict, match="more than a day"):
        corrections.restore(house.reach, memory, by=KEY)
    assert corrections.get(house.reach, memory).memory.pinned


def test_no_extraction_supersedes_what_a_person_corrected_or_pinned(house: FactSetup) -> None:
    """MEM-13: only a person's own memory does. Unpinned, it is what everybody said last."""
    for name, fields in (("a", {"content": "The user lives in Milan"}), ("b", {"pinned": True})):
        memory = one(house, name=name)
        change(house, memory, **fields)
        house.state(name, "home = The user lives in Oslo", 5)
        assert {stored.status for stored in house.stored(name)} == {"active"}
        house.state(name, "home = The user lives in Paris", 6)
        assert house.services.corrections.get(house.reach, memory).status == "active"
        assert house.memory(name, "The user lives in Oslo").status == "superseded"
    house.session("c", user="cay")
    house.state("c", "The cat is called Tom", 1)
    change(house, house.stored("c")[0].memory.id, pinned=True)
    house.state("c", "The cat is called Mia << The cat is called Tom", 2)
    assert house.statuses("c") == {"Tom": "active", "Mia": "active"}
    change(house, house.memory("c", "The cat is called Tom").memory.id, pinned=False)
    assert house.statuses("c") == {"Tom": "superseded", "Mia": "active"}


def test_no_extraction_brings_back_what_a_person_retracted_or_corrected(house: FactSetup) -> None:
    """MEM-13: not in the session itself, and not in another one of the same person; another person may say it."""
    rome = one(house)
    house.session("b", user="ann")
    house.session("c", user="bob")
    house.state("a", "The user has a Cat", 1)
    cat = house.memory("a", "The user has a Cat").memory.id
    house.services.corrections.retract(house.reach, cat, by=KEY)
    change(house, rome, content="The user lives in Milan")
    for at, name in enumerate(("a", "b", "c"), 3):
        house.state(name, "The user has a CAT!", at)
        house.state(name, "home = The user lives in Rome", at)
    assert house.memories("a") == ["The user lives in Milan", "The user has a Cat"]
    assert house.memories("b") == []
    assert house.memories("c") == ["The user has a CAT!", "The user lives in Rome"]
    house.services.corrections.restore(house.reach, rome, by=KEY)
    house.state("b", "home = The user lives in Rome", 9)
    assert house.memories("b") == ["The user lives in Rome"]


def test_a_person_can_add_again_what_was_retracted(house: FactSetup) -> None:
    """MEM-13: a person decides."""
    memory = one(house)
    house.services.corrections.retract(house.reach, memory, by=KEY)
    added = house.services.memories.add(house.reach, "a", ["The user lives in Rome"])
    assert (len(added.memories), added.duplicates) == (1, 0)
    assert [stored.status for stored in house.stored("a")] == ["retracted", "active"]
    assert house.services.memories.add(house.reach, "a", ["The user lives in Rome"]).duplicates == 1


def test_pinned_memories_are_first_in_every_context_of_their_pool_and_in_no_other(house: FactSetup) -> None:
    """MEM-13, ISO-4: whatever is asked, also small talk and nothing; within half of a budget."""
    memory = one(house, "The user is allergic to nuts")
    house.state("a", "The user likes the sea", 2)
    house.session("b", user="bob")
    change(house, memory, pinned=True)
    for question in ("What does the user think of the sea?", "Thanks!", "qqq zzz", None):
        request = ContextRequest(question=question)
        found = house.services.context.build(house.reach, "a", request)
        assert found.derived.memories[0].memory.id == memory
        assert "allergic" in found.memory_context
        assert "allergic" not in house.services.context.build(house.reach, "b", request).memory_context
    tokens = len("The user is allergic to nuts") // 4 + TOKENS_AROUND_A_MESSAGE
    for budget, is_there in ((2 * tokens, True), (2 * tokens - 2, False)):
        found = house.services.context.build(house.reach, "a", ContextRequest(question="sea", budget=budget))
        assert ("allergic" in found.memory_context) is is_there
        assert found.tokens <= budget
    house.services.corrections.retract(house.reach, memory, by=KEY)
    assert "allergic" not in house.context("a", "nuts").memory_context


def test_a_context_has_at_most_twenty_pinned_memories(house: FactSetup) -> None:
    """MEM-13: pinning is bounded."""
    house.session("a", user="ann")
    added = house.services.memories.add(house.reach, "a", [f"Rule number {n}" for n in range(30)])
    for stored in added.memories:
        change(house, stored.memory.id, pinned=True)
    found = house.services.context.build(house.reach, "a", ContextRequest(question="Hello"))
    assert [stored.memory.content for stored in found.derived.memories] == [f"Rule number {n}" for n in range(20)]


def test_a_memory_expires_by_time_alone(house: FactSetup) -> None:
    """MEM-13: without a write, so that no cache hides it; and it can be asked for as of a moment before."""
    memory = one(house)
    at = house.clock.moment + HOUR
    change(house, memory, expires_at=at)
    assert house.true("a") == {"Rome"}
    house.clock.moment += 2 * HOUR
    assert house.true("a") == set()
    assert house.true("a", "Where did the user live before?") == set()
    assert house.stored("a")[0].status == "expired"
    assert house.true("a", as_of=999) == {"Rome"}
    house.state("a", "home = The user lives in Rome", 2)
    assert house.stored("a")[0].status == "expired"
    change(house, memory, expires_at=None)
    assert house.true("a") == {"Rome"}


def test_a_list_can_be_of_one_status(house: FactSetup) -> None:
    """MEM-12, MEM-13: all are listed, with their status, unless one is asked for."""
    memory = one(house)
    house.state("a", "home = The user lives in Oslo", 2)
    house.services.memories.add(house.reach, "a", ["Has a cat", "Has a dog"])
    change(house, house.memory("a", "Has a cat").memory.id, expires_at=house.clock.moment + HOUR)
    house.services.corrections.retract(house.reach, house.memory("a", "Has a dog").memory.id, by=None)
    house.clock.moment += 2 * HOUR
    expected = {"superseded": "Rome", "active": "Oslo", "expired": "cat", "retracted": "dog"}
    memories, reach = house.services.memories, house.reach
    for status, word in expected.items():
        for found in (
            memories.of_session(reach, "a", limit=9, status=status),  # pyright: ignore[reportArgumentType]
            memories.of_user(reach, "ann", limit=9, status=status),  # pyright: ignore[reportArgumentType]
        ):
            assert [(stored.status, stored.memory.content.split()[-1]) for stored in found] == [(status, word)]
    assert {stored.status for stored in house.stored("a")} == set(expected)
    assert house.services.corrections.get(reach, memory).status == "superseded"


def test_quotations_of_a_corrected_or_retracted_memory_go(house: FactSetup) -> None:
    """MEM-13: as if the old text were forgotten."""
    for name in ("corrected", "retracted"):
        memory = one(house, name=name)
        quoted = house.context(name, "Where does the user live?").memory_context
        house.say_reply(name, "Where?", f"You said:\n{quoted}")
        if name == "corrected":
            change(house, memory, content="The user keeps bees")
        else:
            house.services.corrections.retract(house.reach, memory, by=KEY)
        _, said = house.services.sessions.messages(house.reach, name, limit=EVERYTHING)
        assert "Rome" not in said[-1].content


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, InvalidRequest),
        ({"content": ""}, InvalidRequest),
        ({"content": None}, InvalidRequest),
        ({"content": "x" * 2_001}, TooLarge),
        ({"importance": 1.5}, InvalidRequest),
        ({"expires_at": 1}, InvalidRequest),
        ({"pinned": None}, InvalidRequest),
        ({"categories": ["x"] * 99}, TooLarge),
        ({"categories": [""]}, InvalidRequest),
        ({"metadata": {"x": "y" * 20_000}}, TooLarge),
    ],
)
def test_a_bad_change_changes_nothing(house: FactSetup, fields: dict[str, object], error: type[Exception]) -> None:
    """MEM-13."""
    memory = one(house)
    before = house.services.corrections.get(house.reach, memory)
    with pytest.raises(error):
        change(house, memory, **fields)
    assert house.services.corrections.get(house.reach, memory) == before
    assert actions(house, memory) == [("create", "extraction")]


def test_a_text_that_the_session_has_already_is_a_conflict(house: FactSetup) -> None:
    """MEM-2, MEM-13: no session has the same memory twice."""
    memory = one(house)
    house.services.memories.add(house.reach, "a", ["The user keeps bees."])
    with pytest.raises(Conflict, match="another memory"):
        change(house, memory, content="the user keeps bees")
    change(house, memory, content="The user lives in Rome!")


Act = Callable[[FactSetup, Reach, MemoryId], object]
ACTS: dict[str, Act] = {
    "get": lambda house, reach, memory: house.services.corrections.get(reach, memory),
    "correct": lambda house, reach, memory: house.services.corrections.correct(
        reach, memory, MemoryChange(given=frozenset({"pinned"}), pinned=True), by=KEY
    ),
    "retract": lambda house, reach, memory: house.services.corrections.retract(reach, memory, by=KEY),
    "restore": lambda house, reach, memory: house.services.corrections.restore(reach, memory, by=KEY),
    "history": lambda house, reach, memory: house.services.corrections.history(reach, memory, limit=9),
}


@pytest.mark.parametrize("name", ACTS)
def test_nobody_reaches_a_memory_outside_their_reach(house: FactSetup, engine: Engine, name: str) -> None:
    """MEM-13, ISO-4, ORG-4, ORG-10: another tenant, a key confined to another project, a key bound to another user: not found, as
    an id that never was, and nothing is changed."""
    garden, cellar = house.project("Garden", "shared"), house.project("Cellar", "shared")
    house.session("a", project=garden, user="ann")
    house.state("a", "The user lives in Rome", 1)
    memory = house.stored("a")[0].memory.id
    change(house, memory, importance=0.5)
    before, revisions = house.stored("a"), actions(house, memory)
    other = settle_facts(engine)
    tenant = house.reach.tenant
    for reach in (
        other.reach,
        Reach(tenant=tenant, confined_to=cellar),
        Reach(tenant=tenant, user="bob"),
        Reach(tenant=tenant, confined_to=garden, user="bob"),
    ):
        with pytest.raises(NotFound) as foreign:
            ACTS[name](house, reach, memory)
        with pytest.raises(NotFound) as missing:
            ACTS[name](house, reach, MemoryId(memory + 2))
        assert str(foreign.value).replace(f"{memory:016x}", "") == str(missing.value).replace(f"{memory + 2:016x}", "")
    assert (house.stored("a"), actions(house, memory)) == (before, revisions)
    for reach in (Reach(tenant=tenant, confined_to=garden), Reach(tenant=tenant, user="ann")):
        ACTS["get"](house, reach, memory)


def test_revisions_go_with_their_memory(house: FactSetup, engine: Engine) -> None:
    """MEM-13, ORG-9: they have the old text. With a message, a memory, a session or a user."""
    for way in ("message", "memory", "clear", "session", "user"):
        house.session(way, user="ann")
        message = house.state(way, "home = The user lives in Rome", 1)
        memory = house.stored(way)[0].memory.id
        change(house, memory, content="The user keeps bees")
        if way == "message":
            house.services.forgetting.message(house.reach, message)
        elif way == "memory":
            house.services.memories.forget(house.reach, memory)
        elif way == "clear":
            house.services.forgetting.contents(house.reach, way)
        elif way == "session":
            house.services.forgetting.session(house.reach, way)
        else:
            house.services.erase_user.erase(house.reach, "ann")
        assert engine.rows("SELECT before FROM memory_revision") == []


def test_the_subject_of_a_memory_follows_its_text(house: FactSetup) -> None:
    """MEM-12, MEM-13: a correction to something else makes true again what the memory superseded; undone, it is as before. A
    subject that only a model could give stays."""
    house.session("a", user="ann")
    house.state("a", "home = The user lives in Rome.", 1)
    house.state("a", "home = The user lives in Oslo.", 2)
    oslo = house.memory("a", "The user lives in Oslo.").memory.id
    change(house, oslo, content="The user lives in Bern.")
    assert house.statuses("a") == {"Rome.": "superseded", "Bern.": "active"}
    change(house, oslo, content="The user keeps bees.")
    assert house.statuses("a") == {"Rome.": "active", "bees.": "active"}
    house.services.corrections.restore(house.reach, oslo, by=KEY)
    assert house.statuses("a") == {"Rome.": "superseded", "Bern.": "active"}
    house.session("b", user="bob")
    house.state("b", "boat = Das Boot heißt Anna", 1)
    house.state("b", "boat = Das Boot heißt Berta", 2)
    change(house, house.memory("b", "Das Boot heißt Berta").memory.id, content="Das Boot heißt Clara")
    assert house.statuses("b") == {"Anna": "superseded", "Clara": "active"}


def test_a_pair_that_a_correction_ended_is_not_carried_on(house: FactSetup) -> None:
    """MEM-12, MEM-13: what replaces the corrected fact does not replace what that had replaced when it said something else."""
    house.session("a", user="ann")
    house.state("a", "home = The user lives in Rome.", 1)
    house.state("a", "home = The user moved to Oslo. << The user lives in Rome.", 2)
    change(house, house.memory("a", "The user moved to Oslo.").memory.id, content="The user keeps bees.")
    assert house.statuses("a") == {"Rome.": "active", "bees.": "active"}
    house.state("a", "The user keeps wasps. << The user keeps bees.", 3)
    assert house.statuses("a") == {"Rome.": "active", "bees.": "active", "wasps.": "active"}
    house.move("a", house.project())  # all is worked out again
    assert house.statuses("a") == {"Rome.": "active", "bees.": "active", "wasps.": "active"}
