"""Every public method of every store, on both engines, with ids that are not the caller's (ISO-4; design, section 3.8).

Each case is run twice with the same body: with our own ids, where it must do something, and with those of a tenant that holds
the same things under the same names, where it must do nothing. A method without a case fails the suite.
"""

import importlib
import inspect
import pkgutil
import re
from dataclasses import replace
from typing import Any

import pytest

import cloister.storage
from cloister.domain.conversation import SessionChoices
from cloister.domain.errors import CloisterError, NotFound, StorageBusy, StorageError
from cloister.domain.identifiers import SessionId, message_id, new_session_id
from cloister.domain.prompts.recalled_text import NO_POOL
from cloister.domain.scope import PoolKey, Reach
from cloister.domain.usage import Limits
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.changes import ChangeStore
from cloister.storage.stores.indexing.index_rows import IndexStore
from cloister.storage.stores.keys import ApiKeyStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.pools import StoredPool
from cloister.storage.stores.sessions import Description, SessionStore
from cloister.storage.stores.tenants import ProjectStore, TenantStore
from cloister.storage.stores.usage import UsageStore
from support.databases.engines import Engine
from support.isolation.archive_cases import ARCHIVE_CASES
from support.isolation.branch_cases import BRANCH_CASES
from support.isolation.copying_cases import COPYING_CASES
from support.isolation.derived_cases import DERIVED_CASES, claimed, forget_derived
from support.isolation.derived_index_cases import DERIVED_INDEX_CASES
from support.isolation.entity_group_cases import ENTITY_GROUP_CASES
from support.isolation.entry_cases import ARCHIVED_ENTRY_CASES, ENTRY_CASES, TENANT_ENTRY_CASES
from support.isolation.erasure_cases import ERASING_CASES, RETENTION_CASES
from support.isolation.file_cases import FILE_CASES, PROJECT_TREE_CASES
from support.isolation.filter_cases import FILTER_CASES
from support.isolation.idempotency_cases import IDEMPOTENCY_CASES
from support.isolation.item_cases import ITEM_CASES
from support.isolation.listing_cases import LISTING_CASES
from support.isolation.receipt_cases import RECEIPT_CASES, TENANT_RECEIPT_CASES
from support.isolation.removal_cases import REMOVAL_CASES, TENANT_REMOVAL_CASES
from support.isolation.sign_in_cases import SIGN_IN_CASES
from support.isolation.supersession_cases import SUPERSESSION_CASES
from support.isolation.text_row_cases import TEXT_ROW_CASES
from support.isolation.turn_cases import TURN_CASES
from support.isolation.twin_tenants import (
    CLAIM,
    GARDEN,
    GENERATION,
    INDEXED,
    MOMENT,
    STORES,
    Act,
    Case,
    Home,
    World,
    foreign,
    methods_of_stores,
    new_key,
    new_message,
    new_session,
    pools,
    settle_home,
)
from support.isolation.vector_cases import VECTOR_CASES


def fresh(home: Home) -> SessionId:
    """An id that is free in every tenant."""
    return SessionId(max(place.session for place in home.places) ^ 1 or new_session_id())


def pool_rows(transaction: Transaction, home: Home) -> StoredPool:
    """As nobody gets it: through `Pools.rows` there is no way to a foreign pool."""
    return StoredPool(transaction, home.first.pool, GENERATION)


def stale_rows(transaction: Transaction, home: Home) -> StoredPool:
    """As a newer generation reads it, for which every message is stale."""
    return StoredPool(transaction, home.first.pool, GENERATION + 1, is_stale=True)


def note_stale_arrival(transaction: Transaction, home: Home) -> None:
    transaction.execute("note_mixed_generations", pool_id=home.second.pool)
    pools(transaction).note_arrival(home.first.pool, home.second.pool)


def index_rows(transaction: Transaction) -> IndexStore:
    return IndexStore(transaction, GENERATION)


