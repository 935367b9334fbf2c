"""Extract memories, entities and observations from a session (MEM-3 to MEM-6), and store all of them or nothing.

The queue is the unchecked messages. A worker claims a session (see `claims`), runs the extractor outside any transaction, and
stores the results in one. If it dies, its claim expires, and the messages are still unchecked; if it lost its claim, it stores
nothing.
"""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from cloister.domain.conversation import Project
from cloister.domain.errors import CloisterError, Conflict, ModelUnavailable, NotFound
from cloister.domain.extraction import NO_GUIDANCE, ExtractedEntity, Guidance, Statement
from cloister.domain.identifiers import MessageId, PoolId, ProjectId, SessionId, new_observation_id
from cloister.domain.memory import normalised
from cloister.domain.observation import Observation
from cloister.domain.project_settings import extraction_guidance, pending_message_count
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.domain.tracing.interface import NO_TRACING, MemorySpan, Tracer
from cloister.models.interface import Extractor
from cloister.services.events.bus import EventBus
from cloister.services.memories.claims import LONGEST_RETRY_MICROSECONDS, Claim, Claims
from cloister.services.memories.entities import Entities
from cloister.services.memories.evidence import (
    common_metadata,
    evidence,
    extracted_entities,
    stated_memories,
    wanted_memories,
)
from cloister.services.memories.memories import Memories, PreparedMemory
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.extraction import ClaimedSession, ExtractionStore
from cloister.storage.stores.memories import KnownMemories, MemoryStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

RECENT_WINDOW = 40
PATIENCE_SECONDS = 10.0
"""How long a caller that requests an extraction waits for a running one to end."""
_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 0.5
_MOST_STATEMENTS = 200
_MOST_KNOWN = 200
_FEWEST_TO_OBSERVE = 12
_FIRST_RETRY_MICROSECONDS = 5 * 1_000_000
_LAST_RETRY_MICROSECONDS = LONGEST_RETRY_MICROSECONDS * 4 // 5  # a random part of up to a quarter is added
_LONGEST_ERROR = 300
_LONGEST_NOTE = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionCounts:
    """How many memories a run added, and how many messages it checked."""

    memories: int
    checked_messages: int


