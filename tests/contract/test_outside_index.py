"""An index that lives outside the database: what reaches it, and that what is forgotten leaves it, whatever fails in between."""

from collections.abc import Callable, Sequence

import pytest

from cloister import Cloister
from cloister.bootstrap import Services, wire
from cloister.domain.errors import StorageUnavailable
from cloister.domain.identifiers import (
    LOCAL_TENANT,
    MessageId,
    ProjectId,
    format_project_id,
    format_tenant_id,
    parse_message_id,
)
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.index.exact.index import ExactIndex
from cloister.index.interface import (
    WINDOW_REACH,
    DerivedReader,
    EntityPoint,
    EntityReader,
    Point,
    PoolIndex,
    PoolReader,
)
from cloister.models.static.embedder import StaticEmbedder
from cloister.storage.interface import Database
from support.setups.branches import choose, edit


class OutsideIndex:
    """Holds, for each message, which messages it was made from, and entities as they were put; answers nothing itself."""

    def __init__(self) -> None:
        self.made_from: dict[int, set[int]] = {}
        self.entities: dict[int, EntityPoint] = {}
        self.down = False
        self.while_putting: Callable[[], None] = lambda: None
        self.while_putting_entities: Callable[[], None] = lambda: None
        embedder = StaticEmbedder()
        self._exact = ExactIndex(embedder.embed_query, embedder.dimension, 1_000_000)
        self.cache = self._exact.cache

    def within(self, pool: PoolReader) -> PoolIndex:
        return self._exact.within(pool)

    def memories_within(self, pool: DerivedReader) -> PoolIndex:
        return self._exact.memories_within(pool)

    def entities_within(self, entities: EntityReader) -> PoolIndex:
        return self._exact.entities_within(entities)

    def put(self, run: Sequence[Point], first: int, last: int) -> None:
        self._reach()
        self.while_putting()
        ids = [point.message for point in run]
        for at, message in enumerate(ids):
            if first <= message <= last:
                self.made_from[message] = set(ids[max(at - WINDOW_REACH, 0) : at + WINDOW_REACH + 1])

    def forget_sessions(self, tenant: int, sessions: Sequence[int]) -> None:
        self._reach()
        self.made_from = {id: made for id, made in self.made_from.items() if id >> 21 not in sessions}

    def forget_messages(self, tenant: int, messages: Sequence[int]) -> None:
        self._reach()
        self.made_from = {id: made for id, made in self.made_from.items() if id not in messages}

    def put_entities(self, entities: Sequence[EntityPoint]) -> None:
        self._reach()
        self.while_putting_entities()
        self.entities |= {entity.entity: entity for entity in entities}

    def forget_entities(self, tenant: int, entities: Sequence[int]) -> None:
        self._reach()
        self.entities = {id: entity for id, entity in self.entities.items() if id not in entities}

    def count(self, tenant: int, sessions: Sequence[int], messages: Sequence[int], entities: Sequence[int]) -> int:
        self._reach()
        kept = [id for id in self.made_from if id >> 21 in sessions or id in messages]
        return len(kept) + len(self.entities.keys() & set(entities))

    def close(self) -> None:
        pass

    def _reach(self) -> None:
        if self.down:
            raise StorageUnavailable("the index is down")


House = tuple[Cloister, Services, OutsideIndex]


@pytest.fixture
def house(database: Database) -> House:
    index = OutsideIndex()
    services = wire(database, index=index, embedder=StaticEmbedder())
    memory = Cloister(services=services)
    memory.create_session("s")
    return memory, services, index


def say(memory: Cloister, count: int) -> list[int]:
    return [parse_message_id(memory.record("s", "user", f"Word number {number}.").id) for number in range(count)]


def windows(ids: list[int]) -> dict[int, set[int]]:
    """What each message should be made from when exactly these are there."""
    return {id: set(ids[max(at - WINDOW_REACH, 0) : at + WINDOW_REACH + 1]) for at, id in enumerate(ids)}


def test_every_point_is_made_from_its_neighbours_however_the_queue_was_drained(house: House) -> None:
    memory, services, index = house
    ids: list[int] = []
    for count in (1, 2, 5, 1):
        ids += say(memory, count)
        services.queue.drain()
    assert index.made_from == windows(ids)
    assert services.queue.waiting() == 0