CASES: dict[str, Case] = {
    "TenantStore.exists": Case(act=lambda t, h: TenantStore(t).exists()),
    "TenantStore.name": Case(act=lambda t, h: TenantStore(t).name()),
    "TenantStore.lock_shared": Case(act=lambda t, h: TenantStore(t).lock_shared()),
    "TenantStore.lock_names": Case(act=lambda t, h: TenantStore(t).lock_names()),
    "TenantStore.secret": Case(act=lambda t, h: TenantStore(t).secret()),
    "TenantStore.ensure_secret": Case(act=lambda t, h: TenantStore(t).ensure_secret()),
    "TenantStore.lock": Case(act=lambda t, h: TenantStore(t).lock()),
    "TenantStore.add": Case(act=lambda t, h: TenantStore(t).add("Taken over", 1), writes=True),
    "ProjectStore.add": Case(
        act=lambda t, h: ProjectStore(t).add(
            h.cellar, name="Mine", is_default=False, member_visibility="shared", created_at=1
        ),
        writes=True,
    ),
    "ProjectStore.find": Case(act=lambda t, h: ProjectStore(t).find(h.cellar), nothing=None),
    "ProjectStore.get": Case(act=lambda t, h: ProjectStore(t).get(h.cellar), nothing=NotFound),
    "ProjectStore.default": Case(act=lambda t, h: ProjectStore(t).default()),
    "ProjectStore.lock_shared": Case(act=lambda t, h: ProjectStore(t).lock_shared(h.cellar), nothing=NotFound),
    "ProjectStore.page": Case(act=lambda t, h: ProjectStore(t).page(limit=100)),
    "ProjectStore.names": Case(act=lambda t, h: ProjectStore(t).names()),
    "ProjectStore.lock_all": Case(act=lambda t, h: ProjectStore(t).lock_all()),
    "ProjectStore.rename": Case(act=lambda t, h: ProjectStore(t).rename(h.cellar, "Mine"), writes=True),
    "ProjectStore.set_settings": Case(act=lambda t, h: ProjectStore(t).set_settings(h.cellar, {"a": 1}), writes=True),
    "ProjectStore.set_visibility": Case(
        act=lambda t, h: ProjectStore(t).set_visibility(h.cellar, "shared"), writes=True
    ),
    "ProjectStore.make_default": Case(act=lambda t, h: ProjectStore(t).make_default(h.cellar), writes=True),
    "ProjectStore.soft_delete": Case(act=lambda t, h: ProjectStore(t).soft_delete(h.cellar, 1), writes=True),
    "ChangeStore.versions": Case(act=lambda t, h: ChangeStore(t).versions()),
    "ChangeStore.sessions": Case(act=lambda t, h: ChangeStore(t).sessions(h.first.pool, since=0, limit=9), nothing=[]),
    "SessionStore.find": Case(act=lambda t, h: SessionStore(t).find("first")),
    "SessionStore.had_messages": Case(act=lambda t, h: SessionStore(t).had_messages("first")),
    "SessionStore.last_message": Case(act=lambda t, h: SessionStore(t).last_message(h.first.session) & 0xFF, nothing=0),
    "SessionStore.get": Case(act=lambda t, h: SessionStore(t).get("first")),
    "SessionStore.lock": Case(act=lambda t, h: SessionStore(t).lock("first")),
    "SessionStore.by_ids": Case(
        act=lambda t, h: SessionStore(t).by_ids([h.first.session, h.second.session]), nothing=[]
    ),
    "SessionStore.page": Case(
        act=lambda t, h: [
            *SessionStore(t).page(limit=100),
            *SessionStore(t).page(limit=100, user_id="ann"),
            *SessionStore(t).page(limit=100, project=GARDEN, any_project=False),
            *SessionStore(t).page(limit=100, project=None, any_project=False),
        ]
    ),
    "SessionStore.users": Case(act=lambda t, h: SessionStore(t).users(GARDEN, limit=9)),
    "SessionStore.add": Case(
        act=lambda t, h: SessionStore(t).add(new_session(new_session_id(), "fourth", h.cellar, h.second.pool)),
        nothing=StorageError,
        writes=True,
    ),
    "SessionStore.note_appends": Case(
        act=lambda t, h: SessionStore(t).note_appends(
            [(h.tail(h.first).grown(5, h.first.messages[0], leaf=None), 9)], MOMENT + 9
        ),
        writes=True,
    ),
    "SessionStore.make_due": Case(
        act=lambda t, h: (undue(t, h), SessionStore(t).make_due(h.first.session, 7)), writes=True
    ),
    "SessionStore.note_removal": Case(
        act=lambda t, h: SessionStore(t).note_removal(h.first.session, removed=2, version=9), writes=True
    ),
    "SessionStore.choose": Case(
        act=lambda t, h: SessionStore(t).choose(
            h.first.session, SessionChoices(pinned=True, system_prompt="Be brief.", model="m")
        ),
        writes=True,
    ),
    "SessionStore.forget_title": Case(
        act=lambda t, h: (titled(t, h), SessionStore(t).forget_title(h.first.session, h.first.messages[0], said=None)),
        writes=True,
    ),
    "SessionStore.describe": Case(
        act=lambda t, h: SessionStore(t).describe(
            h.first.session, Description(title="Mine", tags=(), metadata="{}"), 1
        ),
        writes=True,
    ),
    "SessionStore.move": Case(
        act=lambda t, h: SessionStore(t).move(
            h.first.session, project=h.cellar, pool=h.second.pool, version=9, now=MOMENT
        ),
        writes=True,
    ),
    "SessionStore.reached_memories": Case(act=lambda t, h: SessionStore(t).reached_memories(h.cellar), nothing=0),
    "SessionStore.lock_of_project": Case(act=lambda t, h: SessionStore(t).lock_of_project(h.cellar), nothing=[]),
    "SessionStore.remove": Case(
        act=lambda t, h: (
            forget_derived(t, h),
            MessageStore(t).remove_all(h.first.session),
            SessionStore(t).remove(h.first.session, messages=2),
        ),
        writes=True,
    ),
    "MessageStore.append": Case(
        act=lambda t, h: MessageStore(t).append([(new_message(h.first.session, 3), INDEXED)]),
        nothing=StorageError,
        writes=True,
    ),
    "MessageStore.page": Case(
        act=lambda t, h: MessageStore(t).page(h.first.session, h.first.pool, limit=100), nothing=[]
    ),
    "MessageStore.before": Case(
        act=lambda t, h: [
            MessageStore(t).before(h.first.session, h.first.pool, end, limit=9, all_branches=True)
            for end in (None, h.first.messages[1])
        ],
        nothing=[[], []],
    ),
    "MessageStore.found": Case(
        act=lambda t, h: MessageStore(t).found(h.first.session, h.first.pool, h.first.messages), nothing=[]
    ),
    "MessageStore.recent": Case(
        act=lambda t, h: MessageStore(t).recent(h.first.session, h.first.pool, "user", 100, is_forked=False),
        nothing=[],
    ),
    "MessageStore.recent_authors": Case(act=lambda t, h: MessageStore(t).recent_authors(h.first.session), nothing=[]),
    "MessageStore.count_given_recalled_text": Case(
        act=lambda t, h: MessageStore(t).count_given_recalled_text(h.first.session, h.first.pool), nothing=0
    ),
    "MessageStore.detach_from_pool": Case(
        act=lambda t, h: (
            MessageStore(t).detach_from_pool(h.first.pool),
            MessageStore(t).count_given_recalled_text(h.first.session, NO_POOL),
        )[1],
        nothing=0,
        writes=True,
    ),
    "MessageStore.is_pool_quoted": Case(act=lambda t, h: MessageStore(t).is_pool_quoted(h.first.pool), nothing=False),
    "MessageStore.given_text_of": Case(act=lambda t, h: list(MessageStore(t).given_text_of(h.first.pool)), nothing=[]),
    "MessageStore.set_contents": Case(
        act=lambda t, h: MessageStore(t).set_contents([(message, "Mine", 7) for message in h.first.messages]),
        writes=True,
    ),
    "MessageStore.contents": Case(
        act=lambda t, h: [
            *MessageStore(t).contents(h.first.session),
            *MessageStore(t).contents(h.first.session, h.first.messages[0]),
        ],
        nothing=[],
    ),
    "MessageStore.session_name": Case(
        act=lambda t, h: MessageStore(t).session_name(h.first.messages[0]), nothing=NotFound
    ),
    "MessageStore.count_episodes": Case(act=lambda t, h: MessageStore(t).count_episodes(h.first.session), nothing=0),
    "MessageStore.remove": Case(
        act=lambda t, h: MessageStore(t).remove(h.first.session, h.first.messages), nothing=0, writes=True
    ),
    "MessageStore.remove_all": Case(
        act=lambda t, h: MessageStore(t).remove_all(h.first.session), nothing=0, writes=True
    ),
    "PoolStore.find": Case(act=lambda t, h: pools(t).find(PoolKey(project=h.cellar, user="ann")), nothing=None),
    "PoolStore.ensure": Case(
        act=lambda t, h: pools(t).ensure(PoolKey(project=h.cellar, user="bob")), nothing=StorageError, writes=True
    ),
    "PoolStore.raise_version": Case(
        act=lambda t, h: pools(t).raise_version(h.first.pool), nothing=StorageBusy, writes=True
    ),
    "PoolStore.note_departure": Case(act=lambda t, h: pools(t).note_departure(h.first.pool), writes=True),
    "PoolStore.note_arrival": Case(act=lambda t, h: note_stale_arrival(t, h), writes=True),
    "PoolStore.lock": Case(act=lambda t, h: pools(t).lock(h.first.pool)),
    "PoolStore.rows": Case(act=lambda t, h: pools(t).rows(h.scope(h.first)), nothing=ValueError),
    "StoredPool.state": Case(act=lambda t, h: pool_rows(t, h).state(), nothing=None),
    "StoredPool.size": Case(act=lambda t, h: pool_rows(t, h).size(), nothing=0),
    "StoredPool.members": Case(act=lambda t, h: pool_rows(t, h).members(), nothing=[]),
    "StoredPool.changes": Case(act=lambda t, h: pool_rows(t, h).changes(-1), nothing=[]),
    "StoredPool.all_rows": Case(act=lambda t, h: list(pool_rows(t, h).all_rows()), nothing=[]),
    "StoredPool.session_rows": Case(act=lambda t, h: pool_rows(t, h).session_rows(h.first.session, 0), nothing=[]),
    "StoredPool.all_rows_with_words": Case(act=lambda t, h: list(stale_rows(t, h).all_rows_with_words()), nothing=[]),
    "StoredPool.session_rows_with_words": Case(
        act=lambda t, h: stale_rows(t, h).session_rows_with_words(h.first.session, 0), nothing=[]
    ),
    "StoredPool.stale": Case(act=lambda t, h: stale_rows(t, h).stale(), nothing=0),
    "StoredPool.waiting": Case(act=lambda t, h: (unindex(t, h), pool_rows(t, h).waiting())[1], nothing=0, writes=True),
    "StoredPool.newest_stale": Case(act=lambda t, h: stale_rows(t, h).newest_stale(100), nothing=set()),
    "StoredPool.vectors": Case(act=lambda t, h: pool_rows(t, h).vectors(h.first.messages), nothing={}),
    "StoredPool.messages": Case(act=lambda t, h: pool_rows(t, h).messages(h.first.messages), nothing={}),
    "StoredPool.speakers": Case(act=lambda t, h: pool_rows(t, h).speakers(h.first.messages), nothing=set()),
    "StoredPool.recent": Case(act=lambda t, h: pool_rows(t, h).recent("user", 100), nothing=[]),
    "IndexStore.members": Case(act=lambda t, h: index_rows(t).members(h.first.pool), nothing=[]),
    "IndexStore.words": Case(
        act=lambda t, h: index_rows(t).words(h.first.session, after=None, limit=100, all_generations=True), nothing=[]
    ),
    "IndexStore.waiting": Case(
        act=lambda t, h: (unindex(t, h), index_rows(t).waiting(h.first.session, limit=100))[1], nothing=[], writes=True
    ),
    "IndexStore.set_indexed": Case(
        act=lambda t, h: index_rows(t).set_indexed(
            h.first.session, [(message, INDEXED) for message in h.first.messages]
        ),
        writes=True,
    ),
    "IndexStore.mark_indexed": Case(
        act=lambda t, h: (unindex(t, h), index_rows(t).mark_indexed(h.first.messages, MOMENT + 7)), writes=True
    ),
    "IndexStore.points": Case(
        act=lambda t, h: index_rows(t).points(
            h.first.session, first=h.first.messages[0], last=h.first.messages[-1], around=3
        ),
        nothing=[],
    ),
    "IndexStore.requeue_around": Case(
        act=lambda t, h: index_rows(t).requeue_around(h.first.session, h.first.messages[0], 3), writes=True
    ),
    "IndexStore.requeue": Case(act=lambda t, h: index_rows(t).requeue(h.first.session, h.first.messages), writes=True),
    "IndexStore.note_removal": Case(
        act=lambda t, h: index_rows(t).note_removal(h.first.session, h.first.messages[0]), writes=True
    ),
    "IndexStore.note_put": Case(act=lambda t, h: note_put(t, h) > 0, writes=True),
    "IndexStore.settle_put": Case(
        act=lambda t, h: len(index_rows(t).settle_put(h.first.session, h.first.messages, note_put(t, h)))
    ),
    "IndexStore.settle_removal": Case(
        act=lambda t, h: index_rows(t).settle_removal(1, h.first.session, None), writes=True
    ),
    "IndexStore.settle": Case(
        act=lambda t, h: (reindex(t, h), IndexStore(t, GENERATION + 1).settle(h.first.pool)), writes=True
    ),
    "ApiKeyStore.add": Case(
        act=lambda t, h: ApiKeyStore(t).add(new_key(h.tenant, h.cellar), bytes(32)), nothing=StorageError, writes=True
    ),
    "ApiKeyStore.find": Case(act=lambda t, h: ApiKeyStore(t).find(h.key), nothing=None),
    "ApiKeyStore.page": Case(act=lambda t, h: ApiKeyStore(t).page(limit=100)),
    "ApiKeyStore.lock_admins": Case(act=lambda t, h: ApiKeyStore(t).lock_admins()),
    "ApiKeyStore.revoke": Case(act=lambda t, h: ApiKeyStore(t).revoke(h.key, MOMENT), nothing=False, writes=True),
    "UsageStore.limits": Case(act=lambda t, h: UsageStore(t).limits()),
    "UsageStore.counts": Case(act=lambda t, h: UsageStore(t).counts()),
    "UsageStore.add_messages": Case(
        act=lambda t, h: UsageStore(t).add_messages([(h.first.session, 3), (h.second.session, -1)]), writes=True
    ),
    "UsageStore.add_session": Case(act=lambda t, h: UsageStore(t).add_session(h.first.session), writes=True),
    "UsageStore.remove_session": Case(act=lambda t, h: UsageStore(t).remove_session(h.first.session), writes=True),
    "UsageStore.projects": Case(act=lambda t, h: UsageStore(t).projects()),
    "UsageStore.api_keys": Case(act=lambda t, h: UsageStore(t).api_keys()),
    "UsageStore.set_limits": Case(act=lambda t, h: UsageStore(t).set_limits(Limits(messages=1)), writes=True),
    **DERIVED_CASES,
    **SUPERSESSION_CASES,
    **DERIVED_INDEX_CASES,
    **ENTITY_GROUP_CASES,
    **TURN_CASES,
    **BRANCH_CASES,
    **IDEMPOTENCY_CASES,
    **SIGN_IN_CASES,
    **ERASING_CASES,
    **RETENTION_CASES,
    **VECTOR_CASES,
    **FILTER_CASES,
    **ARCHIVE_CASES,
    **COPYING_CASES,
    **ITEM_CASES,
    **RECEIPT_CASES,
    **LISTING_CASES,
    **FILE_CASES,
    **PROJECT_TREE_CASES,
    **ENTRY_CASES,
    **REMOVAL_CASES,
    **TENANT_REMOVAL_CASES,
    **TENANT_ENTRY_CASES,
    **TENANT_RECEIPT_CASES,
    **ARCHIVED_ENTRY_CASES,
    **TEXT_ROW_CASES,
}


