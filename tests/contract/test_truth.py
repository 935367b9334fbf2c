"""Truth in time (MEM-12): a new fact takes the place of the old one of the same person and pool, in the order they were said."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from cloister.domain.memory import StoredMemory
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.search import MemoryHit, SearchTarget
from support.databases.engines import Engine
from support.setups.facts import DAY, START, FactSetup, settle_facts
from support.setups.memories import settle_house

ROME, OSLO, PARIS = (f"home = The user lives in {city}" for city in ("Rome", "Oslo", "Paris"))


@pytest.fixture
def house(engine: Engine) -> FactSetup:
    return settle_facts(engine)


def test_a_new_fact_supersedes_the_old_one_of_the_same_subject(house: FactSetup) -> None:
    """MEM-12: the old one has an end, which is when the new one was said, and names its successor."""
    house.session("a", user="ann")
    house.state("a", ROME, 1)
    house.state("a", OSLO, 5)
    rome, oslo = (house.memory("a", f"The user lives in {city}") for city in ("Rome", "Oslo"))
    assert (rome.status, rome.memory.valid_from, rome.memory.valid_until) == (
        "superseded",
        START + DAY,
        START + 5 * DAY,
    )
    assert rome.memory.superseded_by == oslo.memory.id
    assert (oslo.status, oslo.memory.valid_from, oslo.memory.valid_until) == ("active", START + 5 * DAY, None)
    assert house.true("a") == {"Oslo"}


def test_a_memory_is_as_old_as_what_was_said_and_not_as_its_extraction(house: FactSetup) -> None:
    """MEM-12: a fact that is imported later does not supersede a newer one, and arrives already superseded."""
    house.session("a", user="ann")
    house.state("a", OSLO, 5)
    house.state("a", ROME, 1)
    assert house.statuses("a") == {"Oslo": "active", "Rome": "superseded"}
    house.state("a", PARIS, 3)
    assert house.memory("a", "The user lives in Rome").memory.valid_until == START + 3 * DAY
    assert house.true("a") == {"Oslo"}


def test_a_model_names_what_a_memory_replaces(house: FactSetup) -> None:
    """MEM-12: without a subject, by the ids of known memories."""
    house.session("a", user="ann")
    house.state("a", "The cat is called Tom", 1)
    house.state("a", "The dog is called Rex", 1)
    house.state("a", "The cat is called Mia << The cat is called Tom", 2)
    assert house.statuses("a") == {"Tom": "superseded", "Rex": "active", "Mia": "active"}


def test_the_extractor_is_shown_what_is_true_now(house: FactSetup) -> None:
    """MEM-12."""
    house.session("a", user="ann")
    for at, said in enumerate((ROME, OSLO, "The dog is called Rex")):
        house.state("a", said, at)
    house.state("a", "Hello", 9)
    shown = {(one.content.split()[-1], one.subject, one.valid_from) for one in house.extractor.shown}
    assert shown == {("Oslo", "home", START + DAY), ("Rex", None, START + 2 * DAY)}


@pytest.mark.parametrize("by_model", [False, True])
def test_in_a_chain_whichever_fact_goes_the_right_one_is_true(house: FactSetup, by_model: bool) -> None:
    """MEM-12: when the newest goes the one before is true again; when the middle one goes the first stays superseded."""

    def chain(name: str) -> list[int]:
        house.session(name, user=name)
        if by_model:
            said = ("Lives in Rome", "Lives in Oslo << Lives in Rome", "Lives in Paris << Lives in Oslo")
        else:
            said = (ROME, OSLO, PARIS)
        return [house.state(name, one, at) for at, one in enumerate(said)]

    for name, gone, left in (
        ("a", 2, {"Rome": "superseded", "Oslo": "active"}),
        ("b", 1, {"Rome": "superseded", "Paris": "active"}),
        ("c", 0, {"Oslo": "superseded", "Paris": "active"}),
    ):
        messages = chain(name)
        house.services.forgetting.message(house.reach, messages[gone])  # pyright: ignore[reportArgumentType]
        assert house.statuses(name) == left
        assert house.true(name) == {word for word, status in left.items() if status == "active"}
        for stored in house.stored(name):
            assert (stored.memory.superseded_by is None) == (stored.memory.valid_until is None)


def test_what_was_superseded_is_true_again_however_the_newer_fact_goes(house: FactSetup) -> None:
    """MEM-12: its message, the memory itself, its session's contents or its session."""
    services, reach = house.services, house.reach
    for way in ("message", "memory", "clear", "session", "retract"):
        old, new = f"{way}-old", f"{way}-new"
        house.session(old, user=way)
        house.session(new, user=way)
        house.state(old, ROME, 1)
        message = house.state(new, OSLO, 2)
        memory = house.memory(new, "The user lives in Oslo").memory.id
        assert house.statuses(old) == {"Rome": "superseded"}
        assert house.true(old) == {"Oslo"}
        if way == "message":
            services.forgetting.message(reach, message)
        elif way == "memory":
            services.memories.forget(reach, memory)
        elif way == "clear":
            services.forgetting.contents(reach, new)
        elif way == "session":
            services.forgetting.session(reach, new)
        else:
            services.corrections.retract(reach, memory, by=None)
        assert house.statuses(old) == {"Rome": "active"}
        assert house.true(old) == {"Rome"}


