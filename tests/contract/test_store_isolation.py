"""Every public method of every store, on both engines, with ids that are not the caller's (ISO-4; design, section 3.8).

Each case is run twice with the same body: with our own ids, where it must do something, and with those of a tenant that holds
the same things under the same names, where it must do nothing. A method without a case fails the suite.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

import cloister.storage
from cloister.domain.errors import CloisterError, NotFound, StorageError
from cloister.domain.identifiers import MessageId, SessionId, message_id, new_session_id
from cloister.domain.scope import PoolKey, Reach
from cloister.index.exact import ExactIndex
from cloister.index.interface import Index, Point, PoolIndex
from cloister.storage.idempotency import Idempotency
from cloister.storage.indexing import IndexRows
from cloister.storage.interface import Database, Transaction
from cloister.storage.messages import Messages
from cloister.storage.organisation import Projects, Tenants
from cloister.storage.pools import PoolRows, Pools
from cloister.storage.queries import load_queries, split_queries
from cloister.storage.sessions import Sessions
from engines import Engine, exact_index
from twin_tenants import GARDEN, GENERATION, INDEXED, MOMENT, Home, new_message, new_session, settle_home

STORES = (Tenants, Projects, Sessions, Messages, Pools, PoolRows, Idempotency, IndexRows)

Act = Callable[[Transaction, Home], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """`act` uses the ids of the home it is given. `nothing` is what it answers to foreign ones: a value, or an error it raises.

    Without `nothing` the method takes no id that could be foreign, or one that may be the same in two tenants: then its answer
    is only searched for what is not ours.
    """

    act: Act
    nothing: Any = ...
    writes: bool = False


def fresh(home: Home) -> SessionId:
    """An id that is free in every tenant."""
    return SessionId(max(place.session for place in home.places) ^ 1 or new_session_id())


def pools(transaction: Transaction) -> Pools:
    return Pools(transaction, GENERATION)


def pool_rows(transaction: Transaction, home: Home) -> PoolRows:
    """As nobody gets it: through `Pools.rows` there is no way to a foreign pool."""
    return PoolRows(transaction, home.first.pool, GENERATION)


def index_rows(transaction: Transaction) -> IndexRows:
    return IndexRows(transaction, GENERATION)


CASES: dict[str, Case] = {
    "Tenants.exists": Case(act=lambda t, h: Tenants(t).exists()),
    "Tenants.add": Case(act=lambda t, h: Tenants(t).add("Taken over", 1), writes=True),
    "Projects.add": Case(
        act=lambda t, h: Projects(t).add(
            h.cellar, name="Mine", is_default=False, member_visibility="shared", created_at=1
        ),
        writes=True,
    ),
    "Projects.get": Case(act=lambda t, h: Projects(t).get(h.cellar), nothing=NotFound),
    "Projects.hold": Case(act=lambda t, h: Projects(t).hold(h.cellar), nothing=NotFound),
    "Projects.page": Case(act=lambda t, h: Projects(t).page(limit=100)),
    "Projects.lock": Case(act=lambda t, h: Projects(t).lock()),
    "Projects.rename": Case(act=lambda t, h: Projects(t).rename(h.cellar, "Mine"), writes=True),
    "Projects.set_settings": Case(act=lambda t, h: Projects(t).set_settings(h.cellar, {"a": 1}), writes=True),
    "Projects.make_default": Case(act=lambda t, h: Projects(t).make_default(h.cellar), writes=True),
    "Projects.soft_delete": Case(act=lambda t, h: Projects(t).soft_delete(h.cellar, 1), writes=True),
    "Sessions.find": Case(act=lambda t, h: Sessions(t).find("first")),
    "Sessions.get": Case(act=lambda t, h: Sessions(t).get("first")),
    "Sessions.lock": Case(act=lambda t, h: Sessions(t).lock("first")),
    "Sessions.page": Case(
        act=lambda t, h: [
            *Sessions(t).page(limit=100),
            *Sessions(t).page(limit=100, user_id="ann"),
            *Sessions(t).page(limit=100, project=GARDEN, any_project=False),
            *Sessions(t).page(limit=100, project=None, any_project=False),
        ]
    ),
    "Sessions.add": Case(
        act=lambda t, h: Sessions(t).add(new_session(new_session_id(), "fourth", h.cellar, h.second.pool)),
        nothing=StorageError,
        writes=True,
    ),
    "Sessions.note_appends": Case(
        act=lambda t, h: Sessions(t).note_appends([(h.tail(h.first).grown(5, h.first.messages[0]), 9)], MOMENT + 9),
        writes=True,
    ),
    "Sessions.note_removal": Case(
        act=lambda t, h: Sessions(t).note_removal(h.first.session, removed=2, version=9), writes=True
    ),
    "Sessions.describe": Case(
        act=lambda t, h: Sessions(t).describe(h.first.session, title="Mine", tags=(), metadata="{}"), writes=True
    ),
    "Sessions.place": Case(
        act=lambda t, h: Sessions(t).place(h.first.session, project=h.cellar, pool=h.second.pool, version=9),
        writes=True,
    ),
    "Sessions.lock_of_project": Case(act=lambda t, h: Sessions(t).lock_of_project(h.cellar), nothing=[]),
    "Sessions.remove": Case(
        act=lambda t, h: (Messages(t).remove_all(h.first.session), Sessions(t).remove(h.first.session)), writes=True
    ),
    "Messages.append": Case(
        act=lambda t, h: Messages(t).append([(new_message(h.first.session, 3), INDEXED)]),
        nothing=StorageError,
        writes=True,
    ),
    "Messages.page": Case(act=lambda t, h: Messages(t).page(h.first.session, limit=100), nothing=[]),
    "Messages.recent": Case(act=lambda t, h: Messages(t).recent(h.first.session, "user", 100), nothing=[]),
    "Messages.session_name": Case(act=lambda t, h: Messages(t).session_name(h.first.messages[0]), nothing=NotFound),
    "Messages.count_episodes": Case(act=lambda t, h: Messages(t).count_episodes(h.first.session), nothing=0),
    "Messages.remove": Case(
        act=lambda t, h: Messages(t).remove(h.first.session, h.first.messages), nothing=0, writes=True
    ),
    "Messages.remove_all": Case(act=lambda t, h: Messages(t).remove_all(h.first.session), nothing=0, writes=True),
    "Pools.find": Case(act=lambda t, h: pools(t).find(PoolKey(project=h.cellar, user="ann")), nothing=None),
    "Pools.ensure": Case(
        act=lambda t, h: pools(t).ensure(PoolKey(project=h.cellar, user="bob")), nothing=StorageError, writes=True
    ),
    "Pools.raise_version": Case(act=lambda t, h: pools(t).raise_version(h.first.pool), nothing=TypeError, writes=True),
    "Pools.note_departure": Case(act=lambda t, h: pools(t).note_departure(h.first.pool), writes=True),
    "Pools.rows": Case(act=lambda t, h: pools(t).rows(h.scope(h.first)), nothing=ValueError),
    "PoolRows.state": Case(act=lambda t, h: pool_rows(t, h).state(), nothing=None),
    "PoolRows.size": Case(act=lambda t, h: pool_rows(t, h).size(), nothing=0),
    "PoolRows.members": Case(act=lambda t, h: pool_rows(t, h).members(), nothing=[]),
    "PoolRows.changes": Case(act=lambda t, h: pool_rows(t, h).changes(-1), nothing=[]),
    "PoolRows.all_rows": Case(act=lambda t, h: list(pool_rows(t, h).all_rows()), nothing=[]),
    "PoolRows.session_rows": Case(act=lambda t, h: pool_rows(t, h).session_rows(h.first.session, 0), nothing=[]),
    "PoolRows.messages": Case(act=lambda t, h: pool_rows(t, h).messages(h.first.messages), nothing={}),
    "PoolRows.recent": Case(act=lambda t, h: pool_rows(t, h).recent("user", 100), nothing=[]),
    "Idempotency.answer": Case(act=lambda t, h: Idempotency(t).answer("once")),
    "Idempotency.drop_older": Case(act=lambda t, h: Idempotency(t).drop_older(1 << 60), writes=True),
    "Idempotency.keep": Case(act=lambda t, h: Idempotency(t).keep("twice", "f", "a", MOMENT), writes=True),
    "IndexRows.members": Case(act=lambda t, h: index_rows(t).members(h.first.pool), nothing=[]),
    "IndexRows.words": Case(
        act=lambda t, h: index_rows(t).words(h.first.session, after=None, limit=100, all_generations=True), nothing=[]
    ),
    "IndexRows.waiting": Case(
        act=lambda t, h: (unindex(t, h), index_rows(t).waiting(h.first.session, limit=100))[1], nothing=[], writes=True
    ),
    "IndexRows.set_indexed": Case(
        act=lambda t, h: index_rows(t).set_indexed(
            h.first.session, [(message, INDEXED) for message in h.first.messages]
        ),
        writes=True,
    ),
    "IndexRows.mark_indexed": Case(
        act=lambda t, h: (unindex(t, h), index_rows(t).mark_indexed(h.first.messages, MOMENT + 7)), writes=True
    ),
    "IndexRows.points": Case(
        act=lambda t, h: index_rows(t).points(
            h.first.session, first=h.first.messages[0], last=h.first.messages[-1], around=3
        ),
        nothing=[],
    ),
    "IndexRows.wait_again": Case(
        act=lambda t, h: index_rows(t).wait_again(h.first.session, h.first.messages[0], 3), writes=True
    ),
    "IndexRows.note_removal": Case(
        act=lambda t, h: index_rows(t).note_removal(h.first.session, h.first.messages[0]), writes=True
    ),
    "IndexRows.settle_removal": Case(
        act=lambda t, h: index_rows(t).settle_removal(1, h.first.session, whole_session=True), writes=True
    ),
    "IndexRows.settle": Case(
        act=lambda t, h: (reindex(t, h), IndexRows(t, GENERATION + 1).settle(h.first.pool)), writes=True
    ),
}


def unindex(transaction: Transaction, home: Home) -> None:
    waiting = replace(INDEXED, vector=None, indexed_at=None)
    index_rows(transaction).set_indexed(home.first.session, [(message, waiting) for message in home.first.messages])


def reindex(transaction: Transaction, home: Home) -> None:
    later = replace(INDEXED, generation=GENERATION + 1)
    rows = IndexRows(transaction, GENERATION + 1)
    rows.set_indexed(home.first.session, [(message, later) for message in home.first.messages])


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    engine: Engine
    database: Database
    ours: Home
    theirs: Home


@pytest.fixture
def world(shared_engine: Engine) -> Generator[World]:
    """Two new tenants among those of all the tests before."""
    database = shared_engine.open()
    yield World(engine=shared_engine, database=database, ours=settle_home(database), theirs=settle_home(database))
    database.close()


def public_methods(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def foreign(answer: object, home: Home) -> set[int]:
    """Ids of another home that an answer shows anywhere."""
    return {int(number) for number in re.findall(r"\d{6,}", repr(answer))} & home.own_ids


def refusal_of(case: Case) -> type[Exception] | None:
    return cast(type[Exception], case.nothing) if isinstance(case.nothing, type) else None


def test_every_method_of_every_store_has_a_case() -> None:
    """ISO-4."""
    methods = {f"{store.__name__}.{method}" for store in STORES for method in public_methods(store)}
    assert set(CASES) == methods


def test_every_store_is_listed() -> None:
    """A new module of storage with a class over a transaction belongs in `STORES`."""
    found: set[type] = set()
    for module in pkgutil.iter_modules(cloister.storage.__path__):
        loaded = importlib.import_module(f"cloister.storage.{module.name}")
        for _, kind in inspect.getmembers(loaded, inspect.isclass):
            if kind.__module__ == loaded.__name__ and "transaction" in inspect.signature(kind).parameters:
                found.add(kind)
    assert found == set(STORES)


@pytest.mark.parametrize("name", CASES)
def test_a_store_given_foreign_ids_shows_nothing_and_changes_nothing(world: World, name: str) -> None:
    """ISO-4: tenant ↔ tenant, on every store method."""
    case = CASES[name]
    before = world.engine.dump(world.theirs.tenant)

    def attempt(transaction: Transaction) -> Any:
        return case.act(transaction, world.theirs)

    if (refusal := refusal_of(case)) is not None:
        with pytest.raises(refusal) as caught:
            world.database.write(world.ours.reach, attempt)
        assert not foreign(str(caught.value).replace(str(world.theirs.cellar), ""), world.theirs)
    else:
        answer = world.database.write(world.ours.reach, attempt)
        assert case.nothing is ... or answer == case.nothing
        assert foreign(answer, world.theirs) == set()
    assert world.engine.dump(world.theirs.tenant) == before


@pytest.mark.parametrize("name", CASES)
def test_the_same_call_with_our_own_ids_does_something(world: World, name: str) -> None:
    """So that the case above is not empty: the method answers, or changes, what is ours."""
    case = CASES[name]
    theirs, ours = world.engine.dump(world.theirs.tenant), world.engine.dump(world.ours.tenant)
    answers: list[Any] = []
    if name in ("Tenants.add", "Projects.add"):
        return  # ours is there already; the twin tenants themselves show that both work

    world.database.write(world.ours.reach, lambda transaction: answers.append(case.act(transaction, world.ours)))
    if case.nothing is not ...:
        assert answers[0] != case.nothing
    changed = world.engine.dump(world.ours.tenant) != ours
    assert changed == case.writes
    assert world.engine.dump(world.theirs.tenant) == theirs


# One tenant, two projects: what a key confined to the garden may not touch.

CONFINED: dict[str, Case] = {
    "Projects.get": Case(act=lambda t, h: Projects(t).get(h.cellar), nothing=NotFound),
    "Projects.hold": Case(act=lambda t, h: Projects(t).hold(h.cellar), nothing=NotFound),
    "Projects.page": Case(act=lambda t, h: [project.id for project in Projects(t).page(limit=9)], nothing=[GARDEN]),
    "Sessions.find": Case(
        act=lambda t, h: [Sessions(t).find(name) for name in ("second", "third")], nothing=[None] * 2
    ),
    "Sessions.get": Case(act=lambda t, h: Sessions(t).get("second"), nothing=NotFound),
    "Sessions.lock": Case(act=lambda t, h: Sessions(t).lock("third"), nothing=NotFound),
    "Sessions.page": Case(
        act=lambda t, h: [
            session.external_id
            for project, any_project in ((None, True), (h.cellar, False), (None, False))
            for session in Sessions(t).page(limit=9, project=project, any_project=any_project)
        ],
        nothing=["first"],
    ),
    "Messages.session_name": Case(act=lambda t, h: Messages(t).session_name(h.second.messages[0]), nothing=NotFound),
    "Pools.rows": Case(act=lambda t, h: pools(t).rows(h.scope(h.second)), nothing=ValueError),
}
# A pool's rows are one pool's by construction; what is asked of them here is another pool's.
ONE_POOL: dict[str, Callable[[PoolRows, Home], Any]] = {
    "PoolRows.size": lambda rows, h: rows.size() == len(h.first.messages),
    "PoolRows.members": lambda rows, h: rows.members() == [h.first.session],
    "PoolRows.changes": lambda rows, h: [session for session, _ in rows.changes(-1)] == [h.first.session],
    "PoolRows.all_rows": lambda rows, h: [row[0] for row in rows.all_rows()] == h.first.messages,
    "PoolRows.session_rows": lambda rows, h: rows.session_rows(h.second.session, 0) == [],
    "PoolRows.messages": lambda rows, h: (
        list(rows.messages([*h.first.messages, *h.second.messages])) == h.first.messages
    ),
    "PoolRows.recent": lambda rows, h: [found.message.id for found in rows.recent("user", 9)] == h.first.messages[:1],
}
# These take the integer id of a session, project or pool that the caller found under its own reach, or name the tenant's own.
BY_FOUND_ID = {
    "Tenants.exists",
    "Tenants.add",
    "Projects.add",
    "Projects.lock",
    "Projects.rename",
    "Projects.set_settings",
    "Projects.make_default",
    "Projects.soft_delete",
    "Sessions.add",
    "Sessions.note_appends",
    "Sessions.note_removal",
    "Sessions.describe",
    "Sessions.place",
    "Sessions.lock_of_project",
    "Sessions.remove",
    "Messages.append",
    "Messages.page",
    "Messages.recent",
    "Messages.count_episodes",
    "Messages.remove",
    "Messages.remove_all",
    "Pools.find",
    "Pools.ensure",
    "Pools.raise_version",
    "Pools.note_departure",
    "PoolRows.state",
    "Idempotency.answer",
    "Idempotency.drop_older",
    "Idempotency.keep",
    "IndexRows.members",
    "IndexRows.words",
    "IndexRows.waiting",
    "IndexRows.set_indexed",
    "IndexRows.mark_indexed",
    "IndexRows.points",
    "IndexRows.wait_again",
    "IndexRows.note_removal",
    "IndexRows.settle_removal",
    "IndexRows.settle",
}


def test_every_method_is_known_to_be_confined_or_to_take_found_ids() -> None:
    """ISO-4, ORG-4."""
    assert set(CONFINED) | set(ONE_POOL) | BY_FOUND_ID == set(CASES)


@pytest.mark.parametrize("name", CONFINED)
def test_a_confined_reach_finds_nothing_outside_its_project(world: World, name: str) -> None:
    """ISO-4: project ↔ project and project ↔ shared pool."""
    case = CONFINED[name]
    confined = Reach(tenant=world.ours.tenant, confined_to=GARDEN)
    before = world.engine.dump()
    if (refusal := refusal_of(case)) is not None:
        with pytest.raises(refusal):
            world.database.write(confined, lambda transaction: case.act(transaction, world.ours))
    else:
        assert world.database.write(confined, lambda transaction: case.act(transaction, world.ours)) == case.nothing
    assert world.engine.dump() == before


@pytest.mark.parametrize("name", ONE_POOL)
def test_the_rows_of_one_pool_hold_nothing_of_another_pool_of_the_same_tenant(world: World, name: str) -> None:
    """ISO-4: pool ↔ pool."""
    with world.database.read(world.ours.reach) as transaction:
        rows = pools(transaction).rows(world.ours.scope(world.ours.first))
        assert rows is not None
        assert ONE_POOL[name](rows, world.ours)


def test_a_session_and_its_project_and_pool_are_always_of_one_tenant(world: World) -> None:
    """ISO-4: the schema itself refuses a row that points across tenants."""
    ours, theirs = world.ours, world.theirs
    crossings: list[Act] = [
        lambda t, h: Sessions(t).place(ours.first.session, project=theirs.cellar, pool=ours.first.pool, version=9),
        lambda t, h: Sessions(t).place(ours.first.session, project=None, pool=theirs.first.pool, version=9),
        lambda t, h: Sessions(t).add(new_session(fresh(ours), "x", theirs.cellar, ours.first.pool)),
        lambda t, h: Sessions(t).add(new_session(fresh(ours), "x", None, theirs.first.pool)),
        lambda t, h: Messages(t).append([(new_message(theirs.first.session, 9), INDEXED)]),
    ]
    before = world.engine.dump()
    for crossing in crossings:
        with pytest.raises(StorageError):
            world.database.write(ours.reach, lambda transaction, act=crossing: act(transaction, ours))
    assert world.engine.dump() == before


def test_a_message_id_cannot_lie_about_its_session(world: World) -> None:
    """ISO-1: the schema refuses a message whose id is of another session, even of the same tenant."""
    stray = message_id(world.ours.second.session, 9)

    def work(transaction: Transaction) -> None:
        transaction.execute(
            "insert_message",
            message_id=stray,
            session_id=world.ours.first.session,
            role="user",
            status="completed",
            author=None,
            created_at=MOMENT,
            generation=GENERATION,
            indexed_at=MOMENT,
            vector=bytes(512),
            terms=b"",
            episode_id=stray,
            tokens=1,
            metadata="{}",
            content="x",
        )

    with pytest.raises(StorageError):
        world.database.write(world.ours.reach, work)


def test_no_caller_can_pass_another_tenant_or_widen_its_reach(world: World) -> None:
    """ISO-4: the transaction's own tenant and project replace whatever is passed under those names."""
    confined = Reach(tenant=world.ours.tenant, confined_to=GARDEN)

    def work(transaction: Transaction) -> list[Any]:
        return [
            transaction.rows("lock_projects", tenant_id=world.theirs.tenant),
            transaction.row("session", external_id="second", tenant_id=world.theirs.tenant, confined_to=None),
            transaction.rows("pool_members", pool_id=world.theirs.first.pool, tenant_id=world.theirs.tenant),
        ]

    projects, session, members = world.database.write(confined, work)
    assert {row[0] for row in projects} == {GARDEN, world.ours.cellar}
    assert session is None
    assert members == []


