"""What one MCP connection may touch: one pool, named by the credential and the set-up of the connection, never by a tool call."""

from dataclasses import dataclass, replace

from cloister.bootstrap import Services
from cloister.domain.conversation import Project
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import ProjectId, format_project_id
from cloister.domain.prompts.outside_text import without_control_tokens
from cloister.domain.scope import Reach, Scope
from cloister.domain.sessions.expected import ExpectedSession
from cloister.domain.text import checked_name
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.search import SearchTarget

_TITLE = "MCP"


@dataclass(frozen=True, kw_only=True, slots=True)
class McpConnection:
    """A project, a user or none, and the session that new messages and memories go to. `reach` is confined to the project and bound
    to the user, so that an id of anything else is not found."""

    services: Services
    reach: Reach
    project: Project
    session: str
    may_write: bool

    @property
    def target(self) -> SearchTarget:
        return SearchTarget(project=self.project.id, user_id=self.reach.user)

    @property
    def pool_scope(self) -> Scope:
        """The scope of a new session of this connection."""
        return Scope(
            tenant=self.reach.tenant,
            project=self.project.id,
            user=self.reach.user,
            visibility=self.project.member_visibility,
        )

    @property
    def scope(self) -> dict[str, str | None]:
        """The scope as every result repeats it. A model reads it, and names may have any characters: control tokens of chat
        templates are changed in them (MEM-10)."""
        return {
            "project": format_project_id(self.project.id),
            "project_name": without_control_tokens(self.project.name),
            "user": None if self.reach.user is None else without_control_tokens(self.reach.user),
            "session": without_control_tokens(self.session),
        }

    @property
    def own_session(self) -> ExpectedSession:
        """What the session must be when something is stored in it, also if it was deleted and created anew a moment ago."""
        return ExpectedSession(checks_project=True, project=self.project.id, checks_user=True, user=self.reach.user)

    def has_session(self) -> bool:
        """Whether the session exists in the pool of this connection. It is created by the first write."""
        try:
            self.services.pool_reader.session(self.reach, self.session)
        except NotFound:
            return False
        return True

    def ensure_session(self) -> str:
        """The session's external id; the session is created if there is none."""
        if not self.has_session():
            fields = SessionFields(
                external_id=self.session, project=self.project.id, user_id=self.reach.user, title=_TITLE
            )
            try:
                self.services.sessions.create(self.reach, fields)
            except (NotFound, Conflict):
                raise Conflict(
                    f"The session {self.session!r} is in use outside the scope of this connection: set another name with the "
                    "header X-Session-ID, or the option --session of `cloister mcp`."
                ) from None
        return self.session


def open_connection(
    services: Services,
    reach: Reach,
    *,
    project: ProjectId,
    user: str | None,
    session: str | None,
    may_write: bool,
) -> McpConnection:
    """A connection to one pool within a reach. `user` and `session` narrow it; a user other than that of the reach is `Forbidden`.
    Without `session` it is the default one of the project and user, so that all windows of a client share it."""
    if user is not None:
        checked_name(user, "user")
    if session is not None:
        checked_name(session, "session")
    narrow = replace(reach, confined_to=project, user=reach.user_of(user))
    return McpConnection(
        services=services,
        reach=narrow,
        project=services.projects.project(narrow, project),
        session=services.mcp_sessions.name(narrow, project) if session is None else session,
        may_write=may_write,
    )