Result = Literal["succeeded", "failed", "lost"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a run ended. `lost`: the session was moved, forgotten or claimed by another worker meanwhile, and nothing was stored. The
    `error` of a failure is noted on the session too."""

    result: Result
    session: SessionId
    counts: ExtractionCounts = ExtractionCounts(memories=0, checked_messages=0)
    error: Exception | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """All that a run reads before it calls the extractor."""

    claimed: ClaimedSession
    claim: Claim
    unchecked: Sequence[Statement]
    known: KnownMemories
    past: Sequence[tuple[MessageId, ProjectId | None]]
    unobserved: Sequence[Statement]
    guidance: Mapping[ProjectId | None, Guidance]
    """What each of the projects in which something was said wants to be extracted (MEM-15)."""


class _LeaseLost(Exception):
    """Another worker claimed the session, or it moved: memories of the old pool must not be used in the new one."""


class Extraction:
    """Thread-safe; claims ensure that a session is extracted by one worker at a time, in whatever process."""

    def __init__(
        self,
        database: Database,
        memories: Memories,
        entities: Entities,
        extractor: Extractor,
        clock: Clock,
        claims: Claims,
        events: EventBus,
        tracer: Tracer = NO_TRACING,
    ) -> None:
        self._events = events
        self._tracer = tracer
        self._database = database
        self._store = memories
        self._entities = entities
        self._extractor = extractor
        self._clock = clock
        self._claims = claims
        self._lock = threading.Lock()
        self._results: Counter[Result] = Counter({"succeeded": 0, "failed": 0, "lost": 0})

    @property
    def results(self) -> Mapping[Result, int]:
        """How the runs of this process ended."""
        return dict(self._results)

    def extract_now(self, reach: Reach, external_id: str) -> ExtractionCounts:
        """Extract one session, whatever its threshold; raises the error of a failure. A confined caller can name sessions of its
        project only, but entities of messages that were said in another project still go there (ISO-6). If a worker has claimed the
        session, as is common just after a reply, this waits for it to end."""
        claim = self._claim_soon(reach, external_id)
        outcome = self.run(replace(claim, reach=Reach(tenant=reach.tenant)))
        if outcome.error is not None:
            raise outcome.error
        if outcome.result == "lost":
            raise Conflict("The session was moved or taken over while it was read. Try again.")
        return outcome.counts

    def _claim_soon(self, reach: Reach, external_id: str) -> Claim:
        """Poll until the session can be claimed; no transaction is open in between."""
        waited, pause = 0.0, _FIRST_PAUSE_SECONDS
        while True:
            with self._database.read(reach) as transaction:
                session = SessionStore(transaction).get(external_id)
            claim = self._claims.claim(reach, session.id)
            if claim is not None:
                return claim
            if waited >= PATIENCE_SECONDS:
                raise Conflict("An extraction of this session is running already. Try again later.")
            time.sleep(pause)
            waited, pause = waited + pause, min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def run(self, claim: Claim) -> Outcome:
        """Extract a claimed session. A failure is noted on the session, to be retried later, and returned, not raised."""
        with self._tracer.memory("upsert_memory", claim.reach.tenant, caused_by=claim.session) as span:
            outcome = self._run(claim, span)
            span.result(outcome.counts.memories, session=claim.session)
            if outcome.error is not None:
                span.fail(outcome.error)
            return outcome

    def _run(self, claim: Claim, span: MemorySpan) -> Outcome:
        try:
            with self._claims.renewing(claim):
                outcome = Outcome(result="succeeded", session=claim.session, counts=self._extract(claim, span))
        except _LeaseLost:
            outcome = Outcome(result="lost", session=claim.session)
        except Exception as error:  # noqa: BLE001 - returned and noted; one failing session must not stop a worker
            outcome = Outcome(result="failed", session=claim.session, error=error)
            with suppress(CloisterError):  # a claim that cannot be released expires
                self._note_failure(claim, _sentence(error))
        except BaseException:  # the process is stopping: another may take the session at once
            self._claims.release(claim)
            raise
        with self._lock:
            self._results[outcome.result] += 1
        return outcome

    def _extract(self, claim: Claim, span: MemorySpan) -> ExtractionCounts:
        """Read, extract and store; no transaction is open while the extractor works."""
        work = self._read(claim)
        span.store(work.claimed.project)
        said = evidence(work.unchecked)
        guidance = work.guidance[work.claimed.project]
        of_pool = _of_pool(said, work.claimed.pool)
        stated = stated_memories(self._extractor, of_pool, work.known.of_session, work.known.of_user, guidance)
        memories = self._store.prepare(wanted_memories(stated, guidance))
        entities: list[tuple[ProjectId, Sequence[ExtractedEntity]]] = []
        for project, said_there in groupby(said, key=lambda one: _project_then(one.id, work)):
            if project is not None:
                _refuse_lost(claim)
                wanted = work.guidance.get(project, NO_GUIDANCE)
                entities.append((project, extracted_entities(self._extractor, list(said_there), wanted, stated)))
        _refuse_lost(claim)
        unobserved = _of_pool(evidence(work.unobserved), work.claimed.pool)
        notes = self._extractor.notes(unobserved) if unobserved else []
        counts = self._database.write(
            claim.reach, lambda transaction: self._keep(transaction, work, memories, entities, notes)
        )
        if counts.memories:
            self._publish(claim)
        return counts

    def _publish(self, claim: Claim) -> None:
        """Tell subscribers that the session has new memories, and its project another count of them."""
        with suppress(CloisterError), self._database.read(claim.reach) as transaction:
            self._events.all_changed(SessionStore(transaction).by_ids([claim.session]))

    def _read(self, claim: Claim) -> _Work:
        session = claim.session
        with self._database.read(claim.reach) as transaction:
            extraction = ExtractionStore(transaction)
            claimed = extraction.claimed(session, claim.number)
            if claimed is None:
                raise _LeaseLost
            unobserved = extraction.unobserved(session, claimed.observed, window=RECENT_WINDOW, limit=_MOST_STATEMENTS)
            past = extraction.past(session)
            return _Work(
                claimed=claimed,
                claim=claim,
                unchecked=extraction.unchecked(session, _MOST_STATEMENTS),
                known=MemoryStore(transaction).known(session, claimed.pool, claimed.user, _MOST_KNOWN, self._clock()),
                past=past,
                guidance=_guidance(ProjectStore(transaction), {claimed.project, *(project for _, project in past)}),
                unobserved=unobserved if len(unobserved) >= _FEWEST_TO_OBSERVE else (),
            )

    def _keep(
        self,
        transaction: Transaction,
        work: _Work,
        memories: Sequence[PreparedMemory],
        entities: Sequence[tuple[ProjectId, Sequence[ExtractedEntity]]],
        notes: Sequence[tuple[str, tuple[MessageId, ...]]],
    ) -> ExtractionCounts:
        """Store memories, entities, notes and flags in one transaction (MEM-6), except those of which a source was deleted
        meanwhile."""
        session = work.claimed.session
        extraction, projects = ExtractionStore(transaction), ProjectStore(transaction)
        # Projects are locked before the session, to avoid deadlock. Their visibility at the commit decides whether entities belong
        # to one user or to all (ISO-10).
        known = _locked(projects, {said_in for said_in, _ in entities})
        observed = extraction.lock(session, work.claim.number)
        if observed is None:
            raise _LeaseLost
        there = extraction.present(session, [one.id for one in (*work.unchecked, *work.unobserved)])
        kept = [entry for entry in memories if _is_whole(entry.extracted.sources, there)]
        labelled = _with_metadata(transaction, work.claimed, kept)
        added = self._store.add_prepared(transaction, session, labelled, "extracted")
        # Messages are marked after the pool is locked, which adding memories does: forgetting locks the pool before it changes
        # messages of other sessions.
        checked = extraction.mark_checked(session, [one.id for one in work.unchecked])
        for said_in, found in entities:
            project = known.get(said_in)
            if project is not None:
                whole = [entity for entity in found if _is_whole(entity.sources, there)]
                self._entities.mention(transaction, project, work.claimed.user, session, whole)
        if observed == work.claimed.observed:
            observed = self._keep_notes(transaction, work, notes, there)
        threshold = pending_message_count(self._settings(projects, work.claimed.project))
        extraction.finish(
            session, work.claim.number, checked=checked, observed=observed, threshold=threshold, now=self._clock()
        )
        return ExtractionCounts(memories=len(added), checked_messages=checked)

    def _keep_notes(
        self,
        transaction: Transaction,
        work: _Work,
        notes: Sequence[tuple[str, tuple[MessageId, ...]]],
        there: set[MessageId],
    ) -> MessageId:
        """Store notes; returns the last observed message. If one of the messages was deleted meanwhile, nothing is stored, and they
        are observed at the next run."""
        if not work.unobserved or not there.issuperset(one.id for one in work.unobserved):
            return work.claimed.observed
        first, last = work.unobserved[0], work.unobserved[-1]
        observations = ObservationStore(transaction)
        said_at = {one.id: one.created_at for one in work.unobserved}
        ids = sorted(new_observation_id() for _ in notes)  # ids order the notes on messages of the same time
        for identity, (content, sources) in zip(ids, notes, strict=True):
            own = tuple(source for source in sources if source in said_at)
            text = normalised(content)[:_LONGEST_NOTE]
            if own and text:
                observation = Observation(
                    id=identity,
                    session=work.claimed.session,
                    content=text,
                    sources=own,
                    said_at=max(said_at[source] for source in own),
                    created_at=self._clock(),
                )
                observations.add(observation, first.id, last.id)
        return last.id

    def _settings(self, projects: ProjectStore, project: ProjectId | None) -> Mapping[str, object]:
        found = None if project is None else projects.find(project)
        return {} if found is None else found.settings

    def _note_failure(self, claim: Claim, error: str) -> None:
        """Note the error on the session, and when to retry: exponential backoff with jitter, up to an hour."""

        def note(transaction: Transaction) -> None:
            extraction = ExtractionStore(transaction)
            failures = extraction.failures(claim.session)
            wait = min(_FIRST_RETRY_MICROSECONDS << min(failures, 20), _LAST_RETRY_MICROSECONDS)
            jitter = secrets.randbelow(max(1, wait // 4))
            extraction.fail(
                claim.session,
                claim.number,
                error=error[:_LONGEST_ERROR],
                retry_at=self._clock() + wait + jitter,
            )

        self._database.write(claim.reach, note)


def _locked(projects: ProjectStore, wanted: Collection[ProjectId]) -> dict[ProjectId, Project]:
    """The projects that still exist, locked in id order to avoid deadlock."""
    found: dict[ProjectId, Project] = {}
    for project in sorted(wanted):
        with suppress(NotFound):  # it was deleted, and its entities are dropped
            found[project] = projects.lock_shared(project)
    return found


def _guidance(projects: ProjectStore, said_in: Collection[ProjectId | None]) -> dict[ProjectId | None, Guidance]:
    found: dict[ProjectId | None, Guidance] = {}
    for project in said_in:
        stored = None if project is None else projects.find(project)
        found[project] = NO_GUIDANCE if stored is None else extraction_guidance(stored.settings)
    return found


def _refuse_lost(claim: Claim) -> None:
    """Do not call the model for results that could not be stored."""
    if claim.lost:
        raise _LeaseLost


def _sentence(error: Exception) -> str:
    """The error as the session shows it. Only the text of `ModelUnavailable` is known not to quote messages."""
    if isinstance(error, ModelUnavailable):
        return str(error)
    if isinstance(error, CloisterError):
        return f"What was extracted could not be kept ({error.code})."
    return f"The extractor failed ({type(error).__name__})."


def _with_metadata(
    transaction: Transaction, claimed: ClaimedSession, prepared: Sequence[PreparedMemory]
) -> list[PreparedMemory]:
    """The memories with the metadata that all their messages have in common, so that a filter that finds the messages finds the
    memories too (MEM-14)."""
    sources = sorted({source for entry in prepared for source in entry.extracted.sources})
    messages = MessageStore(transaction).found(claimed.session, claimed.pool, sources)
    given = {message.id: message.metadata for message in messages if message.metadata}
    if not given:
        return [*prepared]
    return [
        replace(entry, extracted=replace(entry.extracted, metadata=common_metadata(entry.extracted.sources, given)))
        for entry in prepared
    ]


def _is_whole(sources: Sequence[MessageId], there: set[MessageId]) -> bool:
    """Whether all sources still exist. An item without sources could never be deleted with its source, so it is rejected."""
    return bool(sources) and there.issuperset(sources)


def _of_pool(statements: Sequence[Statement], pool: PoolId) -> list[Statement]:
    """The statements without replies that were given text of another pool, because the session was there then: no memory of this
    pool may be based on it (ISO-12). Messages of users count in any case."""
    return [one for one in statements if one.role == "user" or one.recalled_pool in (None, pool)]


def _project_then(message: MessageId, work: _Work) -> ProjectId | None:
    """The project of the session when the message was said; for a reply, when its question was asked."""
    for last, project in work.past:
        if message <= last:
            return project
    return work.claimed.project