def test_a_forgotten_message_leaves_the_index_and_the_windows_of_its_neighbours(house: House) -> None:
    memory, services, index = house
    ids = say(memory, 12)
    services.queue.drain()
    memory.forget_message(f"msg_{ids[5]:016x}")
    assert index.made_from == windows(ids[:5] + ids[6:])
    memory.forget_message(f"msg_{ids[6]:016x}")
    assert index.made_from == windows(ids[:5] + ids[7:])


def test_forgetting_while_the_index_is_down_succeeds_and_is_made_good_later(house: House) -> None:
    memory, services, index = house
    ids = say(memory, 6)
    memory.create_session("other")
    memory.record("other", "user", "Something else.")
    services.queue.drain()
    index.down = True
    memory.forget_message(f"msg_{ids[2]:016x}")
    memory.delete_session("other")
    assert memory.health().waiting > 0
    assert set(ids) < set(index.made_from)
    index.down = False
    services.queue.drain()
    assert index.made_from == windows(ids[:2] + ids[3:])
    assert memory.health().waiting == 0


@pytest.mark.parametrize("erased", ["user", "tenant"])
def test_org_9_what_is_erased_while_the_index_is_down_leaves_it_later(house: House, erased: str) -> None:
    """A user or a whole tenant: messages and entities."""
    memory, services, index = house
    ids = say(memory, 3)
    doomed = Cloister(services=services, tenant=format_tenant_id(services.projects.create_tenant("Doomed")[0]))
    doomed.create_session("of ann", user_id="ann")
    doomed.record("of ann", "user", "My neighbour Rosa plays the cello.")
    doomed.extract("of ann")
    services.queue.drain()
    assert len(index.made_from) == 4 and len(index.entities) == 1
    index.down = True
    if erased == "user":
        assert doomed.erase_user("ann").entities == 1
    else:
        assert services.tenants.erase(services.tenants.find("Doomed")).entities == 1
    assert services.queue.waiting() == 2
    index.down = False
    services.queue.drain()
    assert (index.made_from, index.entities) == (windows(ids), {})
    assert services.queue.waiting() == 0


def test_a_message_forgotten_while_it_is_being_put_does_not_stay(house: House) -> None:
    memory, services, index = house
    ids = say(memory, 3)
    forgotten: list[int] = []

    def forget() -> None:
        if not forgotten:
            forgotten.append(ids[1])
            index.down = True
            memory.forget_message(f"msg_{ids[1]:016x}")
            index.down = False

    index.while_putting = forget
    services.queue.drain()
    assert index.made_from == windows([ids[0], ids[2]])


@pytest.mark.parametrize("forgotten", ["message", "session"])
def test_a_message_forgotten_before_it_is_put_goes_though_its_putter_was_killed(
    house: House, monkeypatch: pytest.MonkeyPatch, forgotten: str
) -> None:
    """ISO-8: the removal was carried out before the put, and nobody is left who knows that the point is there."""
    memory, services, index = house
    ids = say(memory, 3)
    put, dying = index.put, [forgotten]

    def put_and_die(run: Sequence[Point], first: int, last: int) -> None:
        if not dying:
            return put(run, first, last)
        dying.pop()
        memory.forget_message(f"msg_{ids[1]:016x}") if forgotten == "message" else memory.delete_session("s")
        services.queue.remove_forgotten()
        put(run, first, last)
        raise RuntimeError("the power went")

    monkeypatch.setattr(index, "put", put_and_die)
    with pytest.raises(RuntimeError):
        services.queue.drain()
    assert ids[1] in index.made_from
    monkeypatch.setattr(services.queue, "_clock", lambda: now() + 61_000_000)
    services.queue.drain()
    assert index.made_from == (windows([ids[0], ids[2]]) if forgotten == "message" else {})
    assert services.queue.waiting() == 0


def test_a_message_that_another_removes_while_it_is_put_for_too_long_is_put_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, services, index = house
    ids = say(memory, 3)
    put, slow = index.put, [0]

    def put_slowly(run: Sequence[Point], first: int, last: int) -> None:
        put(run, first, last)
        if slow:
            slow.pop()
            with monkeypatch.context() as later:
                later.setattr(services.queue, "_clock", lambda: now() + 61_000_000)
                services.queue.remove_forgotten()

    monkeypatch.setattr(index, "put", put_slowly)
    services.queue.drain()
    assert index.made_from == windows(ids)
    assert services.queue.waiting() == 0


