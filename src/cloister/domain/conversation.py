"""Projects, sessions, messages, and the episodes that messages form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId, PoolId, ProjectId, SessionId, TenantId, format_project_id
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility, Scope
from cloister.domain.text import Metadata, checked_categories, checked_content, checked_metadata, checked_name
from cloister.domain.timestamps import checked_time

Role = Literal["user", "assistant", "system", "tool"]
Status = Literal["completed", "partial", "failed"]
ROLES: tuple[Role, ...] = get_args(Role)
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A named group of sessions with pools of its own. `isolated` is always true: it is a property, not a setting (ISO-2)."""

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
    """One conversation. Callers know it by its `external_id`, storage by the integer `id` (ISO-1). `leaf` is the last message of
    its current branch, if there is one; `is_forked` says that some of its messages are not on that branch."""

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
    pinned: bool = False
    archived: bool = False
    system_prompt: str | None = None
    model: str | None = None
    leaf: MessageId | None = None
    is_forked: bool = False

    @property
    def choices(self) -> "SessionChoices":
        return SessionChoices(self.pinned, self.archived, self.system_prompt, self.model)

    @property
    def stamped_tags(self) -> tuple[str, ...]:
        """The tags of every message of the session (CTX-3). Those of the runtime are computed, so callers cannot forge them."""
        return (*stamps(session=self.external_id, user=self.user_id, project=self.project), *self.tags)

    def scope(self, visibility: MemberVisibility | None) -> Scope:
        """The scope that this session recalls from. `visibility` is its project's, None if it has no project."""
        return Scope(
            tenant=self.tenant,
            project=self.project,
            user=self.user_id,
            visibility=visibility or DEFAULT_VISIBILITY,
            session=self.id,
        )


class SessionChoices(NamedTuple):
    """What a person chose for one conversation. A pinned or archived one is recalled like all others. `system_prompt` and `model`
    replace those of the project; None leaves these."""

    pinned: bool = False
    archived: bool = False
    system_prompt: str | None = None
    model: str | None = None


NO_CHOICES = SessionChoices()


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A message to be recorded, checked on construction. `author` is the speaker's name, if it is more than the role."""

    role: Role
    content: str
    author: str | None = None
    created_at: int | None = None
    status: Status = "completed"
    metadata: Metadata = field(default_factory=dict[str, object])
    categories: tuple[str, ...] = ()

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
        if self.categories:
            checked_categories(self.categories)


class Speaker(NamedTuple):
    """Who said a message: people are told apart by their session's user, or by the author that a message names."""

    role: Role
    author: str | None
    user: str | None


class Message(NamedTuple):
    """A stored message; a tuple for speed, because dozens are made for every context.

    `episode` is the id of the message that opened the episode; an opening message has its own id. `recalled_pool` is the pool whose
    text the message quotes, or which its model was given (ISO-12); None if there was no recalled text. `parent` is the message that
    this one follows, where the reader asked for it; `is_current` says that it is on the current branch of its session.
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
    categories: tuple[str, ...] = ()
    parent: MessageId | None = None
    is_current: bool = True

    @property
    def trigger(self) -> MessageId | None:
        """The message that this one answers (CTX-3); None for a message that opens an episode."""
        return None if self.episode == self.id else self.episode


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One exchange: the message that opens it, and the messages that answer it (ISO-9)."""

    id: MessageId
    session: SessionId
    messages: tuple[Message, ...]
    created_at: int


def stamps(*, session: str | None = None, user: str | None, project: ProjectId | None) -> tuple[str, ...]:
    """The tags with reserved prefixes, which only the runtime sets (CTX-3)."""
    name = None if project is None else format_project_id(project)
    given = (("session", session), ("user", user), ("project", name))
    return tuple(f"{kind}:{value}" for kind, value in given if value is not None)


def opens_episode(role: Role, current: MessageId | None) -> bool:
    """Whether a message opens a new episode: a user's always does, any other only if there is no current episode."""
    return role == "user" or current is None
