"""An index outside of the database is asked while no transaction is open, and what changes meanwhile is as if it had come first."""

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event, local
from typing import Any

import pytest

from cloister.bootstrap import wire
from cloister.domain.conversation import Draft
from cloister.domain.errors import NotFound, StorageBusy
from cloister.domain.recall.filter import Filter
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EntityHit, EpisodeHit, SearchTarget
from cloister.storage.interface import Database, Transaction
from cloister.storage.postgres.database import open_postgres
from support.databases.engines import EMBEDDER, Engine
from support.setups.memories import EVERYTHING, MemorySetup, settle_house
from support.setups.qdrant import KINDS, opened_index

SECRET, QUESTION = "The gate code is 4417.", "What is the gate code?"
CELLO, PLAYS = "My neighbour Anna plays the cello.", "Who plays the cello?"
ANY_TIME = parse_filter({"created_after": "2000-01-01"})
PATIENCE = 30


class Asked:
    """Counts what Qdrant is asked, and lets something happen meanwhile. Fails if the thread that asks has an open transaction."""

    def __init__(self, client: Any, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        self.meanwhile: Iterator[Callable[[], object]] = iter(())
        self._open = local()
        self._query = client.query_batch_points
        self._read, self._write = database.read, database.write
        monkeypatch.setattr(client, "query_batch_points", self._ask)
        monkeypatch.setattr(database, "read", self._reading)
        monkeypatch.setattr(database, "write", self._writing)

    def _ask(self, *given: Any, **named: Any) -> Any:
        assert not self._is_open, "Qdrant is asked inside of a transaction"
        self.number += 1
        answer = self._query(*given, **named)
        happen = next(self.meanwhile, None)
        if happen is not None:
            happen()
        return answer

    @property
    def _is_open(self) -> bool:
        return getattr(self._open, "yes", False)

    @contextmanager
    def _reading(self, reach: Reach) -> Generator[Transaction]:
        with self._read(reach) as transaction:
            self._open.yes = True
            try:
                yield transaction
            finally:
                self._open.yes = False

    def _writing(self, reach: Reach, work: Callable[[Transaction], Any]) -> Any:
        def counted(transaction: Transaction) -> Any:
            self._open.yes = True
            try:
                return work(transaction)
            finally:
                self._open.yes = False

        return self._write(reach, counted)


class Place:
    """A shared project with two sessions: in `tells` the secret and an entity, and `asks`. All of it is in Qdrant."""

    def __init__(self, house: MemorySetup, asked: Asked) -> None:
        self.house, self.asked = house, asked
        self.services, self.reach = house.services, house.reach
        self.garden = house.project("Garden", "shared", store_receipts=True)
        house.session("tells", self.garden, "ann")
        house.session("asks", self.garden, "bob")
        (self.secret,) = house.say("tells", SECRET)
        house.tell("tells", CELLO)
        self.services.queue.drain()

    def searched(self, wanted: Filter | None = None, kinds: Sequence[str] | None = None) -> list[str]:
        hits = self.services.search.search(
            self.reach, QUESTION, SearchTarget(session="asks"), 20, kinds, min_relevance=0, filter=wanted
        )
        return [hit.item.message.content for hit in hits if isinstance(hit, EpisodeHit)]

    def searched_episodes(self) -> list[str]:
        """With one question to Qdrant, which it answers in several steps."""
        return self.searched(kinds=["episodes"])

    def answers_of(self, way: Callable[[], object]) -> int:
        """How many answers of Qdrant it takes while nothing changes."""
        before = self.asked.number
        way()
        return self.asked.number - before

    def in_context(self, wanted: Filter | None = None) -> list[str]:
        request = ContextRequest(question=QUESTION, min_relevance=0, filter=wanted)
        context = self.services.context.build(self.reach, "asks", request)
        return [item.message.content for item in context.relevant_history]

    def explained(self) -> list[str]:
        """The secret, if it is explained that it was recalled."""
        try:
            found = self.services.explain.question(self.reach, "asks", QUESTION, self.secret.id)
        except NotFound:
            return []
        return [SECRET] if found.recalled else []

    def entities(self) -> list[str]:
        hits = self.services.search.search(self.reach, PLAYS, SearchTarget(session="asks"), 20, ["entities"])
        return [hit.entity.name for hit in hits if isinstance(hit, EntityHit)]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Generator[Place]:
    with warnings.catch_warnings(action="ignore"), opened_index(request.param) as (client, index):
        house = settle_house(engine, index=index)
        yield Place(house, Asked(client, house.services.database, monkeypatch))


def nothing() -> None:
    """Nothing happens."""


WAYS: dict[str, Callable[[Place], list[str]]] = {
    "search": Place.searched,
    "filtered search": lambda place: place.searched(ANY_TIME),
    "context": Place.in_context,
    "filtered context": lambda place: place.in_context(ANY_TIME),
    "explain": Place.explained,
}


def leave(place: Place) -> None:
    place.house.move("tells", None)


def leave_for_another(place: Place) -> None:
    place.house.move("tells", place.house.project("Diary", "private"))


def delete_message(place: Place) -> None:
    place.services.forgetting.message(place.reach, place.secret.id)


def clear_session(place: Place) -> None:
    place.services.forgetting.contents(place.reach, "tells")


def delete_session(place: Place) -> None:
    place.services.forgetting.session(place.reach, "tells")


def divide_by_user(place: Place) -> None:
    place.services.projects.change_project(place.reach, place.garden, member_visibility="private")


def move_the_session_that_asks(place: Place) -> None:
    place.house.move("asks", None)


CHANGES = (
    leave,
    leave_for_another,
    delete_message,
    clear_session,
    delete_session,
    divide_by_user,
    move_the_session_that_asks,
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES)
def test_iso_6_what_leaves_the_pool_while_qdrant_is_asked_is_not_recalled(
    place: Place, change: Callable[[Place], None], way: str
) -> None:
    assert SECRET in WAYS[way](place)
    place.asked.meanwhile = iter([partial(change, place)])
    assert SECRET not in WAYS[way](place)
    assert next(place.asked.meanwhile, None) is None, "the change was made"


@pytest.mark.parametrize("change", [divide_by_user, move_the_session_that_asks])
def test_iso_10_entities_of_a_place_that_is_divided_or_left_meanwhile_are_not_recalled(
    place: Place, change: Callable[[Place], None]
) -> None:
    assert place.entities() == ["Anna"]
    place.asked.meanwhile = iter([partial(change, place)])
    assert place.entities() == []


def test_iso_6_every_way_is_asked_about_a_pool_that_was_left_at_the_last_moment(place: Place) -> None:
    """The session leaves after the last of Qdrant's answers to one question."""
    answers = place.answers_of(place.searched_episodes)
    place.asked.meanwhile = iter([*[nothing] * (answers - 1), partial(leave, place)])
    assert SECRET not in place.searched_episodes()
    assert next(place.asked.meanwhile, None) is None


def test_what_comes_into_the_pool_meanwhile_is_only_not_found_yet(place: Place) -> None:
    """Qdrant is not asked again for it, so that a pool that is always written to can be read."""
    answers = place.answers_of(place.searched)

    def come() -> None:
        place.house.session(f"new {place.asked.number}", place.garden)
        place.house.say(f"new {place.asked.number}", "The gate is green.")

    place.asked.meanwhile = iter([come] * 1000)
    for wanted in (None, ANY_TIME):
        before = place.asked.number
        assert SECRET in place.searched(wanted)
        assert place.asked.number - before == answers


def test_a_pool_that_is_always_being_left_is_refused_after_some_attempts(place: Place) -> None:
    names = [f"leaves {number}" for number in range(12)]
    for name in names:
        place.house.session(name, place.garden)
        place.house.say(name, "The gate is green.")
    answers = place.answers_of(place.searched_episodes)
    place.asked.meanwhile = iter(
        [step for name in names for step in (partial(place.house.move, name, None), *[nothing] * (answers - 1))]
    )
    with pytest.raises(StorageBusy, match="faster than it can be read"):
        place.searched_episodes()
    assert next(place.asked.meanwhile, None) is not None, "it was given up before all had left"
    place.asked.meanwhile = iter(())
    assert SECRET in place.searched_episodes()


def test_every_reader_of_the_index_asks_it_outside_of_transactions(place: Place) -> None:
    """`Asked` fails otherwise."""
    services, reach = place.services, place.reach
    context = services.context.build(reach, "asks", ContextRequest(question=QUESTION, min_relevance=0))
    _, receipt = services.recall_receipts.of_context(reach, context, None)
    assert receipt is not None
    assert services.explain.receipt(reach, receipt, place.secret.id).recalled
    scope = services.sessions.get(reach, "asks").scope("shared")
    assert services.context.build_for_scope(reach, scope, ContextRequest(question=QUESTION)).relevant_history
    named = services.index_probe.named(reach, scope, QUESTION, EVERYTHING)
    assert named is not None and place.secret.id in named.messages and named.entities
    before = place.asked.number
    services.forgetting.message(reach, place.secret.id)
    assert SECRET not in place.searched()
    assert place.asked.number > before


@pytest.mark.parametrize("kind", KINDS)
def test_while_qdrant_is_slow_the_only_connection_answers_others(kind: str, migrated_postgres: str) -> None:
    with warnings.catch_warnings(action="ignore"), opened_index(kind) as (client, index):
        services = wire(open_postgres(migrated_postgres, connections=1, seconds=1), index=index, embedder=EMBEDDER)
        reach = Reach(tenant=services.projects.create_tenant("Slow")[0])
        services.sessions.create(reach, SessionFields(external_id="s"))
        services.record.messages(reach, "s", [Draft(role="user", content=SECRET)])
        services.queue.drain()
        waits, goes_on = Event(), Event()
        query = client.query_batch_points

        def slow(*given: Any, **named: Any) -> Any:
            waits.set()
            assert goes_on.wait(PATIENCE)
            return query(*given, **named)

        client.query_batch_points = slow
        with ThreadPoolExecutor(1) as other:
            searching = other.submit(
                services.search.search, reach, QUESTION, SearchTarget(session="s"), 9, min_relevance=0
            )
            try:
                assert waits.wait(PATIENCE)
                assert services.sessions.get(reach, "s").message_count == 1
                services.record.messages(reach, "s", [Draft(role="user", content="I go on.")])
                assert not searching.done()
            finally:
                goes_on.set()
            assert [hit.item.message.content for hit in searching.result() if isinstance(hit, EpisodeHit)] == [SECRET]
        services.close()
