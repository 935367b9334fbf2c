"""Erasing a user: everything that carries their id goes in one transaction, and nothing of anybody else (ORG-9)."""

import random
import tracemalloc
from collections.abc import Callable
from threading import Event, Thread

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.erasure import UserCounts
from cloister.domain.errors import Conflict, Forbidden, InvalidRequest, NotFound, Unauthenticated
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.services.tenancy.api_keys import KeyFields
from cloister.storage.interface import Transaction
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.turns import TurnStore
from support.databases.engines import Engine, at_once
from support.setups.extraction import run_due
from support.setups.memories import MemorySetup, long_talk, settle_house
from support.waiting import eventually

NOTHING = UserCounts(sessions=0, messages=0, episodes=0, memories=0, observations=0, entities=0)
ANNS = ("My brother Quillfeather works at Brambleworks.", "My neighbour Rosa plays the cello.")
BOBS = ("My sister Thistlewick lives in Ploverdale.", "My neighbour Rosa keeps bees.")
CANARIES = ("Quillfeather", "Brambleworks", "cello", "ann")


def furnish(house: MemorySetup) -> tuple[ProjectId, ProjectId]:
    """Ann, Bob and nobody in particular talk in a shared project, in a divided one and in none; everything is extracted."""
    garden, cellar = house.project("Garden", "shared"), house.project("Cellar", "private")
    for user, words in (("ann", ANNS), ("bob", BOBS), (None, ("My cousin Wren paints boats.",))):
        for place, project in (("garden", garden), ("cellar", cellar), ("outside", None)):
            house.session(f"{user} in {place}", project, user)
            house.tell(f"{user} in {place}", *words)
    return garden, cellar


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def known_of(house: MemorySetup, user: str | None, garden: ProjectId, cellar: ProjectId) -> list[object]:
    """All that the sessions of a user show."""
    shown: list[object] = [house.names(cellar, user)]
    for place in ("garden", "cellar", "outside"):
        name = f"{user} in {place}"
        shown += [house.services.sessions.messages(house.reach, name, limit=50), house.stored(name), house.notes(name)]
        if place != "garden":
            shown.append(house.recalled(name, "Who is my neighbour, and where does my family work?"))
    return shown


def test_org_9_everything_of_the_user_goes_and_is_counted(engine: Engine, house: MemorySetup) -> None:
    """Not a row names the user or holds their words, and what others know is as it was."""
    garden, cellar = furnish(house)
    before = {user: known_of(house, user, garden, cellar) for user in ("bob", None)}

    erased = house.services.erase_user.erase(house.reach, "ann")

    assert (erased.sessions, erased.messages, erased.episodes) == (3, 12, 6)
    assert erased.memories == 6
    assert erased.entities >= 2
    left = repr(engine.dump(house.reach.tenant))
    assert [canary for canary in CANARIES if canary in left.replace("channel", "")] == []
    assert {user: known_of(house, user, garden, cellar) for user in ("bob", None)} == before
    assert house.services.erase_user.erase(house.reach, "ann") == NOTHING


def test_a_dry_run_counts_the_same_and_changes_nothing(engine: Engine, house: MemorySetup) -> None:
    furnish(house)
    before = engine.dump(house.reach.tenant)
    preview = house.services.erase_user.erase(house.reach, "ann", dry_run=True)
    assert engine.dump(house.reach.tenant) == before
    assert preview == house.services.erase_user.erase(house.reach, "ann")
    assert preview.sessions == 3


