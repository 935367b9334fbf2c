"""Extraction (MEM-3 to MEM-6): claim a session, ask outside any transaction, keep everything or nothing.

The queue is the unchecked messages; a lease marks who is at it. A worker that dies leaves a lease that runs out, and messages that
are still unchecked. A worker that is too slow finds its lease lost, and keeps nothing.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

from cloister.domain.errors import Conflict, ModelUnavailable
from cloister.domain.extraction import ExtractedEntity, Statement
from cloister.domain.identifiers import MessageId, ProjectId, SessionId, TenantId, new_observation_id
from cloister.domain.memory import normalised, without_recalled
from cloister.domain.moments import Clock
from cloister.domain.observation import Observation
from cloister.domain.project_settings import pending_message_count
from cloister.domain.scope import Reach
from cloister.models.interface import Extractor
from cloister.services.entities import EntityKeeper
from cloister.services.remember import PreparedMemory, Rememberer
from cloister.storage.extraction import Claimed, Extraction
from cloister.storage.interface import Database, Transaction
from cloister.storage.memories import Memories
from cloister.storage.observations import Observations
from cloister.storage.organisation import Projects
from cloister.storage.sessions import Sessions

LEASE_MICROSECONDS = 10 * 60 * 1_000_000
RECENT_WINDOW = 40
_MOST_STATEMENTS = 200
_MOST_KNOWN = 200
_FEWEST_TO_OBSERVE = 12
_FIRST_RETRY_MICROSECONDS = 5 * 1_000_000
_LAST_RETRY_MICROSECONDS = 3_600 * 1_000_000
_LONGEST_ERROR = 300
_LONGEST_NOTE = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Extracted:
    """What one run did."""

    memories: int
    checked_messages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """All that a run reads before it asks, and all that it was told."""

    claimed: Claimed
    claim: int
    unchecked: Sequence[Statement]
    known: Sequence[str]
    past: Sequence[tuple[MessageId, ProjectId | None]]
    unobserved: Sequence[Statement]


class _LeaseLost(Exception):
    """Another worker took the session over."""


class MemoryWorker:
    """Any number of these, in any number of processes, never extract one session at once."""

    def __init__(
        self, database: Database, rememberer: Rememberer, entities: EntityKeeper, extractor: Extractor, clock: Clock
    ) -> None:
        self._database = database
        self._rememberer = rememberer
        self._entities = entities
        self._extractor = extractor
        self._clock = clock

    def waiting(self) -> int:
        """How many sessions are due."""
        return cast(int, self._database.maintenance.rows("count_due", now=self._clock())[0][0])

    def failing(self) -> int:
        return cast(int, self._database.maintenance.rows("count_failing")[0][0])

    def run_due(self, limit: int = 16) -> int:
        """Work through sessions that are due; returns how many this worker did, with or without success."""
        done = 0
        due = self._database.maintenance.rows("due_sessions", now=self._clock(), limit=limit)
        for tenant, session in cast(list[tuple[int, int]], due):
            done += self._run_claimed(Reach(tenant=TenantId(tenant)), SessionId(session)) is not None
        return done

    def extract_now(self, reach: Reach, external_id: str) -> Extracted:
        """One session, whatever its threshold; raises what went wrong, which the session shows too."""
        with self._database.read(reach) as transaction:
            session = Sessions(transaction).get(external_id)
        work = self._claim(reach, session.id)
        if work is None:
            raise Conflict("An extraction of this session is running already.")
        return self._perform(reach, work)

    def _run_claimed(self, reach: Reach, session: SessionId) -> Extracted | None:
        """None where another worker was faster. A failure is noted on the session, and retried later."""
        work = self._claim(reach, session)
        if work is None:
            return None
        try:
            return self._perform(reach, work)
        except ModelUnavailable:
            return Extracted(memories=0, checked_messages=0)

    def _claim(self, reach: Reach, session: SessionId) -> _Work | None:
        claim = secrets.randbits(62) + 1

        def work(transaction: Transaction) -> _Work | None:
            extraction = Extraction(transaction)
            now = self._clock()
            claimed = extraction.claim(session, claim, now=now, until=now + LEASE_MICROSECONDS)
            if claimed is None:
                return None
            unobserved = extraction.unobserved(session, claimed.observed, window=RECENT_WINDOW, limit=_MOST_STATEMENTS)
            return _Work(
                claimed=claimed,
                claim=claim,
                unchecked=extraction.unchecked(session, _MOST_STATEMENTS),
                known=Memories(transaction).known(session, claimed.pool, claimed.user, _MOST_KNOWN),
                past=extraction.past(session),
                unobserved=unobserved if len(unobserved) >= _FEWEST_TO_OBSERVE else (),
            )

        return self._database.write(reach, work)

    def _perform(self, reach: Reach, work: _Work) -> Extracted:
        """No transaction is open while the extractor thinks."""
        try:
            evidence = _evidence(work.unchecked)
            memories = self._rememberer.prepare(self._extractor.memories(evidence, work.known)) if evidence else []
            entities = [
                (project, self._extractor.entities(list(said)))
                for project, said in groupby(evidence, key=lambda one: _project_then(one.id, work))
                if project is not None
            ]
            notes = self._extractor.notes(_evidence(work.unobserved)) if work.unobserved else []
        except ModelUnavailable as error:
            self._note_failure(reach, work, str(error))
            raise
        except BaseException as error:
            self._note_failure(reach, work, f"The extractor failed ({type(error).__name__}).")
            raise
        try:
            return self._database.write(
                reach, lambda transaction: self._keep(transaction, work, memories, entities, notes)
            )
        except _LeaseLost:
            return Extracted(memories=0, checked_messages=0)

    def _keep(
        self,
        transaction: Transaction,
        work: _Work,
        memories: Sequence[PreparedMemory],
        entities: Sequence[tuple[ProjectId, Sequence[ExtractedEntity]]],
        notes: Sequence[tuple[str, tuple[MessageId, ...]]],
    ) -> Extracted:
        """Memories, entities, notes and flags in one transaction (MEM-6). What lost a source meanwhile is left out."""
        session = work.claimed.session
        extraction = Extraction(transaction)
        checked = extraction.mark_checked(session, [one.id for one in work.unchecked])
        there = extraction.present(session, [one.id for one in (*work.unchecked, *work.unobserved)])
        kept = [entry for entry in memories if there.issuperset(entry.extracted.sources)]
        added = self._rememberer.append_prepared(transaction, session, kept)
        for project, found in entities:
            self._entities.mention(
                transaction, project, session, [entity for entity in found if there.issuperset(entity.sources)]
            )
        observed = self._keep_notes(transaction, work, notes, there)
        threshold = pending_message_count(self._settings(transaction, session))
        if not extraction.finish(
            session, work.claim, checked=checked, observed=observed, threshold=threshold, now=self._clock()
        ):
            raise _LeaseLost
        return Extracted(memories=len(added), checked_messages=checked)

    def _keep_notes(
        self,
        transaction: Transaction,
        work: _Work,
        notes: Sequence[tuple[str, tuple[MessageId, ...]]],
        there: set[MessageId],
    ) -> int:
        """Where a message of the stretch went meanwhile, it is observed again another time."""
        if not work.unobserved or not there.issuperset(one.id for one in work.unobserved):
            return 0
        first, last = work.unobserved[0], work.unobserved[-1]
        observations = Observations(transaction)
        said_at = {one.id: one.created_at for one in work.unobserved}
        for content, sources in notes:
            own = tuple(source for source in sources if source in said_at)
            text = normalised(content)[:_LONGEST_NOTE]
            if own and text:
                observation = Observation(
                    id=new_observation_id(),
                    session=work.claimed.session,
                    content=text,
                    sources=own,
                    said_at=max(said_at[source] for source in own),
                    created_at=self._clock(),
                )
                observations.add(observation, first.id, last.id)
        return last.id

    def _settings(self, transaction: Transaction, session: SessionId) -> dict[str, object]:
        project = Extraction(transaction).project(session)
        found = None if project is None else Projects(transaction).find(project)
        return {} if found is None else dict(found.settings)

    def _note_failure(self, reach: Reach, work: _Work, error: str) -> None:
        """Nothing else changes; the next try is later with every failure, up to an hour."""

        def note(transaction: Transaction) -> None:
            extraction = Extraction(transaction)
            failures = extraction.failures(work.claimed.session)
            wait = min(_FIRST_RETRY_MICROSECONDS << min(failures, 20), _LAST_RETRY_MICROSECONDS)
            jitter = secrets.randbelow(max(1, wait // 4))
            extraction.fail(
                work.claimed.session,
                work.claim,
                error=error[:_LONGEST_ERROR],
                retry_at=self._clock() + wait + jitter,
            )

        self._database.write(reach, note)


def _evidence(statements: Sequence[Statement]) -> list[Statement]:
    """Without what was recalled and came back (MEM-10)."""
    own = (replace(one, content=without_recalled(one.content)) for one in statements)
    return [one for one in own if one.content]


def _project_then(message: MessageId, work: _Work) -> ProjectId | None:
    """The project the session was in when this was said."""
    for last, project in work.past:
        if message <= last:
            return project
    return work.claimed.project