@pytest.mark.parametrize("query", sorted(split_queries(load_queries(postgres=False))[1]))
def test_a_transaction_does_not_know_the_queries_of_maintenance(world: World, query: str) -> None:
    """ISO-4: what has no tenant cannot be run inside one, not even by mistake."""
    with pytest.raises(KeyError), world.database.read(world.ours.reach) as transaction:
        transaction.rows(query)


def test_maintenance_does_not_know_the_queries_of_tenants(world: World) -> None:
    """It answers ids and counts, never what was said (ISO-4)."""
    for query in ("messages", "sessions", "pool_messages", "recent_messages"):
        with pytest.raises(KeyError):
            world.database.maintenance.rows(query, tenant_id=world.ours.tenant)


def test_a_tenant_that_does_not_exist_is_an_empty_one(world: World) -> None:
    """There is no reach that means everything: an unknown tenant reads nothing (ISO-4)."""
    for tenant in (0, -1, 1, (1 << 63) - 1):
        nobody = Reach(tenant=tenant)  # pyright: ignore[reportArgumentType]
        with world.database.read(nobody) as transaction:
            assert Sessions(transaction).page(limit=100) == []
            assert Projects(transaction).page(limit=100) == []
            assert Messages(transaction).page(world.ours.first.session, limit=100) == []
            assert not Tenants(transaction).exists()