@pytest.mark.parametrize("seed", range(2))
def test_a_dry_run_counts_the_same_whatever_was_said_moved_and_forgotten(engine: Engine, seed: int) -> None:
    """Chosen at random: users, projects, moves, changes of visibility, entities that somebody moved, forgotten messages."""
    house, chance = settle_house(engine), random.Random(seed)
    projects = [house.project("Garden", "shared"), house.project("Cellar", "private"), None]
    users = ["ann", "bob", None]
    sessions: list[str] = []
    for number in range(9):
        name, user = f"s{number}", chance.choice(users)
        house.session(name, chance.choice(projects), user)
        house.tell(name, *chance.sample([*ANNS, *BOBS], chance.randint(1, 3)))
        sessions.append(name)
    for name in chance.sample(sessions, 3):
        house.move(name, chance.choice(projects))
    for project in projects[:2]:
        assert project is not None
        if chance.random() < 0.5:
            house.services.projects.change_project(
                house.reach, project, member_visibility=chance.choice(["shared", "private"])
            )
    for user in chance.sample(users, 2):
        erased = house.services.erase_user
        if user is not None:
            assert erased.erase(house.reach, user, dry_run=True) == erased.erase(house.reach, user)
            left = engine.dump(house.reach.tenant)
            assert f"'{user}'" not in repr(left)
    usage = house.services.projects.usage(house.reach)
    kept = engine.rows(
        "SELECT count(*), CAST(coalesce(sum(message_count), 0) AS BIGINT) FROM session "
        f"WHERE tenant_id = {house.reach.tenant:d} AND pool_id IS NOT NULL"
    )
    assert [(usage.sessions, usage.messages)] == kept
    counted = engine.rows(
        "SELECT p.memory_count, (SELECT count(*) FROM memory m JOIN session s ON s.session_id = m.session_id "
        f"WHERE s.project_id = p.project_id) FROM project p WHERE p.tenant_id = {house.reach.tenant:d}"
    )
    assert all(noted == there for noted, there in counted)


def test_an_entity_that_others_mention_too_keeps_what_they_said_of_it(house: MemorySetup) -> None:
    """In a shared project: the user's mentions go, the entity stays, and recall knows it by what is left."""
    garden, _ = furnish(house)
    house.services.erase_user.erase(house.reach, "ann")
    rosa = next(entity for entity in house.entities(garden) if entity.name == "Rosa")
    assert "bees" in rosa.notes and "cello" not in rosa.notes
    assert house.recalled_entities("bob in garden", "Who plays the cello?") == house.recalled_entities(
        "None in garden", "Who plays the cello?"
    )


def test_an_entity_that_was_moved_into_the_users_part_goes_with_it(engine: Engine, house: MemorySetup) -> None:
    """Whoever mentions it: it is the user's now."""
    _, cellar = furnish(house)
    bobs = house.entities(cellar, "bob")[0]
    house.services.entities.retag(house.reach, bobs.id, cellar, user_id="ann", is_admin=True)
    preview = house.services.erase_user.erase(house.reach, "ann", dry_run=True)
    assert preview == house.services.erase_user.erase(house.reach, "ann")
    assert "'ann'" not in repr(engine.dump(house.reach.tenant))


def test_keys_that_are_bound_to_the_user_stop_at_once(engine: Engine, house: MemorySetup) -> None:
    """ORG-10. Those of other users, and of nobody in particular, go on."""
    access = house.services.api_keys
    keys = {
        user: access.create(house.reach, KeyFields(name="browser", user_id=user)).text for user in ("ann", "bob", None)
    }
    house.services.erase_user.erase(house.reach, "ann")
    with pytest.raises(Unauthenticated):
        access.authenticate(keys["ann"])
    assert [access.authenticate(keys[user]).user for user in ("bob", None)] == ["bob", None]
    assert "'ann'" not in repr(engine.dump(house.reach.tenant))


def test_a_user_that_nobody_has_heard_of_has_nothing_to_erase(engine: Engine, house: MemorySetup) -> None:
    """As the list of their memories is empty, and not an error."""
    furnish(house)
    before = engine.dump()
    assert house.services.erase_user.erase(house.reach, "zoe") == NOTHING
    assert house.services.erase_user.erase(house.reach, "zoe", dry_run=True) == NOTHING
    assert house.of_user("zoe") == []
    assert engine.dump() == before


def test_iso_4_a_user_of_the_same_id_in_another_tenant_is_another_user(engine: Engine, house: MemorySetup) -> None:
    other, _ = house.services.projects.create_tenant("Other house")
    there = MemorySetup(services=house.services, reach=Reach(tenant=other), clock=house.clock)
    furnish(there)
    furnish(house)
    before = engine.dump(other)
    house.services.erase_user.erase(house.reach, "ann")
    assert engine.dump(other) == before