def test_what_is_said_again_after_something_else_was_true_is_true_again(house: FactSetup) -> None:
    """MEM-12: Rome, Oslo, and back to Rome, in one session, where a statement is stored once (MEM-2)."""
    house.session("a", user="ann")
    for at, said in enumerate((ROME, OSLO, ROME)):
        house.state("a", said, at)
    assert [stored.status for stored in house.stored("a")] == ["superseded", "superseded", "active"]
    assert house.true("a") == {"Rome"}
    assert house.true("a", as_of=1) == {"Oslo"}
    house.state("a", ROME, 7)
    assert len(house.stored("a")) == 3
    house.services.memories.forget(house.reach, house.memory("a", "The user lives in Oslo").memory.id)
    assert [stored.status for stored in house.stored("a")] == ["superseded", "active"]


def test_facts_of_other_people_and_other_pools_are_untouched(house: FactSetup) -> None:
    """MEM-12, ISO-4, ISO-10: nobody's fact supersedes that of another person, not even in a shared project, and none in another
    pool. Sessions without a user may be of different people."""
    garden, cellar = house.project("Garden", "shared"), house.project("Cellar", "shared")
    for name, project, user in (
        ("ann", garden, "ann"),
        ("bob", garden, "bob"),
        ("one", garden, None),
        ("two", garden, None),
        ("elsewhere", cellar, "ann"),
        ("nowhere", None, "ann"),
    ):
        house.session(name, project=project, user=user)
        house.state(name, f"home = The user lives in {name}", 1)
    house.state("ann", OSLO, 2)
    house.state("two", PARIS, 2)
    for name in ("bob", "one", "elsewhere", "nowhere"):
        assert house.statuses(name) == {name: "active"}
    assert house.statuses("ann") == {"ann": "superseded", "Oslo": "active"}
    assert house.statuses("two") == {"two": "superseded", "Paris": "active"}


def test_ids_that_the_model_makes_up_or_takes_from_elsewhere_are_ignored(house: FactSetup) -> None:
    """MEM-12: what a model answers may be hostile. It cannot supersede what it was not shown."""
    garden = house.project("Garden", "shared")
    foreign: list[StoredMemory] = []
    for name, project, user in (("bob", garden, "bob"), ("elsewhere", None, "ann")):
        house.session(name, project=project, user=user)
        house.state(name, f"The user has a {name}", 1)
        foreign += house.stored(name)
    house.session("ann", project=garden, user="ann")
    house.extractor.named = (*(stored.memory.id for stored in foreign), 1, 2**62)  # pyright: ignore[reportAttributeAccessIssue]
    house.state("ann", "The user lives alone", 9)
    assert [house.statuses(name) for name in ("bob", "elsewhere")] == [{"bob": "active"}, {"elsewhere": "active"}]
    assert all(stored.memory.superseded_by is None for name in ("bob", "elsewhere") for stored in house.stored(name))


