"""What a caller expects a session to be: whose it is, and in which project."""

from dataclasses import dataclass

from cloister.domain.conversation import Session
from cloister.domain.errors import Conflict
from cloister.domain.identifiers import ProjectId
from cloister.domain.sessions.unmoved import checked_token


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedSession:
    """What the session has to be for a call to be carried out: in this project if `checks_project`, where None is no project, and
    of this user if there is one or with `checks_user`, where None is nobody. A call that records also checks `unmoved_since`, the
    token of a context: the session must still recall from the pool of that context."""

    checks_project: bool = False
    project: ProjectId | None = None
    user: str | None = None
    checks_user: bool = False
    unmoved_since: str | None = None

    def __post_init__(self) -> None:
        if self.unmoved_since is not None:
            checked_token(self.unmoved_since)

    def check(self, session: Session) -> None:
        """Raises `Conflict` if the session is another one."""
        checks_user = self.checks_user or self.user is not None
        if checks_user and session.user_id != self.user:
            raise Conflict(f"The session {session.external_id!r} exists already with another user_id.")
        if self.checks_project and session.project != self.project:
            raise Conflict(f"The session {session.external_id!r} exists already in another project.")


ANY_SESSION = ExpectedSession()