@pytest.mark.parametrize("narrow", ["confined", "bound"])
def test_who_does_not_reach_the_whole_tenant_erases_nobody(engine: Engine, house: MemorySetup, narrow: str) -> None:
    garden, _ = furnish(house)
    tenant = house.reach.tenant
    reach = Reach(tenant=tenant, confined_to=garden) if narrow == "confined" else Reach(tenant=tenant, user="ann")
    eraser = house.services.erase_user
    for dry_run in (True, False):
        engine.unchanged_by(Forbidden, lambda dry_run=dry_run: eraser.erase(reach, "ann", dry_run=dry_run))
        engine.unchanged_by(InvalidRequest, lambda dry_run=dry_run: eraser.erase(house.reach, "", dry_run=dry_run))


def test_running_turns_and_extractions_of_the_user_keep_nothing(house: MemorySetup) -> None:
    """What was asked before the erasing is not answered into it."""
    furnish(house)
    session, now = house.find("ann in garden"), house.clock()

    def begin(transaction: Transaction) -> bool:
        until = now + 1_000_000_000
        turn = TurnStore(transaction).take(session.id, 5, now=now, until=until)
        return turn and ExtractionStore(transaction).claim(session.id, 7, now=now, until=until)

    assert house.services.database.write(house.reach, begin)
    house.services.erase_user.erase(house.reach, "ann")
    assert house.services.database.write(house.reach, lambda t: TurnStore(t).end(session.id, 5)) is None
    assert not house.services.database.write(house.reach, lambda t: ExtractionStore(t).renew(session.id, 7, until=now))
    with pytest.raises(NotFound):
        house.say("ann in garden", "One more thing.")
    with pytest.raises(NotFound):
        house.services.extraction.extract_now(house.reach, "ann in garden")
    house.session("ann in garden", None, "ann")
    assert house.find("ann in garden").id != session.id
    assert house.services.sessions.messages(house.reach, "ann in garden", limit=9)[1] == []


def test_every_session_that_went_is_told_to_who_reads_along(house: MemorySetup) -> None:
    furnish(house)
    reader = house.services.events.subscribe(house.reach)
    house.services.erase_user.erase(house.reach, "ann")
    told = [each.event for each in reader.read()]
    assert sorted((event.kind, event.session) for event in told if event) == [
        ("session.deleted", f"ann in {place}") for place in ("cellar", "garden", "outside")
    ]


def test_of_very_many_sessions_the_projects_are_told(house: MemorySetup) -> None:
    garden = house.project("Garden")
    for number in range(102):
        house.session(f"s{number}", garden if number % 2 else None, "ann")
    reader = house.services.events.subscribe(house.reach)
    assert house.services.erase_user.erase(house.reach, "ann").sessions == 102
    told = [each.event for each in reader.read()]
    assert {(event.kind, event.project) for event in told if event} == {("reset", garden), ("reset", None)}


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_who_reads_along_in_another_process_is_told_to_look_again(engine: Engine, house: MemorySetup) -> None:
    """The user's pools are gone, and with them the versions that others go by. Processes tell each other."""
    furnish(house)
    beside = engine.services(clock=house.clock)
    reader = beside.events.subscribe(house.reach)
    house.services.erase_user.erase(house.reach, "ann")
    kinds: set[str] = set()

    def is_told() -> bool:
        kinds.update(each.event.kind for each in reader.read() if each.event is not None)
        return not kinds.isdisjoint({"reset", "session.deleted"})

    eventually(is_told)


def test_large_users_are_erased_in_bounded_memory(house: MemorySetup) -> None:
    """What is held at a time does not grow with what was said: twelve times the words take less than twice the memory."""
    words = "The roses need water. " * 60

    def peak(user: str, sessions: int) -> int:
        for number in range(sessions):
            house.session(f"{user} {number}", None, user)
            drafts = [Draft(role="user", content=f"{number} {step} {words}") for step in range(40)]
            house.services.record.messages(house.reach, f"{user} {number}", drafts)
        tracemalloc.start()
        assert house.services.erase_user.erase(house.reach, user).messages == 40 * sessions
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    house.services.erase_user.erase(house.reach, "warm up")
    few, many = peak("ann", 4), peak("bob", 48)
    assert many < 2 * few + 500_000