@pytest.mark.parametrize("by_model", [False, True])
def test_a_session_that_moves_takes_its_facts_along(house: FactSetup, by_model: bool) -> None:
    """MEM-12, ISO-5: in the pool it left the older fact is true again, and in the pool it enters its own takes its place in time;
    when it comes back all is as it was."""
    garden = house.project("Garden", "private")
    for name in ("old", "new"):
        house.session(name, user="ann")
    house.session("there", project=garden, user="ann")
    house.state("old", "Lives in Rome" if by_model else ROME, 1)
    house.state("there", "home = The user lives in Bern", 2)
    house.state("new", "Lives in Oslo << Lives in Rome" if by_model else OSLO, 3)
    assert house.statuses("old", "new", "there") == {"Rome": "superseded", "Oslo": "active", "Bern": "active"}
    house.move("new", garden)
    there = "active" if by_model else "superseded"
    assert house.statuses("old", "new", "there") == {"Rome": "active", "Oslo": "active", "Bern": there}
    assert house.true("old") == {"Rome"}
    assert house.true("there") == ({"Oslo", "Bern"} if by_model else {"Oslo"})
    house.move("new", None)
    assert house.statuses("old", "new", "there") == {"Rome": "superseded", "Oslo": "active", "Bern": "active"}


def test_a_project_that_is_divided_and_shared_again_keeps_what_is_true(house: FactSetup) -> None:
    """MEM-12, ISO-10: a person's facts stay together, whoever sees them."""
    garden = house.project("Garden", "shared")
    for name, user in (("a1", "ann"), ("a2", "ann"), ("b", "bob"), ("x", None)):
        house.session(name, project=garden, user=user)
    house.state("a1", ROME, 1)
    house.state("a2", OSLO, 2)
    house.state("b", "home = The user lives in Bern", 1)
    house.state("x", "home = The user lives in Linz", 1)
    before = house.statuses("a1", "a2", "b", "x")
    assert before == {"Rome": "superseded", "Oslo": "active", "Bern": "active", "Linz": "active"}
    for visibility in ("private", "shared"):
        house.services.projects.change_project(house.reach, garden, member_visibility=visibility)
        assert house.statuses("a1", "a2", "b", "x") == before
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    house.move("a2", None)
    assert house.statuses("a1", "a2") == {"Rome": "active", "Oslo": "active"}
    house.services.projects.change_project(house.reach, garden, member_visibility="shared")
    house.move("a2", garden)
    assert house.statuses("a1", "a2") == {"Rome": "superseded", "Oslo": "active"}


def test_a_deleted_project_leaves_its_facts_in_their_order(house: FactSetup) -> None:
    """MEM-12, ORG-5: its sessions go to the shared pool, and their facts meet those that are there."""
    garden = house.project("Garden", "private")
    house.session("in", project=garden, user="ann")
    house.session("out", user="ann")
    house.state("in", ROME, 1)
    house.state("out", OSLO, 2)
    assert house.statuses("in", "out") == {"Rome": "active", "Oslo": "active"}
    house.services.projects.delete_project(house.reach, garden)
    assert house.statuses("in", "out") == {"Rome": "superseded", "Oslo": "active"}


def test_nothing_points_at_a_memory_that_is_gone(house: FactSetup, engine: Engine) -> None:
    """MEM-12, ORG-9: erasing a user leaves no trace of their facts, and those of others as they were."""
    garden = house.project("Garden", "shared")
    for name, user in (("a1", "ann"), ("a2", "ann"), ("b", "bob")):
        house.session(name, project=garden, user=user)
        house.state(name, ROME, 1)
        house.state(name, OSLO, 2)
    house.state("a1", "The cat is called Tom", 3)
    house.state("a2", "The cat is called Mia << The cat is called Tom", 4)
    house.services.erase_user.erase(house.reach, "ann")
    dangling = (
        "SELECT count(*) FROM memory AS m WHERE m.superseded_by IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM memory AS n WHERE n.tenant_id = m.tenant_id AND n.memory_id = m.superseded_by)"
    )
    assert engine.rows(dangling) == [(0,)]
    assert engine.rows("SELECT count(*) FROM memory_replacement") == [(0,)]
    assert house.statuses("b") == {"Rome": "superseded", "Oslo": "active"}


