"""Shapes: the objects that the library returns, and the JSON of HTTP and the command line. Ids are text, times are ISO 8601."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cloister.domain import context as domain_context
from cloister.domain import conversation as domain
from cloister.domain.identifiers import (
    format_entity_id,
    format_episode_id,
    format_memory_id,
    format_message_id,
    format_project_id,
    format_tenant_id,
    sequence_of,
)
from cloister.domain.project_settings import warnings_of
from cloister.domain.recall.relevance import strength_of
from cloister.domain.timestamps import iso
from cloister.interfaces.python.certificates.shapes import Certificate, Removed, RemovedRows
from cloister.interfaces.python.derived_shapes import (
    Observation,
    RecalledEntity,
    RecalledMemory,
    observation_shape,
    recalled_entity_shape,
    recalled_memory_shape,
)
from cloister.interfaces.python.pages import ONLY_IF_STALE
from cloister.interfaces.python.receipts.shapes import InlineReceipt, MadeReceipt, receipt_fields
from cloister.services.conversations.forget import ForgottenCounts
from cloister.services.recall.search import EntityHit, EpisodeHit, MemoryHit
from cloister.services.recall.search import Hit as DomainHit
from cloister.services.tenancy.projects import MoveCounts


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A project. `member_visibility` is `private` or `shared`; `isolated` is always true. `warnings` are about its settings."""

    project_id: str
    tenant_id: str
    name: str
    is_default: bool
    isolated: bool
    member_visibility: str
    memory_count: int
    settings: Mapping[str, object]
    created_at: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A session. `memory_job_pending` says that it waits for extraction, `last_extraction_error` why the last one failed."""

    external_id: str
    project_id: str | None
    user_id: str | None
    title: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, object]
    message_count: int
    memory_job_pending: bool
    last_extraction_error: str | None
    created_at: str
    updated_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DeletedProject:
    """How many sessions, memories, files and entries of a deleted project moved to the shared pool. The certificate names what was
    removed: the project."""

    sessions_moved: int
    memories_moved: int
    files_moved: int = 0
    entries_moved: int = 0
    certificate: Certificate | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageContext:
    """The session of a message, and the message that it answers. Set by Cloister, not by callers."""

    session_id: str
    trigger_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A message. `seq` counts from 1 in its session; `is_memory_checked` says that extraction has read it."""

    id: str
    session_id: str
    seq: int
    role: str
    content: str
    author: str | None
    status: str
    is_memory_checked: bool
    tags: tuple[str, ...]
    context: MessageContext
    categories: tuple[str, ...]
    metadata: Mapping[str, object]
    created_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """A message of the user with the replies to it."""

    id: str
    session_id: str
    message_ids: tuple[str, ...]
    created_at: str


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A search result: an episode, shown by its best message, a memory, or an entity, which has no session. `user_id` is the user
    of the session, or of the part of a project that an entity is in; `author` is that of the message. `score` orders the hits;
    `relevance` and `strength` are as in `ContextItem`. `status` is that of a memory."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """How much was deleted, with its certificate; or, with a dry run, how much would be, and which rows."""

    messages: int
    episodes: int
    memories: int
    observations: int
    files: int = 0
    certificate: Certificate | None = field(default=None, compare=False)
    would_remove: RemovedRows | None = field(default=None, compare=False)


def as_json(shape: Any) -> Any:
    """A shape, or a list of them, as plain dictionaries and lists."""
    if isinstance(shape, list | tuple):
        return [as_json(entry) for entry in shape]  # pyright: ignore[reportUnknownVariableType]
    fields = asdict(shape)
    if fields.get("stale", 0) is None:
        del fields["stale"]
    return fields


def project_shape(project: domain.Project) -> Project:
    return Project(
        project_id=format_project_id(project.id),
        tenant_id=format_tenant_id(project.tenant),
        name=project.name,
        is_default=project.is_default,
        isolated=project.isolated,
        member_visibility=project.member_visibility,
        memory_count=project.memory_count,
        settings=project.settings,
        created_at=iso(project.created_at),
        warnings=warnings_of(project.settings),
    )


def session_shape(session: domain.Session) -> Session:
    return Session(
        external_id=session.external_id,
        project_id=None if session.project is None else format_project_id(session.project),
        user_id=session.user_id,
        title=session.title,
        tags=session.tags,
        metadata=session.metadata,
        message_count=session.message_count,
        memory_job_pending=session.memory_job_pending,
        last_extraction_error=session.last_extraction_error,
        created_at=iso(session.created_at),
        updated_at=iso(session.updated_at),
    )


def message_shape(message: domain.Message, session: domain.Session) -> Message:
    return message_shapes([message], session)[0]


def message_shapes(messages: Iterable[domain.Message], session: domain.Session) -> list[Message]:
    """The messages of one session; their tags are the same for all."""
    tags = session.stamped_tags
    return [_message_shape(message, session, tags) for message in messages]


def _message_shape(message: domain.Message, session: domain.Session, tags: tuple[str, ...]) -> Message:
    return Message(
        id=format_message_id(message.id),
        session_id=session.external_id,
        seq=sequence_of(message.id),
        role=message.role,
        content=message.content,
        author=message.author,
        status=message.status,
        is_memory_checked=message.is_memory_checked,
        tags=tags,
        context=MessageContext(
            session_id=session.external_id,
            trigger_id=None if message.trigger is None else format_message_id(message.trigger),
        ),
        categories=message.categories,
        metadata=message.metadata,
        created_at=iso(message.created_at),
    )


def episode_shape(episode: domain.Episode, session: str) -> Episode:
    return Episode(
        id=format_episode_id(episode.id),
        session_id=session,
        message_ids=tuple(format_message_id(message.id) for message in episode.messages),
        created_at=iso(episode.created_at),
    )


def context_shape(context: domain_context.Context, receipt: MadeReceipt | None = None) -> Context:
    derived = context.derived
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
            recalled_memory_shape(stored, derived.memory_relevance[stored.memory.id]) for stored in derived.memories
        ),
        entities=tuple(
            recalled_entity_shape(entity, derived.entity_relevance[entity.id]) for entity in derived.entities
        ),
        observations=tuple(map(observation_shape, derived.observations)),
        memory_context=context.memory_context,
        tokens=context.tokens,
        omitted=context.omitted,
        stale=context.stale or None,
        **({} if receipt is None else receipt_fields(receipt)),
    )


def forgotten_shape(gone: ForgottenCounts, removed: Removed) -> Forgotten:
    return Forgotten(
        messages=gone.messages,
        episodes=gone.episodes,
        memories=gone.memories,
        observations=gone.observations,
        files=gone.files,
        certificate=removed.certificate,
        would_remove=removed.would_remove,
    )


def deleted_project_shape(moved: MoveCounts, removed: Removed) -> DeletedProject:
    return DeletedProject(
        sessions_moved=moved.sessions,
        memories_moved=moved.memories,
        files_moved=moved.files,
        entries_moved=moved.entries,
        certificate=removed.certificate,
    )


def hit_shape(hit: DomainHit) -> Hit:
    match hit:
        case EpisodeHit(item=item):
            message = item.message
            shape = _hit_shape(hit, "episode", format_episode_id(hit.episode), message.content, message.created_at)
            said_by = {"session_id": item.session, "user_id": item.user, "role": message.role, "author": message.author}
            return replace(shape, times_said=item.times, **said_by)
        case MemoryHit(stored=stored):
            memory = stored.memory
            shape = _hit_shape(hit, "memory", format_memory_id(memory.id), memory.content, memory.created_at)
            return replace(shape, session_id=stored.session, user_id=stored.user, status=stored.status)
        case EntityHit(entity=entity):
            content = f"{entity.name}: {entity.notes}" if entity.notes else entity.name
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


def _item_shape(item: domain_context.Item) -> ContextItem:
    message = item.message
    return ContextItem(
        id=format_message_id(message.id),
        session_id=item.session,
        user_id=item.user,
        role=message.role,
        content=message.content,
        author=message.author,
        created_at=iso(message.created_at),
        source=item.source,
        score=item.score,
        relevance=item.relevance,
        strength=None if item.relevance is None else strength_of(item.relevance),
        times_said=item.times,
        same_as=tuple(map(format_message_id, item.same)),
        is_excerpt=item.excerpt,
    )