def note_put(transaction: Transaction, home: Home) -> int:
    return index_rows(transaction).note_put(home.first.session, home.first.messages, due_at=MOMENT)


def unindex(transaction: Transaction, home: Home) -> None:
    waiting = INDEXED._replace(vector=None, indexed_at=None)
    index_rows(transaction).set_indexed(home.first.session, [(message, waiting) for message in home.first.messages])


def undue(transaction: Transaction, home: Home) -> None:
    claimed(transaction, home).finish(home.first.session, CLAIM, checked=0, observed=0, threshold=99, now=MOMENT)


def titled(transaction: Transaction, home: Home) -> None:
    words = Description(title="Mine", tags=("kept",), metadata="{}")
    SessionStore(transaction).describe(home.first.session, words, 1, title_through=home.first.messages[1])


def reindex(transaction: Transaction, home: Home) -> None:
    later = INDEXED._replace(generation=GENERATION + 1)
    rows = IndexStore(transaction, GENERATION + 1)
    rows.set_indexed(home.first.session, [(message, later) for message in home.first.messages])


@pytest.fixture(scope="module")
def theirs(shared_database: Database) -> Home:
    """One for all tests here: each leaves it as it was, and says so."""
    return settle_home(shared_database)


@pytest.fixture
def world(shared_engine: Engine, shared_database: Database, theirs: Home) -> World:
    return World(engine=shared_engine, database=shared_database, ours=settle_home(shared_database), theirs=theirs)