# The index: bound to one pool, whatever was asked of the others before.


def evidence_ids(world: World, index: Index, home: Home, question: str = "roses water") -> list[int]:
    with world.database.read(home.reach) as transaction:
        rows = pools(transaction).rows(home.scope(home.first))
        assert rows is not None
        return sorted(int(identity) for identity in index.within(rows).evidence(question).ids)


def point(home: Home, message: MessageId) -> Point:
    return Point(
        message=message,
        tenant=home.tenant,
        session=home.first.session,
        role="user",
        author=None,
        created_at=MOMENT,
        vector=bytes(512),
        terms=INDEXED.terms,
    )


INDEX_CASES: dict[str, Callable[[Index, Home], object]] = {
    "put": lambda index, theirs: index.put([point(theirs, message) for message in theirs.first.messages], 0, 1 << 63),
    "forget_sessions": lambda index, theirs: index.forget_sessions([place.session for place in theirs.places]),
    "forget_messages": lambda index, theirs: index.forget_messages(theirs.first.messages),
    "close": lambda index, theirs: index.close(),
}


def test_every_method_of_the_index_has_a_case() -> None:
    """ISO-4; `within` and `evidence` are in every one of them."""
    assert set(INDEX_CASES) == public_methods(Index) - {"within"}
    assert public_methods(PoolIndex) == {"evidence"}


