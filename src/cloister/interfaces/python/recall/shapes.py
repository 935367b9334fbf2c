"""Contexts and hits, as the library returns them and HTTP sends them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cloister.domain import context as domain_context
from cloister.domain.identifiers import (
    format_entity_id,
    format_episode_id,
    format_memory_id,
    format_message_id,
    format_project_id,
)
from cloister.domain.prompts.speaker import attributed
from cloister.domain.recall.relevance import strength_of
from cloister.domain.timestamps import iso
from cloister.interfaces.python.derived_shapes import (
    Observation,
    RecalledEntity,
    RecalledMemory,
    observation_shape,
    recalled_entity_shape,
    recalled_memory_shape,
)
from cloister.interfaces.python.pages import ONLY_IF_STALE
from cloister.interfaces.python.receipts.inline import InlineReceipt, MadeReceipt, receipt_fields
from cloister.services.recall.search import EntityHit, EpisodeHit, MemoryHit, SearchResult
from cloister.services.recall.search import Hit as DomainHit


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextItem:
    """A message in a context. `user_id` is the user of its session. A message that was searched for has a `score`, which orders the
    messages, its `relevance` to the query from 0 to 1, which means the same in every pool, and a `strength`: `strong` from 0.5 on,
    else `weak`. `times_said` counts the messages that say the same, and `same_as` are the ids of up to 10 others of them.
    `is_excerpt` marks a passage of a longer message."""

    id: str
    session_id: str
    role: str
    content: str
    author: str | None
    user_id: str | None
    created_at: str
    source: str
    score: float | None
    relevance: float | None
    strength: str | None
    times_said: int
    same_as: tuple[str, ...]
    is_excerpt: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """The context for a reply. `memory_context` is the text of what was recalled, ready for a prompt. `omitted` counts what was
    left out: `weak` messages, `duplicate` ones, what was beyond a `limit`, and what did not fit into the `budget`, also by part.
    `receipt` says what was given by which rule; `receipt_id` is its id, if the project stores receipts.
    `unmoved_token`, given as `if_unmoved_since`, lets a reply be recorded only if the session still recalls from the same pool.
    `stale` counts the messages, memories and entities of the pool that were indexed by another version of Cloister and not yet
    again; of very many of these, some are not found until then. It is None, and left out of JSON, where there are none."""

    session_id: str
    project_id: str | None
    current_conversation: tuple[ContextItem, ...]
    relevant_history: tuple[ContextItem, ...]
    chat_history: tuple[ContextItem, ...]
    memories: tuple[RecalledMemory, ...]
    entities: tuple[RecalledEntity, ...]
    observations: tuple[Observation, ...]
    memory_context: str
    tokens: int
    omitted: Mapping[str, int]
    stale: int | None = field(default=None, metadata=ONLY_IF_STALE)
    receipt: InlineReceipt | None = None
    receipt_id: str | None = None
    unmoved_token: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A search result: an episode, shown by its best message, whose id is `message_id`; a memory, or an entity, which has no
    session. `user_id` is the user
    of the session, or of the part of a project that an entity is in; `author` is that of the message. `score` orders the hits;
    `relevance` and `strength` are as in `ContextItem`. `status` is that of a memory. Where several users may be quoted, memories
    and notes name them, as in a context."""

    kind: str
    id: str
    session_id: str | None
    user_id: str | None
    role: str | None
    author: str | None
    content: str
    score: float
    relevance: float
    strength: str
    times_said: int
    status: str | None
    created_at: str
    message_id: str | None = None