def counted(world: World, home: Home) -> tuple[set[Any], set[Any]]:
    """What is noted of a tenant's usage, part by part, and what its sessions say themselves."""
    noted = world.engine.rows(
        "SELECT part, sessions, messages FROM tenant_usage "
        f"WHERE tenant_id = {home.tenant:d} AND (sessions <> 0 OR messages <> 0)"
    )
    kept = world.engine.rows(
        "SELECT session_id & 15, count(*), CAST(sum(message_count) AS BIGINT) FROM session "
        f"WHERE tenant_id = {home.tenant:d} AND pool_id IS NOT NULL GROUP BY session_id & 15"
    )
    return set(noted), set(kept)


def all_is_counted(world: World, name: str) -> bool:
    """What changes a session changes the count with it, and a foreign id changes neither. `UsageStore` may say anything."""
    if name.startswith("UsageStore."):
        return True
    return all(noted == kept for noted, kept in (counted(world, home) for home in (world.ours, world.theirs)))


def test_every_method_of_every_store_has_a_case() -> None:
    """ISO-4."""
    assert set(CASES) == methods_of_stores()


def test_every_store_is_listed() -> None:
    """A new module of storage with a class over a transaction belongs in `STORES`."""
    found: set[type] = set()
    for module in pkgutil.walk_packages(cloister.storage.__path__, "cloister.storage."):
        loaded = importlib.import_module(module.name)
        for _, kind in inspect.getmembers(loaded, inspect.isclass):
            if kind.__module__ == loaded.__name__ and "transaction" in inspect.signature(kind).parameters:
                found.add(kind)
    assert found == set(STORES)