@pytest.mark.parametrize("name", INDEX_CASES)
def test_the_index_of_a_pool_answers_with_that_pool_alone(world: World, name: str) -> None:
    """ISO-4: the same index serves both tenants; storage, not the index, decides what either still holds."""
    index: ExactIndex = exact_index()
    for home in (world.theirs, world.ours, world.theirs):
        assert evidence_ids(world, index, home) == home.first.messages
    INDEX_CASES[name](index, world.theirs)
    for home in (world.ours, world.theirs):
        assert evidence_ids(world, index, home) == home.first.messages


def test_the_statistics_of_a_pool_are_its_own(world: World) -> None:
    """ISO-4: how rare a word is elsewhere does not show in a score."""
    index = exact_index()

    def scores() -> list[float]:
        with world.database.read(world.ours.reach) as transaction:
            rows = pools(transaction).rows(world.ours.scope(world.ours.first))
            assert rows is not None
            return index.within(rows).evidence("roses").lexical.tolist()

    def fill(transaction: Transaction) -> None:
        for sequence in range(3, 60):
            Messages(transaction).append([(new_message(world.theirs.first.session, sequence), INDEXED)])
        pools(transaction).raise_version(world.theirs.first.pool)

    alone = scores()
    world.database.write(world.theirs.reach, fill)
    evidence_ids(world, index, world.theirs)
    assert scores() == alone


def test_refusals_are_ours(world: World) -> None:
    """A foreign id and a missing one raise the same error with the same words but for the id."""
    missing = new_session_id()
    texts: list[str] = []
    for identity in (message_id(missing, 1), world.theirs.first.messages[0]):
        with pytest.raises(CloisterError) as caught, world.database.read(world.ours.reach) as transaction:
            Messages(transaction).session_name(identity)
        texts.append(re.sub(r"msg_[0-9a-f]{16}", "…", str(caught.value)))
    assert texts[0] == texts[1]
