"""An index that lives outside the database: what reaches it, and that what is forgotten leaves it, whatever fails in between."""

from collections.abc import Callable, Sequence

import pytest

from cloister import Cloister
from cloister.bootstrap import Services, wire
from cloister.domain.errors import StorageUnavailable
from cloister.domain.identifiers import parse_message
from cloister.index.exact import ExactIndex
from cloister.index.interface import NEIGHBOURS, Point, PoolIndex, PoolReader
from cloister.models.static_embedder import StaticEmbedder
from cloister.storage.interface import Database


class OutsideIndex:
    """Holds, for each message, which messages it was made from; answers nothing itself."""

    immediate = False

    def __init__(self) -> None:
        self.made_from: dict[int, set[int]] = {}
        self.down = False
        self.while_putting: Callable[[], None] = lambda: None
        embedder = StaticEmbedder()
        self._exact = ExactIndex(embedder.embed_query, embedder.dimension, 1_000_000)

    def within(self, pool: PoolReader) -> PoolIndex:
        return self._exact.within(pool)

    def put(self, run: Sequence[Point], first: int, last: int) -> None:
        self._reach()
        self.while_putting()
        ids = [point.message for point in run]
        for at, message in enumerate(ids):
            if first <= message <= last:
                self.made_from[message] = set(ids[max(at - NEIGHBOURS, 0) : at + NEIGHBOURS + 1])

    def forget_sessions(self, sessions: Sequence[int]) -> None:
        self._reach()
        self.made_from = {id: made for id, made in self.made_from.items() if id >> 21 not in sessions}

    def forget_messages(self, messages: Sequence[int]) -> None:
        self._reach()
        self.made_from = {id: made for id, made in self.made_from.items() if id not in messages}

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
    return [parse_message(memory.record("s", "user", f"Word number {number}.").id) for number in range(count)]


def windows(ids: list[int]) -> dict[int, set[int]]:
    """What each message should be made from when exactly these are there."""
    return {id: set(ids[max(at - NEIGHBOURS, 0) : at + NEIGHBOURS + 1]) for at, id in enumerate(ids)}


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