@pytest.mark.parametrize("name", CASES)
def test_a_store_given_foreign_ids_shows_nothing_and_changes_nothing(world: World, name: str) -> None:
    """ISO-4, ORG-7: tenant ↔ tenant, on every store method."""
    case = CASES[name]
    before = world.engine.dump(world.theirs.tenant)

    def attempt(transaction: Transaction) -> Any:
        return case.act(transaction, world.theirs)

    if case.refusal is not None:
        with pytest.raises(case.refusal) as caught:
            world.database.write(world.ours.reach, attempt)
        assert not foreign(str(caught.value).replace(str(world.theirs.cellar), ""), world.theirs)
    else:
        answer = world.database.write(world.ours.reach, attempt)
        assert case.nothing is ... or answer == case.nothing
        assert foreign(answer, world.theirs) == set()
    assert world.engine.dump(world.theirs.tenant) == before
    assert all_is_counted(world, name)


@pytest.mark.parametrize("name", CASES)
def test_the_same_call_with_our_own_ids_does_something(world: World, name: str) -> None:
    """ORG-7. So that the case above is not empty: the method answers, or changes, what is ours."""
    case = CASES[name]
    theirs, ours = world.engine.dump(world.theirs.tenant), world.engine.dump(world.ours.tenant)
    answers: list[Any] = []
    if name in ("TenantStore.add", "ProjectStore.add"):
        return  # ours is there already; the twin tenants themselves show that both work

    world.database.write(world.ours.reach, lambda transaction: answers.append(case.act(transaction, world.ours)))
    if case.nothing is not ...:
        assert answers[0] != case.nothing
    changed = world.engine.dump(world.ours.tenant) != ours
    assert changed == case.writes
    assert world.engine.dump(world.theirs.tenant) == theirs
    assert all_is_counted(world, name)


