"""What a reply without a model quotes: only what is strong unless the request sets a floor, from this conversation too, and each
fact once.

The reply, the announced context and the receipt then have the same items, because all three are made of the same context."""

from dataclasses import replace

from cloister.domain.context import Context, Derived, Item
from cloister.domain.identifiers import MessageId
from cloister.domain.recall.relevance import STRONG
from cloister.services.recall.context_request import ContextRequest
from cloister.services.recall.repetition import is_question

MOST_QUOTED = 8


def quoting_request(request: ContextRequest, asked: frozenset[MessageId]) -> ContextRequest:
    """The request of a context that is quoted: without a current conversation, so that the messages of this session can be found
    like all others, but not the question itself. What a client's own prompt has is not read by anybody, so it is recalled too."""
    return replace(
        request,
        recent_limit=0,
        lowest_floor=STRONG,
        known=frozenset(),
        without=request.without | asked,
        profile_tokens=0,
    )


def quotable(context: Context) -> Context:
    """The items that are quoted, at most `MOST_QUOTED`: messages, those that only ask after those that say something, then memories
    that say more than the messages before them, then entities. Pinned memories and notes are left out unless they match."""
    derived, floor = context.derived, STRONG if context.terms is None else context.terms.floor
    history = sorted(context.relevant_history, key=_asks)[:MOST_QUOTED]
    quoted = {item.message.id for item in history}
    memories = [
        stored
        for stored in derived.memories
        if derived.memory_relevance.get(stored.memory.id, 0.0) >= floor
        and not (stored.memory.sources and quoted.issuperset(stored.memory.sources))
    ][: MOST_QUOTED - len(history)]
    entities = [entity for entity in derived.entities if derived.entity_relevance.get(entity.id, 0.0) >= floor]
    left = MOST_QUOTED - len(history) - len(memories)
    return replace(
        context,
        relevant_history=tuple(history),
        derived=Derived(
            memories=tuple(memories),
            entities=tuple(entities[:left]),
            memory_relevance=derived.memory_relevance,
            entity_relevance=derived.entity_relevance,
        ),
    )


def _asks(item: Item) -> bool:
    return is_question(item.message.content)
