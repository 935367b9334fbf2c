"""Forget what is older than a project or its tenant keeps (MEM-18), a batch of one session in each transaction.

A worker goes over all sessions with something too old; a call does so for one project or one tenant. Either may be interrupted
between two transactions: whoever comes next goes on with what is still there.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from cloister.domain.conversation import Session
from cloister.domain.erasure import Removal
from cloister.domain.errors import Forbidden, NotFound
from cloister.domain.identifiers import MemoryId, MessageId, ProjectId, ReceiptId, SessionId, TenantId, format_tenant_id
from cloister.domain.project_settings import checked_retention_days, retention_days, stricter
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.certificates.removed_rows import (
    note_memories,
    note_messages,
    note_observations,
    note_receipts,
    remove_old_rows,
)
from cloister.services.conversations.forget import Forgetting, RemovedMessages
from cloister.services.conversations.quotations import QuotationRemoval
from cloister.services.events.bus import EventBus
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.erasure import OldCounts, RetentionStore, SessionAge
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

DAY_MICROSECONDS = 86_400 * 1_000_000
MOST_MESSAGES_A_CALL = 20_000
"""How many messages and memories one call of `Retention.apply` forgets at most, to the next full batch."""
# One transaction keeps other writers of a SQLite database waiting.
_BATCH = 50
_PAGE = 200
_COUNTED = ("messages", "memories", "observations", "files", "entities", "receipts")
NOTHING_OLD = OldCounts(sessions=0, messages=0, memories=0, observations=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgedSession:
    """A session that may have something too old."""

    reach: Reach
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Retained:
    """How much was forgotten, and which rows. Not `complete`: one call does not forget more, and there may be more."""

    counts: OldCounts
    complete: bool
    removal: Removal = field(default_factory=Removal, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
    """What one transaction forgot, the sessions that changed, and whether the session has nothing more that is too old."""

    counts: OldCounts
    changed: tuple[Session, ...]
    done: bool
    removal: Removal


class Retention:
    """Thread-safe; several processes may forget at once, because each transaction locks its session and looks again."""

    def __init__(
        self, database: Database, forgetting: Forgetting, generation: int, clock: Clock, events: EventBus
    ) -> None:
        self._database = database
        self._forgetting = forgetting
        self._generation = generation
        self._clock = clock
        self._events = events
        self._lock = threading.Lock()
        self._forgotten: Counter[str] = Counter(dict.fromkeys(_COUNTED, 0))

    @property
    def forgotten(self) -> Mapping[str, int]:
        """How much this process forgot because of its age, by kind."""
        with self._lock:
            return dict(self._forgotten)

    def of_tenant(self, reach: Reach) -> int | None:
        """After how many days the tenant forgets; None if it keeps everything."""
        _refuse_narrow(reach)
        with self._database.read(reach) as transaction:
            return RetentionStore(transaction).of_tenant()

    def set_of_tenant(self, reach: Reach, days: int | None) -> int | None:
        """Set after how many days the tenant forgets, in all projects and outside them; 0 and None keep everything."""
        _refuse_narrow(reach)
        checked = checked_retention_days(days, "retention_days")

        def work(transaction: Transaction) -> None:
            if not RetentionStore(transaction).set_of_tenant(checked):
                raise NotFound("tenant", format_tenant_id(reach.tenant))

        self._database.write(reach, work)
        return checked

    def preview(self, reach: Reach, project: ProjectId | None = None, *, days: int | None = None) -> OldCounts:
        """Count what is too old in one project, or in all projects and outside them. With `days` as if the project, or the tenant,
        kept so many days; the stricter setting still applies. Nothing is changed."""
        _refuse_narrow(reach, project)
        wanted = None if days is None else checked_retention_days(days, "retention_days")
        now, counts = self._clock(), NOTHING_OLD
        with self._database.read(reach) as transaction:
            store = RetentionStore(transaction)
            rules = dict(self._rules(transaction, project, wanted, is_given=days is not None))
            for each, kept in rules.items():
                counts += store.counts(each, _before(now, kept))
            if rules:
                kept = rules.get(project)
                before = None if kept is None else _before(now, kept)
                counts += replace(NOTHING_OLD, entities=store.entities(project, before, now))
        return counts

    def apply(self, reach: Reach, project: ProjectId | None = None) -> Retained:
        """Forget what is too old in one project, or in all projects and outside them, but not more than one call should."""
        _refuse_narrow(reach, project)
        counts, removal = NOTHING_OLD, Removal()
        try:
            counts += self._forget_searches(reach, project, removal)
            for aged in self._sessions(reach, project):
                was_counted = False
                for batch in self.batches(aged, removal):
                    counts += replace(batch, sessions=0) if was_counted else batch
                    was_counted = was_counted or batch.sessions > 0
                    if counts.messages + counts.memories >= MOST_MESSAGES_A_CALL:
                        return Retained(counts=counts, complete=False, removal=removal)
            return Retained(counts=counts, complete=True, removal=removal)
        finally:
            if counts != NOTHING_OLD:
                self._forgetting.clean_up()

    def due(self) -> Iterator[AgedSession]:
        """The sessions of all tenants that may have something too old."""
        for reach in self._tenants():
            yield from self._sessions(reach, None)

    def searches(self) -> OldCounts:
        """Forget the receipts of all tenants' searches that belong to no session and are too old."""
        return sum((self._forget_searches(reach, None, Removal()) for reach in self._tenants()), NOTHING_OLD)

    def batches(self, aged: AgedSession, removal: Removal | None = None) -> Iterator[OldCounts]:
        """Forget what is too old in a session, a transaction for each item; what was forgotten in it is yielded after its commit,
        and added to `removal` row by row. In the transaction the session's project and the settings are read again: it may have
        moved, or they may have changed."""
        done = False
        while not done:
            try:
                batch = self._database.write(aged.reach, lambda transaction: self._forget_some(transaction, aged.name))
            except NotFound:  # it was deleted meanwhile
                return
            self._events.all_changed(batch.changed)
            self._count(batch.counts)
            if removal is not None:
                removal.add(batch.removal)
            done = batch.done
            if batch.counts != NOTHING_OLD:
                yield batch.counts

    def clean_up(self) -> None:
        """After batches: remove what is left of the forgotten text in the engine's own files and in an external index."""
        self._forgetting.clean_up()

    def _tenants(self) -> list[Reach]:
        rows = self._database.maintenance.rows("tenants_with_retention")
        return [Reach(tenant=TenantId(cast(int, tenant))) for (tenant,) in rows]

    def _forget_searches(self, reach: Reach, project: ProjectId | None, removal: Removal) -> OldCounts:
        """Forget the receipts of searches that belong to no session, a batch in each transaction. The settings are read again in
        each: they may have changed."""
        counts, is_done = NOTHING_OLD, False
        while not is_done:
            receipts = self._database.write(reach, lambda transaction: self._forget_some_searches(transaction, project))
            note_receipts(removal, receipts)
            forgotten = OldCounts(sessions=0, messages=0, memories=0, observations=0, receipts=len(receipts))
            self._count(forgotten)
            counts += forgotten
            is_done = not receipts
        return counts

    def _forget_some_searches(self, transaction: Transaction, project: ProjectId | None) -> list[ReceiptId]:
        now, store = self._clock(), RetentionStore(transaction)
        for each, days in self._rules(transaction, project):
            receipts = store.searches(each, _before(now, days), _PAGE)
            if receipts:
                store.remove_searches(receipts)
                return receipts
        return []

    def _sessions(self, reach: Reach, project: ProjectId | None) -> Iterator[AgedSession]:
        """The sessions with something too old. Notes the age of those that were not looked at since messages were added."""
        with self._database.read(reach) as transaction:
            rules = list(self._rules(transaction, project))
        now = self._clock()
        for each, days in rules:
            before, after = _before(now, days), SessionId(0)
            while True:
                with self._database.read(reach) as transaction:
                    found = RetentionStore(transaction).sessions(each, before, after=after, limit=_PAGE)
                self._note_ages(reach, [age for age in found if age.known_sequence < age.next_sequence])
                for age in found:
                    after = age.id
                    if age.has_older_than(before):
                        yield AgedSession(reach=reach, name=age.name)
                if len(found) < _PAGE:
                    break

    def _note_ages(self, reach: Reach, ages: list[SessionAge]) -> None:
        if ages:
            self._database.write(reach, lambda transaction: RetentionStore(transaction).note_ages(ages))

    def _rules(
        self, transaction: Transaction, project: ProjectId | None, wanted: int | None = None, *, is_given: bool = False
    ) -> Iterator[tuple[ProjectId | None, int]]:
        """The projects that forget, and None for the shared pool, each with the days that apply: of one project, or of all."""
        store = RetentionStore(transaction)
        of_tenant = wanted if is_given and project is None else store.of_tenant()
        if project is not None:
            stored = ProjectStore(transaction).get(project)
            own = wanted if is_given else retention_days(stored.settings)
            found: list[tuple[ProjectId | None, int | None]] = [(project, own)]
        else:
            found = [*store.of_projects(), (None, None)]
        for each, own in found:
            days = stricter(of_tenant, own)
            if days is not None:
                yield each, days

    def _forget_some(self, transaction: Transaction, name: str) -> _Batch:
        locked = SessionStore(transaction).lock(name)
        days = _days_of(transaction, locked.session)
        if days is None:
            return _Batch(counts=NOTHING_OLD, changed=(), done=True, removal=Removal())
        before, store = _before(self._clock(), days), RetentionStore(transaction)
        messages = store.messages(locked.session.id, before, _BATCH)
        memories = store.memories(locked.session.id, before, _BATCH)
        batch = self._remove(transaction, locked.session, messages, memories)
        if batch.done:
            store.note_oldest(locked)
        old = remove_old_rows(transaction, locked.session, before, batch.removal)
        return replace(batch, counts=replace(batch.counts, files=old.files, receipts=old.receipts))

    def _remove(
        self, transaction: Transaction, session: Session, messages: list[MessageId], memories: list[MemoryId]
    ) -> _Batch:
        """Remove messages, memories and the observations that cover the messages, in the way in which a message is forgotten."""
        store, done = RetentionStore(transaction), len(messages) < _BATCH and len(memories) < _BATCH
        removal = Removal()
        if not messages and not memories:
            return _Batch(counts=NOTHING_OLD, changed=(), done=done, removal=removal)
        observations = store.observations(session.id, messages)
        quotations = QuotationRemoval(transaction, self._generation)
        quotations.add_messages(session, messages, observations.values())
        for memory in memories:
            quotations.add_memory(session, memory)
        note_memories(removal, memories)
        forgotten = self._forgetting.remove_memories(transaction, session, memories)
        if memories:
            IdempotencyStore(transaction).forget_memories(session.id)
        gone = RemovedMessages(messages=0, memories=0)
        if messages:
            entities = note_messages(transaction, session, messages, removal)
            note_observations(removal, sorted(observations))
            gone = self._forgetting.remove_messages(transaction, session, messages)
            entities.gone(removal, gone.entities)
        counts = OldCounts(
            sessions=int(gone.messages > 0),
            messages=gone.messages,
            memories=forgotten + gone.memories,
            observations=store.remove_observations(session.id, observations),
            entities=gone.ended_entities,
        )
        quoting = (one for one in quotations.apply() if one.id != session.id)
        return _Batch(counts=counts, changed=(session, *quoting), done=done, removal=removal)

    def _count(self, counts: OldCounts) -> None:
        with self._lock:
            for kind in self._forgotten:
                self._forgotten[kind] += getattr(counts, kind)


def _days_of(transaction: Transaction, session: Session) -> int | None:
    """The days that apply to a session now."""
    project = None if session.project is None else ProjectStore(transaction).find(session.project)
    own = None if project is None else retention_days(project.settings)
    return stricter(RetentionStore(transaction).of_tenant(), own)


def _before(now: int, days: int) -> int:
    """What was said before this time is too old."""
    return now - days * DAY_MICROSECONDS


def _refuse_narrow(reach: Reach, project: ProjectId | None = None) -> None:
    """What is old is forgotten for all users; and only who reaches all projects may do what concerns them all."""
    if reach.user is not None:
        raise Forbidden("This key is bound to one user: it cannot do what concerns other users too.")
    if project is None and reach.confined_to is not None:
        raise Forbidden("This key is confined to its project: it cannot do what concerns the whole tenant.")