def test_a_session_that_is_removed_twice_is_counted_once(world: World) -> None:
    """ORG-7."""
    for _ in range(2):
        world.database.write(world.ours.reach, lambda t: SessionStore(t).remove(world.ours.first.session, messages=2))
    noted, kept = counted(world, world.ours)
    assert noted == kept


def test_a_key_cannot_take_the_id_of_a_foreign_key(world: World) -> None:
    """ISO-4, ORG-8: the foreign key keeps its tenant and its secret. On SQLite nothing is added; on PostgreSQL, where ids are
    those of a tenant, each tenant has a key with this id, and finds its own."""

    def theirs() -> object:
        with world.database.read(world.theirs.reach) as transaction:
            return ApiKeyStore(transaction).find(world.theirs.key)

    before = theirs()
    stolen = replace(new_key(world.ours.tenant, None), id=world.theirs.key)
    added = world.database.write(world.ours.reach, lambda transaction: ApiKeyStore(transaction).add(stolen, b"mine"))
    assert theirs() == before is not None
    assert added == (world.engine.name == "postgres")
    with world.database.read(world.ours.reach) as transaction:
        mine = ApiKeyStore(transaction).find(world.theirs.key)
    assert (None if mine is None else (mine.key, mine.secret_hash)) == ((stolen, b"mine") if added else None)


