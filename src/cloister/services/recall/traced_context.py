"""The context builder with a span for each context: a search of memory, by the names of the conventions."""

from cloister.domain.context import Context
from cloister.domain.identifiers import format_memory_id, format_message_id
from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.domain.tracing.interface import MemorySpan, TracedRecord, Tracer
from cloister.services.recall.build_context import ContextBuilder, ContextRequest
from cloister.services.recall.profile import Profiles
from cloister.services.recall.recall import Recall
from cloister.storage.interface import Database


class TracedContextBuilder(ContextBuilder):
    """Builds the contexts of an installation with or without tracing."""

    def __init__(
        self,
        database: Database,
        recall: Recall,
        generation: int,
        clock: Clock,
        profiles: Profiles,
        *,
        tracer: Tracer,
    ) -> None:
        super().__init__(database, recall, generation, clock, profiles)
        self._tracer = tracer

    def build(self, reach: Reach, external_id: str, request: ContextRequest) -> Context:
        with self._tracer.memory("search_memory", reach.tenant, question=request.question) as span:
            context = super().build(reach, external_id, request)
            _note(span, context)
            return context

    def build_for_scope(self, reach: Reach, scope: Scope, request: ContextRequest) -> Context:
        with self._tracer.memory("search_memory", reach.tenant, question=request.question) as span:
            context = super().build_for_scope(reach, scope, request)
            _note(span, context)
            return context


def _note(span: MemorySpan, context: Context) -> None:
    """Note what was recalled; the current conversation was not."""
    items, memories = context.relevant_history, context.derived.memories
    span.store(context.project)
    span.result(
        len(items) + len(memories),
        records=lambda: [
            *(TracedRecord(format_message_id(item.message.id), item.message.content, item.score) for item in items),
            *(TracedRecord(format_memory_id(stored.memory.id), stored.memory.content) for stored in memories),
        ],
    )
