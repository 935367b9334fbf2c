"""Erase a user: everything with their user id, in all projects of the tenant and outside them, in one transaction (ORG-9)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from cloister.domain.conversation import Session
from cloister.domain.erasure import Removal, UserCounts
from cloister.domain.errors import Forbidden
from cloister.domain.identifiers import EntityId, PoolId, ProjectId, SessionId, format_entity_id, format_key_id
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.services.certificates.removed_rows import note_receipts
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.quotations import QuotationRemoval
from cloister.services.events.bus import MOST_AT_ONCE, EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.certificates.removals import TenantRemovalStore
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entries.entries import TenantEntryStore
from cloister.storage.stores.erasure import UserErasureStore
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.sessions import SessionStore

T = TypeVar("T")
_CHUNK = 200


@dataclass(kw_only=True, slots=True)
class _Removal:
    """What was removed so far, and what has to be done at the end. `sessions` are all sessions with their numbers of messages;
    `named` are those for the events, of which there are at most `MOST_AT_ONCE` + 1; `quoting` are sessions of others with
    messages that quoted the user."""

    sessions: list[tuple[SessionId, int]] = field(default_factory=list[tuple[SessionId, int]])
    messages: int = 0
    episodes: int = 0
    memories: int = 0
    observations: int = 0
    entries: int = 0
    files: int = 0
    named: list[Session] = field(default_factory=list[Session])
    projects: set[ProjectId | None] = field(default_factory=set[ProjectId | None])
    pools: set[PoolId] = field(default_factory=set[PoolId])
    quoting: list[Session] = field(default_factory=list[Session])
    entities_left: set[EntityId] = field(default_factory=set[EntityId])
    entities_gone: set[EntityId] = field(default_factory=set[EntityId])
    rows: Removal = field(default_factory=Removal)


class UserErasure:
    """Erases users. An unknown user id is no error: the counts are zero."""

    def __init__(
        self, database: Database, forgetting: Forgetting, entities: EntityIndexing, generation: int, events: EventBus
    ) -> None:
        self._database = database
        self._forgetting = forgetting
        self._entities = entities
        self._generation = generation
        self._events = events

    def preview(self, reach: Reach, user_id: str) -> UserCounts:
        """What erasing the user would remove. Nothing is changed."""
        _check(reach, user_id)
        with self._database.read(reach) as transaction:
            return UserErasureStore(transaction, user_id).counts()

    def erase(self, reach: Reach, user_id: str) -> UserCounts:
        """Remove the user's sessions with all that derives from them, the user's parts of private projects, and the keys that are
        bound to the user. A session of the user that is created meanwhile is created after the commit."""
        _check(reach, user_id)
        removed = self._database.write(reach, lambda transaction: self._remove(transaction, user_id))
        self._events.erased(reach.tenant, removed.named, removed.projects)
        self._events.all_changed(removed.quoting)
        self._forgetting.clean_up()
        return UserCounts(
            sessions=len(removed.sessions),
            messages=removed.messages,
            episodes=removed.episodes,
            memories=removed.memories,
            observations=removed.observations,
            entities=len(removed.entities_gone),
            entries=removed.entries,
            files=removed.files,
            removal=removed.rows,
        )

    def _remove(self, transaction: Transaction, user_id: str) -> _Removal:
        """Locks sessions, then pools, in the order of recording and moving, to avoid deadlock. The session rows are removed last,
        because that locks the tenant's usage row, for which every recording waits."""
        removed = _Removal(rows=Removal(user=user_id))
        rows = UserErasureStore(transaction, user_id)
        sessions, pools = rows.lock_sessions(), rows.lock_pools()
        quotations = QuotationRemoval(transaction, self._generation)
        for ids in _chunks(sessions):
            for session in rows.sessions(ids):
                self._remove_contents(transaction, session, quotations, removed)
        removed.quoting = quotations.apply()
        self._remove_entities(transaction, rows, removed)
        for pool in sorted(removed.pools):
            PoolStore(transaction, self._generation).note_departure(pool)
        for session, messages in removed.sessions:
            IdempotencyStore(transaction).forget_session(session)
            SessionStore(transaction).remove(session, messages=messages)
        rows.remove_pools(pools)
        entries = TenantRemovalStore(transaction).entries(user_id)
        removed.entries = TenantEntryStore(transaction).remove_of_user(user_id)
        removed.rows.name("entries", entries, removed.entries)
        note_receipts(removed.rows, TenantRemovalStore(transaction).receipts(user_id))
        ReceiptStore(transaction).remove_of_user(user_id)
        keys = rows.remove_keys()
        removed.rows.name("api_keys", list(map(format_key_id, keys)))
        for key in keys:
            IdempotencyStore(transaction).forget_key(key)
        return removed

    def _remove_contents(
        self, transaction: Transaction, session: Session, quotations: QuotationRemoval, removed: _Removal
    ) -> None:
        forgotten, entities = self._forgetting.remove_contents(
            transaction, session, quotations, removed.rows, is_deleted=True
        )
        removed.sessions.append((session.id, forgotten.messages))
        removed.messages += forgotten.messages
        removed.episodes += forgotten.episodes
        removed.memories += forgotten.memories
        removed.observations += forgotten.observations
        removed.files += forgotten.files
        removed.pools.add(session.pool)
        removed.projects.add(session.project)
        removed.entities_left.update(entities.left)
        removed.entities_gone.update(entities.gone)
        if len(removed.named) <= MOST_AT_ONCE:
            removed.named.append(session)

    def _remove_entities(self, transaction: Transaction, rows: UserErasureStore, removed: _Removal) -> None:
        """Remove the entities in the user's parts that sessions of others still mention, because they were retagged; then index
        each entity that is left once, however many of the sessions mentioned it."""
        entities = EntityStore(transaction)
        for own in _chunks(rows.entities()):
            stored = entities.lock(own)
            for project in rows.remove_entities(stored):
                entities.note_change(project)
            named = [format_entity_id(one) for one in stored if one not in removed.entities_gone]
            removed.rows.name("entities", named)
            removed.rows.entities.extend(stored)
            removed.entities_gone.update(stored)
        for gone in _chunks(sorted(removed.entities_gone)):
            self._entities.index_again(transaction, (), gone=gone)
        for left in _chunks(sorted(removed.entities_left - removed.entities_gone)):
            self._entities.index_again(transaction, left)


def _check(reach: Reach, user_id: str) -> None:
    checked_name(user_id, "user_id")
    if not reach.is_whole_tenant:
        bound = "confined to its project" if reach.user is None else "bound to one user"
        raise Forbidden(f"This key is {bound}: it cannot erase a user in all projects.")


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for begin in range(0, len(items), _CHUNK):
        yield items[begin : begin + _CHUNK]