def test_nothing_is_left_to_remove_after_a_put(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, services, index = house
    ids = say(memory, 12)
    services.queue.drain()
    monkeypatch.setattr(services.queue, "_clock", lambda: now() + 61_000_000)
    assert services.queue.waiting() == 0
    services.queue.drain()
    assert index.made_from == windows(ids)


def test_what_the_index_does_not_have_yet_is_stale_in_its_pool_only(house: House) -> None:
    memory, services, _ = house
    garden = memory.create_project("Garden").project_id
    memory.create_session("other", project_id=garden)
    say(memory, 2)
    tell(memory, "third", garden, "My neighbour Anna plays the cello.")

    def stale(session: str) -> tuple[int | None, int | None]:
        return memory.context(session, "Anna").stale, memory.search("Anna", session_id=session).stale

    assert (stale("s"), stale("other")) == ((2, 2), (2, 2)), "two messages; a message and an entity"
    services.queue.drain()
    assert (stale("s"), stale("other")) == ((None, None), (None, None))
    memory.record("other", "user", "Rosa has a dog.")
    assert (stale("s"), stale("third")) == ((None, None), (1, 1))


def test_messages_recorded_while_the_index_is_down_are_put_when_it_is_back(house: House) -> None:
    memory, services, index = house
    index.down = True
    ids = say(memory, 4)
    with pytest.raises(StorageUnavailable):
        services.queue.drain()
    index.down = False
    assert services.queue.drain() == 4
    assert index.made_from == windows(ids)


def test_what_a_session_says_after_it_was_cleared_stays_in_the_index(house: House) -> None:
    """A removal that comes late takes the new messages with it, and they are put again."""
    memory, services, index = house
    say(memory, 3)
    services.queue.drain()
    index.down = True
    memory.clear_session("s")
    memory.clear_session("s")
    index.down = False
    ids = say(memory, 2)
    services.queue.drain()
    assert index.made_from == windows(ids)
    assert services.queue.waiting() == 0


def tell(memory: Cloister, session: str, project: str | None, *words: str) -> None:
    memory.create_session(session, project_id=project)
    for said in words:
        memory.record(session, "user", said)
    memory.extract(session)


def points(index: OutsideIndex) -> set[tuple[str, str, str]]:
    return {(format_project_id(ProjectId(one.project)), one.name, one.notes) for one in index.entities.values()}


def test_iso_8_entities_are_put_kept_and_removed_by_the_queue(house: House) -> None:
    memory, services, index = house
    garden = memory.create_project("Garden").project_id
    tell(memory, "one", garden, "My neighbour Anna plays the cello.")
    assert index.entities == {}
    services.queue.drain()
    assert points(index) == {(garden, "Anna", "The user's neighbour Anna plays the cello.")}
    tell(memory, "two", garden, "My neighbour Anna bakes bread.")
    services.queue.drain()
    ((_, _, notes),) = points(index)
    assert "cello" in notes and "bread" in notes
    memory.delete_session("one")
    ((_, _, notes),) = points(index)
    assert "cello" not in notes and "bread" in notes
    memory.clear_session("two")
    assert index.entities == {}
    assert services.queue.waiting() == 0


def test_iso_6_a_retagged_entity_takes_its_point_along_and_a_merged_one_leaves(house: House) -> None:
    memory, services, index = house
    garden, kitchen = (memory.create_project(name).project_id for name in ("Garden", "Kitchen"))
    tell(memory, "one", garden, "My neighbour Anna plays the cello.")
    services.queue.drain()
    (anna,) = memory.entities(garden)
    memory.retag_entity(anna.id, kitchen)
    assert memory.health().waiting == 1
    services.queue.drain()
    assert {project for project, _, _ in points(index)} == {kitchen}
    tell(memory, "two", garden, "My neighbour Anna bakes bread.")
    services.queue.drain()
    assert len(index.entities) == 2
    (again,) = memory.entities(garden)
    memory.retag_entity(again.id, kitchen)
    services.queue.drain()
    ((project, _, notes),) = points(index)
    assert project == kitchen and "cello" in notes and "bread" in notes


def test_what_is_forgotten_of_an_entity_while_the_index_is_down_is_made_good_later(house: House) -> None:
    memory, services, index = house
    garden = memory.create_project("Garden").project_id
    tell(memory, "one", garden, "My neighbour Anna plays the cello.")
    services.queue.drain()
    index.down = True
    memory.delete_session("one")
    assert len(index.entities) == 1
    assert memory.health().waiting > 0
    index.down = False
    services.queue.drain()
    assert index.entities == {}
    assert memory.health().waiting == 0


@pytest.mark.parametrize("drained", [False, True])
@pytest.mark.parametrize("change", ["forgotten", "retagged", "said of", "partly forgotten"])
def test_an_entity_that_changes_while_it_is_being_put_ends_as_it_is(house: House, change: str, drained: bool) -> None:
    """Nothing of a former project, or of forgotten words, stays behind; nor if another has put it rightly meanwhile, and what is
    put late is the older of the two."""
    memory, services, index = house
    garden, kitchen = (memory.create_project(name).project_id for name in ("Garden", "Kitchen"))
    tell(memory, "one", garden, "My neighbour Anna plays the cello.")
    services.queue.drain()
    tell(memory, "two", garden, "My neighbour Anna bakes bread.")
    (anna,) = memory.entities(garden)
    changes: dict[str, Callable[[], object]] = {
        "forgotten": lambda: (memory.delete_session("one"), memory.delete_session("two")),
        "partly forgotten": lambda: memory.delete_session("one"),
        "retagged": lambda: memory.retag_entity(anna.id, kitchen),
        "said of": lambda: tell(memory, "three", garden, "My neighbour Anna plays the flute."),
    }
    begun: list[str] = []

    def meanwhile() -> None:
        if not begun:
            begun.append(change)
            index.down = "forgotten" in change and not drained
            changes[change]()
            index.down = False
            if drained:
                services.queue.drain()

    index.while_putting_entities = meanwhile
    services.queue.drain()
    assert begun
    there = [(garden, one) for one in memory.entities(garden)] + [(kitchen, one) for one in memory.entities(kitchen)]
    assert points(index) == {(project, one.name, one.notes) for project, one in there}
    assert len(there) == (0 if change == "forgotten" else 1)
    services.queue.drain()
    assert services.queue.waiting() == 0


@pytest.mark.parametrize("order", ["follows", "is down", "both at once"])
def test_what_leaves_the_current_branch_leaves_the_index_and_comes_back_with_it(house: House, order: str) -> None:
    """Also if the index was out of reach in between, or learns of both only afterwards: no removal takes away what came back."""
    memory, services, index = house
    reach = Reach(tenant=LOCAL_TENANT)
    ids = say(memory, 12)
    services.queue.drain()
    index.down = order != "follows"
    asked, answered = (message.id for message in edit(services, reach, "s", MessageId(ids[5]), "Another.", "Fine."))
    if order != "both at once":
        index.down = False
        services.queue.drain()
        assert index.made_from == windows([*ids[:5], asked, answered])
        index.down = order == "is down"
    choose(services, reach, "s", MessageId(ids[5]))
    index.down = False
    services.queue.drain()
    assert index.made_from == windows(ids)
    assert services.queue.waiting() == 0


def test_a_branch_that_is_left_while_it_is_being_put_does_not_stay(house: House) -> None:
    memory, services, index = house
    reach = Reach(tenant=LOCAL_TENANT)
    ids = say(memory, 4)
    said: list[int] = []

    def leave() -> None:
        if not said:
            said.append(0)
            index.down = True
            said.extend(message.id for message in edit(services, reach, "s", MessageId(ids[2]), "Another.", "Fine."))
            index.down = False

    index.while_putting = leave
    services.queue.drain()
    assert index.made_from == windows([*ids[:2], *said[1:]])
    assert services.queue.waiting() == 0


def test_a_branch_that_comes_back_while_its_removal_is_carried_out_is_put_again(house: House) -> None:
    """Two processes drain the queue: one has read a removal, and the other puts the message that came back before it is carried
    out."""
    memory, services, index = house
    reach = Reach(tenant=LOCAL_TENANT)
    ids = say(memory, 4)
    services.queue.drain()
    index.down = True
    edit(services, reach, "s", MessageId(ids[2]), "Another.", "Fine.")
    index.down = False
    forget, pending = index.forget_messages, [0]

    def forget_late(tenant: int, messages: Sequence[int]) -> None:
        if pending:
            pending.pop()
            choose(services, reach, "s", MessageId(ids[2]))
        forget(tenant, messages)

    index.forget_messages = forget_late
    services.queue.drain()
    assert index.made_from == windows(ids)
    assert services.queue.waiting() == 0