def context_shape(context: domain_context.Context, receipt: MadeReceipt | None = None) -> Context:
    derived, named = context.derived, context.names_speakers
    history = context.chat_history
    shaped = {item.message.id: _item_shape(item) for item in history}

    def items(part: tuple[domain_context.Item, ...]) -> tuple[ContextItem, ...]:
        return tuple(shaped[item.message.id] for item in part)

    return Context(
        session_id=context.session,
        project_id=None if context.project is None else format_project_id(context.project),
        current_conversation=items(context.current_conversation),
        relevant_history=items(context.relevant_history),
        chat_history=items(history),
        memories=tuple(
            recalled_memory_shape(stored, derived.memory_relevance[stored.memory.id], named=named)
            for stored in derived.memories
        ),
        entities=tuple(
            recalled_entity_shape(entity, derived.entity_relevance[entity.id], named=named)
            for entity in derived.entities
        ),
        observations=tuple(observation_shape(stored, named=named) for stored in derived.observations),
        memory_context=context.memory_context,
        tokens=context.tokens,
        omitted=context.omitted,
        stale=context.stale or None,
        unmoved_token=context.unmoved_token,
        **({} if receipt is None else receipt_fields(receipt)),
    )


def hit_shapes(found: SearchResult) -> list[Hit]:
    """The hits of a search. Where several users may be quoted, memories and notes name them (MEM-11)."""
    return [_shape_of_hit(hit, named=found.names_speakers) for hit in found.hits]


def _shape_of_hit(hit: DomainHit, *, named: bool) -> Hit:
    match hit:
        case EpisodeHit(item=item):
            message = item.message
            shape = _hit_shape(hit, "episode", format_episode_id(hit.episode), message.content, message.created_at)
            said_by = {"session_id": item.session, "user_id": item.user, "role": message.role, "author": message.author}
            return replace(shape, times_said=item.times, message_id=format_message_id(message.id), **said_by)
        case MemoryHit(stored=stored):
            memory, content = stored.memory, attributed(stored.memory.content, stored.user, named=named)
            shape = _hit_shape(hit, "memory", format_memory_id(memory.id), content, memory.created_at)
            return replace(shape, session_id=stored.session, user_id=stored.user, status=stored.status)
        case EntityHit(entity=entity):
            notes = entity.notes_for(named=named)
            content = f"{entity.name}: {notes}" if notes else entity.name
            shape = _hit_shape(hit, "entity", format_entity_id(entity.id), content, entity.created_at)
            return replace(shape, user_id=entity.user)


def _hit_shape(hit: DomainHit, kind: str, id: str, content: str, created_at: int) -> Hit:
    return Hit(
        kind=kind,
        id=id,
        session_id=None,
        user_id=None,
        role=None,
        author=None,
        content=content,
        score=hit.score,
        relevance=hit.relevance,
        strength=strength_of(hit.relevance),
        times_said=1,
        status=None,
        created_at=iso(created_at),
    )


# The slots of an item, of which every context has dozens: the constructor takes twice as long as setting them.
_new = object.__new__
_set_id, _set_session_id, _set_role, _set_content, _set_author, _set_user_id, _set_created_at = (
    getattr(ContextItem, name).__set__
    for name in ("id", "session_id", "role", "content", "author", "user_id", "created_at")
)
_set_source, _set_score, _set_relevance, _set_strength, _set_times_said, _set_same_as, _set_is_excerpt = (
    getattr(ContextItem, name).__set__
    for name in ("source", "score", "relevance", "strength", "times_said", "same_as", "is_excerpt")
)


def _item_shape(item: domain_context.Item) -> ContextItem:
    message, session, source, score, user, relevance, times, same, is_excerpt = item
    shape = _new(ContextItem)
    _set_id(shape, format_message_id(message.id))
    _set_session_id(shape, session)
    _set_role(shape, message.role)
    _set_content(shape, message.content)
    _set_author(shape, message.author)
    _set_user_id(shape, user)
    _set_created_at(shape, iso(message.created_at))
    _set_source(shape, source)
    _set_score(shape, score)
    _set_relevance(shape, relevance)
    _set_strength(shape, None if relevance is None else strength_of(relevance))
    _set_times_said(shape, times)
    _set_same_as(shape, tuple(map(format_message_id, same)) if same else ())
    _set_is_excerpt(shape, is_excerpt)
    return shape
