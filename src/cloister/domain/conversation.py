"""Sessions, and what was said in them: messages, in order, and the episodes they form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId, PoolId, ProjectId, SessionId, TenantId, format_project_id
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility, Scope
from cloister.domain.text import Metadata, checked_content, checked_metadata, checked_name
from cloister.domain.timestamps import checked_time

Role = Literal["user", "assistant", "system", "tool"]
Status = Literal["completed", "partial", "failed"]
ROLES: tuple[Role, ...] = get_args(Role)
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A named group of sessions with a pool of its own. `isolated` is a fact, not a setting (ISO-2)."""

    id: ProjectId
    tenant: TenantId
    name: str
    is_default: bool
    member_visibility: MemberVisibility
    settings: Mapping[str, object]
    memory_count: int
    created_at: int

    @property
    def isolated(self) -> bool:
        return True


class Session(NamedTuple):
    """One conversation: outside known by `external_id`, inside by the integer `id` (ISO-1)."""

    id: SessionId
    tenant: TenantId
    external_id: str
    project: ProjectId | None
    pool: PoolId
    user_id: str | None
    title: str | None
    tags: tuple[str, ...]
    metadata: Metadata
    message_count: int
    created_at: int
    updated_at: int
    memory_count: int = 0
    memory_job_pending: bool = False
    last_extraction_error: str | None = None

    @property
    def stamped_tags(self) -> tuple[str, ...]:
        """What the runtime stamps on all that is said here (CTX-3): derived from the session, so it cannot be forged."""
        return (*stamps(session=self.external_id, user=self.user_id, project=self.project), *self.tags)

    def scope(self, visibility: MemberVisibility | None) -> Scope:
        """From where this session recalls; `visibility` is its project's, and none where it has no project."""
        return Scope(
            tenant=self.tenant,
            project=self.project,
            user=self.user_id,
            visibility=visibility or DEFAULT_VISIBILITY,
            session=self.id,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A message on its way in; making one checks it. `author` is the speaker's name where the role does not say who spoke."""

    role: Role
    content: str
    author: str | None = None
    created_at: int | None = None
    status: Status = "completed"
    metadata: Metadata = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise InvalidRequest("role", f"must be one of {', '.join(ROLES)}, not {self.role!r}.")
        if self.status not in STATUSES:
            raise InvalidRequest("status", f"must be one of {', '.join(STATUSES)}, not {self.status!r}.")
        checked_content(self.content)
        if self.author is not None:
            checked_name(self.author, "author")
        if self.created_at is not None:
            checked_time(self.created_at, "created_at")
        if self.metadata:
            checked_metadata(self.metadata)


class Message(NamedTuple):
    """What one party said; a tuple, because dozens are made for every context.

    `episode` is the id of the message that opened its exchange, which is its own for an opening one. `recalled_pool` is the pool
    whose text the message quotes, or was given to answer with (ISO-12); none where it was given none.
    """

    id: MessageId
    session: SessionId
    role: Role
    content: str
    author: str | None
    status: Status
    episode: MessageId
    is_memory_checked: bool
    tokens: int
    metadata: Metadata
    created_at: int
    recalled_pool: PoolId | None = None

    @property
    def trigger(self) -> MessageId | None:
        """The message this one answers (CTX-3); none for the message that opens an exchange."""
        return None if self.episode == self.id else self.episode


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One exchange: the message that opens it and what answers it (ISO-9)."""

    id: MessageId
    session: SessionId
    messages: tuple[Message, ...]
    created_at: int


def stamps(*, session: str | None = None, user: str | None, project: ProjectId | None) -> tuple[str, ...]:
    """The tags that only the runtime gives (CTX-3)."""
    name = None if project is None else format_project_id(project)
    given = (("session", session), ("user", user), ("project", name))
    return tuple(f"{kind}:{value}" for kind, value in given if value is not None)


def opens_episode(role: Role, current: MessageId | None) -> bool:
    """A user's message opens a new exchange; anything else joins the current one, if there is one."""
    return role == "user" or current is None
