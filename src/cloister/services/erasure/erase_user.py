"""Erase a user: everything with their user id, in all projects of the tenant and outside them, in one transaction (ORG-9)."""

from cloister.domain.erasure import Removal, UserCounts
from cloister.domain.errors import Forbidden
from cloister.domain.identifiers import format_entity_id, format_key_id
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.services.certificates.rehearsal import run
from cloister.services.certificates.removed_rows import note_receipts
from cloister.services.conversations.forget import Forgetting
from cloister.services.erasure.sessions_removal import RemovedSessions, SessionsRemoval, chunks
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.certificates.removals import TenantRemovalStore
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entries.entries import TenantEntryStore
from cloister.storage.stores.erasure import UserErasureStore
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.receipts.receipts import ReceiptStore


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

    def erase(self, reach: Reach, user_id: str, *, dry_run: bool = False) -> UserCounts:
        """Remove the user's sessions with all that derives from them, the user's parts of private projects, and the keys that are
        bound to the user. A session of the user that is created meanwhile is created after the commit. With `dry_run` the
        transaction is rolled back."""
        _check(reach, user_id)
        removed = run(self._database, reach, lambda transaction: self._remove(transaction, user_id), dry_run=dry_run)
        if not dry_run:
            self._events.erased(reach.tenant, removed.named, removed.projects)
            self._events.all_changed(removed.quoting)
            self._forgetting.clean_up()
        return removed.counts()

    def _remove(self, transaction: Transaction, user_id: str) -> RemovedSessions:
        """Locks sessions, then pools, in the order of recording and moving, to avoid deadlock."""
        removal = SessionsRemoval(
            transaction, self._forgetting, self._entities, self._generation, Removal(user=user_id)
        )
        removed, rows = removal.removed, UserErasureStore(transaction, user_id)
        sessions, pools = rows.lock_sessions(), rows.lock_pools()
        for ids in chunks(sessions):
            for session in rows.sessions(ids):
                removal.remove_contents(session)
        removal.remove_quotations()
        self._remove_entities(transaction, rows, removed)
        removal.index_entities()
        for pool in sorted(removed.pools):
            PoolStore(transaction, self._generation).note_departure(pool)
        removal.remove_sessions()
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

    def _remove_entities(self, transaction: Transaction, rows: UserErasureStore, removed: RemovedSessions) -> None:
        """Remove the entities in the user's parts that sessions of others still mention, because they were retagged."""
        entities = EntityStore(transaction)
        for own in chunks(rows.entities()):
            stored = entities.lock(own)
            for project in rows.remove_entities(stored):
                entities.note_change(project)
            named = [format_entity_id(one) for one in stored if one not in removed.entities_gone]
            removed.rows.name("entities", named)
            removed.rows.entities.extend(stored)
            removed.entities_gone.update(stored)


def _check(reach: Reach, user_id: str) -> None:
    checked_name(user_id, "user_id")
    if not reach.is_whole_tenant:
        bound = "confined to its project" if reach.user is None else "bound to one user"
        raise Forbidden(f"This key is {bound}: it cannot erase a user in all projects.")