def test_a_session_and_its_project_and_pool_are_always_of_one_tenant(world: World) -> None:
    """ISO-4: the schema itself refuses a row that points across tenants."""
    ours, theirs = world.ours, world.theirs
    crossings: list[Act] = [
        lambda t, h: SessionStore(t).move(
            ours.first.session, project=theirs.cellar, pool=ours.first.pool, version=9, now=MOMENT
        ),
        lambda t, h: SessionStore(t).move(
            ours.first.session, project=None, pool=theirs.first.pool, version=9, now=MOMENT
        ),
        lambda t, h: SessionStore(t).add(new_session(fresh(ours), "x", theirs.cellar, ours.first.pool)),
        lambda t, h: SessionStore(t).add(new_session(fresh(ours), "x", None, theirs.first.pool)),
        lambda t, h: MessageStore(t).append([(new_message(theirs.first.session, 9), INDEXED)]),
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
            recalled_pool_id=None,
            categories="[]",
            checksum=None,
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


def test_a_tenant_that_does_not_exist_is_an_empty_one(world: World) -> None:
    """There is no reach that means everything: an unknown tenant reads nothing (ISO-4)."""
    for tenant in (0, -1, 1, (1 << 63) - 1):
        nobody = Reach(tenant=tenant)  # pyright: ignore[reportArgumentType]
        with world.database.read(nobody) as transaction:
            assert SessionStore(transaction).page(limit=100) == []
            assert ProjectStore(transaction).page(limit=100) == []
            assert MessageStore(transaction).page(world.ours.first.session, world.ours.first.pool, limit=100) == []
            assert not TenantStore(transaction).exists()


def test_refusals_are_ours(world: World) -> None:
    """A foreign id and a missing one raise the same error with the same words but for the id."""
    missing = new_session_id()
    texts: list[str] = []
    for identity in (message_id(missing, 1), world.theirs.first.messages[0]):
        with pytest.raises(CloisterError) as caught, world.database.read(world.ours.reach) as transaction:
            MessageStore(transaction).session_name(identity)
        texts.append(re.sub(r"msg_[0-9a-f]{16}", "…", str(caught.value)))
    assert texts[0] == texts[1]
