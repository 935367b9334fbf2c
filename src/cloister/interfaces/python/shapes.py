"""Shapes: the objects that the library returns, and the JSON of HTTP and the command line. Ids are text, times are ISO 8601."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from cloister.domain import conversation as domain
from cloister.domain.erasure import UserCounts
from cloister.domain.identifiers import (
    format_episode_id,
    format_message_id,
    format_project_id,
    format_tenant_id,
    sequence_of,
)
from cloister.domain.project_settings import prompt_warnings, warnings_of
from cloister.domain.timestamps import iso
from cloister.interfaces.python.certificates.shapes import Certificate, Removed, RemovedRows
from cloister.interfaces.python.preview_shapes import VisibilityPreview, visibility_preview_shape
from cloister.services.conversations.default_sessions import DefaultSession
from cloister.services.conversations.forget import ForgottenCounts
from cloister.services.conversations.move import MoveCounts


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
    """A session. `memory_job_pending` says that it waits for extraction, `last_extraction_error` why the last one failed. A
    `pinned` or `archived` session is recalled like all others. `system_prompt` and `model` replace those of its project; None
    leaves these. `warnings` are about the system prompt. `current_leaf_id` is the last message of its current branch; `is_forked`
    says that it has messages on other branches too, which `message_count` counts."""

    external_id: str
    project_id: str | None
    user_id: str | None
    title: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, object]
    message_count: int
    current_leaf_id: str | None = None
    is_forked: bool = False
    memory_job_pending: bool
    last_extraction_error: str | None
    created_at: str
    updated_at: str
    memory_count: int = 0
    pinned: bool = False
    archived: bool = False
    system_prompt: str | None = None
    model: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DeletedContents:
    """How much was deleted with a project, or would be."""

    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int
    entries: int
    files: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DeletedProject:
    """How many sessions, memories, files and entries of a deleted project are in no project now, or would be. The certificate names
    what was removed: the project. Of a dry run, `would_remove` does, and `visible_to` says who would recall them there: other
    sessions of the same users, which are in no project. If the contents were deleted too, nothing moves, and `deleted` has the
    numbers."""

    sessions_moved: int
    memories_moved: int
    files_moved: int = 0
    entries_moved: int = 0
    certificate: Certificate | None = field(default=None, compare=False)
    would_remove: RemovedRows | None = field(default=None, compare=False)
    visible_to: VisibilityPreview | None = field(default=None, compare=False)
    deleted: DeletedContents | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageContext:
    """The session of a message, and the message that it answers. Set by Cloister, not by callers."""

    session_id: str
    trigger_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryToolSession:
    """The session with the files of a project and a user that a memory tool without a session uses. It need not exist yet."""

    session_id: str
    project_id: str | None
    user_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A message. `seq` counts from 1 in its session; `is_memory_checked` says that extraction has read it. `parent_id` is the
    message that it follows; `is_current` says that it is on the current branch of its session."""

    id: str
    session_id: str
    seq: int
    parent_id: str | None = None
    is_current: bool = True
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
        current_leaf_id=None if session.leaf is None else format_message_id(session.leaf),
        is_forked=session.is_forked,
        memory_job_pending=session.memory_job_pending,
        last_extraction_error=session.last_extraction_error,
        created_at=iso(session.created_at),
        updated_at=iso(session.updated_at),
        memory_count=session.memory_count,
        pinned=session.pinned,
        archived=session.archived,
        system_prompt=session.system_prompt,
        model=session.model,
        warnings=prompt_warnings(session.system_prompt),
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
        parent_id=None if message.parent is None else format_message_id(message.parent),
        is_current=message.is_current,
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
        would_remove=removed.would_remove,
        visible_to=None if moved.readers is None else visibility_preview_shape(moved.readers),
    )


def erased_project_shape(counts: UserCounts, removed: Removed) -> DeletedProject:
    numbers = {part.name: getattr(counts, part.name) for part in fields(DeletedContents)}
    return DeletedProject(
        sessions_moved=0,
        memories_moved=0,
        certificate=removed.certificate,
        would_remove=removed.would_remove,
        deleted=DeletedContents(**numbers),
    )


def memory_tool_session_shape(session: DefaultSession) -> MemoryToolSession:
    project = None if session.project is None else format_project_id(session.project)
    return MemoryToolSession(session_id=session.external_id, project_id=project, user_id=session.user)