def erase_with(house: MemorySetup, meanwhile: Callable[[], object]) -> list[BaseException]:
    """Erase ann, and do this when her rows are gone and the transaction has yet to end. Gives what went wrong with it."""
    removed, failures = Event(), list[BaseException]()

    def work(transaction: Transaction) -> None:
        house.services.erase_user._remove(transaction, "ann")  # pyright: ignore[reportPrivateUsage]
        removed.set()
        # Whoever waits for a lock of this transaction is given the time to begin to.
        Event().wait(0.3)

    def run() -> None:
        removed.wait(30)
        try:
            meanwhile()
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            failures.append(error)

    other = Thread(target=run)
    other.start()
    house.services.database.write(house.reach, work)
    other.join(30)
    assert not other.is_alive()
    return failures


def test_a_session_that_is_created_meanwhile_is_created_after(house: MemorySetup) -> None:
    """In the very pool that is being removed; it is whole, and recall works in it."""
    furnish(house)
    assert erase_with(house, lambda: house.session("new", None, "ann")) == []
    house.tell("new", "My neighbour Rosa plays chess.")
    assert house.memories("new") == ["The user's neighbour Rosa plays chess."]
    assert house.services.erase_user.erase(house.reach, "ann", dry_run=True).sessions == 1


def test_a_session_that_is_created_in_a_project_meanwhile_is_created_after(house: MemorySetup) -> None:
    garden, cellar = furnish(house)
    for project in (garden, cellar):
        assert erase_with(house, lambda project=project: house.session(f"new {project}", project, "ann")) == []
        assert house.services.erase_user.erase(house.reach, "ann").sessions == 1


@pytest.mark.parametrize("act", ["say", "move", "extract", "delete"])
def test_what_comes_to_a_session_of_the_user_meanwhile_finds_it_gone(
    engine: Engine, house: MemorySetup, act: str
) -> None:
    _, cellar = furnish(house)
    acts: dict[str, Callable[[], object]] = {
        "say": lambda: house.say("ann in garden", "Quillfeather sends his regards."),
        "move": lambda: house.move("ann in garden", cellar),
        "extract": lambda: house.services.extraction.extract_now(house.reach, "ann in garden"),
        "delete": lambda: house.services.forgetting.session(house.reach, "ann in garden"),
    }
    (failure,) = erase_with(house, acts[act])
    assert isinstance(failure, NotFound)
    assert "'ann'" not in repr(engine.dump(house.reach.tenant))


def test_erasing_among_writers_leaves_only_whole_sessions(engine: Engine, house: MemorySetup) -> None:
    """Eight threads create, say, move, extract and erase at once: nobody fails in any other way than by finding nothing, or having
    read what is gone, and what is left is counted rightly and can be erased."""
    garden, cellar = furnish(house)

    def live(number: int) -> None:
        for turn in range(6):
            name = f"{number}-{turn}"
            if number == 0:
                house.services.erase_user.erase(house.reach, "ann")
                continue
            try:
                house.services.sessions.create(
                    house.reach,
                    SessionFields(external_id=name, project=(garden, cellar, None)[turn % 3], user_id="ann"),
                )
                house.say(name, *ANNS)
                house.move(name, (cellar, None, garden)[turn % 3])
                house.services.extraction.extract_now(house.reach, name)
            except (NotFound, Conflict):
                continue

    at_once(live, 6)
    usage = house.services.projects.usage(house.reach)
    preview = house.services.erase_user.erase(house.reach, "ann", dry_run=True)
    assert usage.sessions == preview.sessions + 6
    assert house.services.erase_user.erase(house.reach, "ann") == preview
    left = repr(engine.dump(house.reach.tenant))
    assert "'ann'" not in left and "Quillfeather" not in left


def test_notes_go_with_their_user(house: MemorySetup) -> None:
    """TAB-7: observations, of a session long enough to have some."""
    garden = house.project("Garden", "shared", observation_scope="user")
    house.session("long", garden, "ann")
    house.say("long", *long_talk(60))
    while run_due(house.services):
        pass
    assert house.notes("long")
    preview = house.services.erase_user.erase(house.reach, "ann", dry_run=True)
    assert preview.observations
    assert house.services.erase_user.erase(house.reach, "ann") == preview
