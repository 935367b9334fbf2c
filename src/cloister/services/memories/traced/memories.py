"""Memories with a span for each call that adds or forgets some. Those that an extraction adds are in the span of the extraction."""

from collections.abc import Collection, Sequence

from cloister.domain.erasure import Removal
from cloister.domain.identifiers import MemoryId, format_memory_id
from cloister.domain.scope import Reach
from cloister.domain.sessions.expected import ANY_SESSION, ExpectedSession
from cloister.domain.timestamps import Clock
from cloister.domain.tracing.interface import MemorySpan, TracedRecord, Tracer
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.memories import MemoryIndexing
from cloister.services.memories.memories import Memories
from cloister.services.memories.truth.additions import NO_LABELS, MemoryAdditions, MemoryLabels
from cloister.services.memories.truth.manual_facts import ManualFacts
from cloister.storage.interface import Database


class TracedMemories(Memories):
    """The memories of an installation with or without tracing."""

    def __init__(
        self,
        database: Database,
        indexing: MemoryIndexing,
        generation: int,
        clock: Clock,
        events: EventBus,
        entities: EntityIndexing,
        manual: ManualFacts,
        tracer: Tracer,
    ) -> None:
        super().__init__(database, indexing, generation, clock, events, entities, manual)
        self._tracer = tracer

    def add(
        self,
        reach: Reach,
        external_id: str,
        contents: Sequence[str],
        *,
        idempotency_key: str | None = None,
        labels: MemoryLabels = NO_LABELS,
        valid_from: int | None = None,
        by_assistant: Collection[int] = (),
        expected: ExpectedSession = ANY_SESSION,
    ) -> MemoryAdditions:
        with self._tracer.memory("create_memory", reach.tenant) as span:
            additions = super().add(
                reach,
                external_id,
                contents,
                idempotency_key=idempotency_key,
                labels=labels,
                valid_from=valid_from,
                by_assistant=by_assistant,
                expected=expected,
            )
            _note_added(span, additions)
            return additions

    def forget(self, reach: Reach, memory: MemoryId, *, dry_run: bool = False) -> Removal:
        with self._tracer.memory("delete_memory", reach.tenant) as span:
            removal = super().forget(reach, memory, dry_run=dry_run)
            _note_forgotten(span, [] if dry_run else [removal], record_id=format_memory_id(memory))
            return removal

    def forget_each(self, reach: Reach, memories: Sequence[MemoryId]) -> list[Removal]:
        with self._tracer.memory("delete_memory", reach.tenant) as span:
            removals = super().forget_each(reach, memories)
            only = format_memory_id(memories[0]) if len(memories) == 1 else None
            _note_forgotten(span, removals, record_id=only)
            return removals


def _note_added(span: MemorySpan, additions: MemoryAdditions) -> None:
    """By the conventions the count is of all that were to be added, and so also of duplicates. The session is left out: the next
    extraction is linked to what recorded messages, not to this."""
    added = additions.memories
    if added:
        span.store(added[0].project)
    span.result(
        len(added) + additions.duplicates,
        records=lambda: [TracedRecord(format_memory_id(one.memory.id), one.memory.content) for one in added],
    )


def _note_forgotten(span: MemorySpan, removals: Sequence[Removal], *, record_id: str | None) -> None:
    """Count the memories with their copies. The project is that of their texts, if it is one."""
    projects = {text.scope.project for removal in removals for text in removal.texts}
    if len(projects) == 1:
        span.store(projects.pop())
    span.result(sum(len(removal.memories) for removal in removals), record_id=record_id)