def test_as_of_asks_for_what_was_true_then(house: FactSetup) -> None:
    """MEM-12: from when a fact was said until its successor was; not before it, and never what was retracted."""
    house.session("a", user="ann")
    for at, said in ((10, ROME), (20, OSLO), (30, PARIS)):
        house.state("a", said, at)
    assert [house.true("a", as_of=at) for at in (5, 10, 19, 20, 29, 30, 900)] == [
        set(),
        {"Rome"},
        {"Rome"},
        {"Oslo"},
        {"Oslo"},
        {"Paris"},
        {"Paris"},
    ]
    house.services.corrections.retract(house.reach, house.memory("a", "The user lives in Oslo").memory.id, by=None)
    assert house.true("a", as_of=25) == {"Rome"}
    hits = house.services.search.search(
        house.reach, "Where does the user live?", SearchTarget(session="a"), 9, ["memories"], as_of=START + 12 * DAY
    )
    assert [hit.stored.memory.content for hit in hits if isinstance(hit, MemoryHit)] == ["The user lives in Rome"]


def test_a_question_about_the_past_also_finds_what_is_no_longer_true(house: FactSetup) -> None:
    """MEM-12: marked as past, in the item and in the text of a prompt; no other question finds it."""
    house.session("a", user="ann")
    house.state("a", ROME, 10)
    house.state("a", OSLO, 20)
    assert house.true("a", "Where did the user live before?") == {"Rome", "Oslo"}
    assert house.true("a", "Where does the user live?") == {"Oslo"}
    context = house.context("a", "Where did the user live before?")
    statuses = {stored.memory.content.split()[-1]: stored.status for stored in context.derived.memories}
    assert statuses == {"Rome": "superseded", "Oslo": "active"}
    lines = context.memory_context.splitlines()
    assert "- The user lives in Rome (until 2021-03-09)" in lines
    assert "- The user lives in Oslo" in lines


def test_what_is_no_longer_true_takes_no_place_of_what_is(house: FactSetup) -> None:
    """MEM-12: a context holds ten memories, whatever came before them."""
    house.session("a", user="ann")
    for at in range(30):
        house.state("a", f"pet = The pet of the user is number {at}", at)
    for at in range(10):
        house.state("a", f"The pet of the user likes toy {at}", 40 + at)
    found = house.context("a", "pet of the user").derived.memories
    assert len(found) == 10
    assert {stored.status for stored in found} == {"active"}


def test_facts_that_two_sessions_state_at_once_are_put_in_order(house: FactSetup) -> None:
    """MEM-12: extractions of two sessions of one person run at the same time; one of the facts is true in the end."""
    for name in ("a", "b", "c", "d"):
        house.session(name, user="ann")
    with ThreadPoolExecutor(4) as pool:
        for name, at in (("a", 1), ("b", 2), ("c", 3), ("d", 4)):
            pool.submit(house.state, name, f"home = The user lives in {name}", at)
    assert house.statuses("a", "b", "c", "d") == {
        "a": "superseded",
        "b": "superseded",
        "c": "superseded",
        "d": "active",
    }


def test_a_memory_that_a_person_adds_supersedes_what_was_extracted(engine: Engine) -> None:
    """MEM-12, MEM-13: by hand as by rules, where it states the present value of one fact; also what a person corrected."""
    house = settle_house(engine)
    house.session("a", user="ann")
    house.session("b", user="ann")
    house.tell("a", "I live in Rome.", "I have a cat.")
    rome = house.stored("a")[0].memory.id
    change = MemoryChange(given=frozenset({"content"}), content="The user lives in Milan.")
    house.services.corrections.correct(house.reach, rome, change, by=None)
    house.services.memories.add(house.reach, "b", ["The user lives in Oslo.", "Anna lives in Bern."])
    assert set(house.recalled("a", "Where does the user live?")) == {
        "The user lives in Oslo.",
        "Anna lives in Bern.",
        "The user has a cat.",
    }
    assert house.services.corrections.get(house.reach, rome).status == "superseded"


def test_after_rome_and_oslo_the_context_holds_oslo_by_the_rules(engine: Engine) -> None:
    """MEM-12: through the extractor without a model; when the move is forgotten, Rome is true again."""
    house = settle_house(engine)
    house.session("a", user="ann")
    house.session("b", user="ann")
    house.tell("a", "I live in Rome.")
    (moved,) = house.tell("b", "I moved to Oslo last week.")
    assert "Rome" not in house.context("a", "Where do I live?").memory_context
    assert "Oslo" in house.context("a", "Where do I live?").memory_context
    assert "Rome (until " in house.context("a", "Where did I live before?").memory_context.replace(".", "")
    house.services.forgetting.message(house.reach, moved.id)
    assert "Rome" in house.context("a", "Where do I live?").memory_context
