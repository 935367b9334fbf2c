"""What a caller expects a session to be: whose it is, and in which project."""

from dataclasses import dataclass

from cloister.domain.conversation import Session
from cloister.domain.errors import Conflict
from cloister.domain.identifiers import ProjectId


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedSession:
    """What the session has to be for a call to be carried out: in this project if `checks_project`, where None is no project, and
    of this user if there is one."""

    checks_project: bool = False
    project: ProjectId | None = None
    user: str | None = None

    def check(self, session: Session) -> None:
        """Raises `Conflict` if the session is another one."""
        if self.user is not None and session.user_id != self.user:
            raise Conflict(f"The session {session.external_id!r} exists already with another user_id.")
        if self.checks_project and session.project != self.project:
            raise Conflict(f"The session {session.external_id!r} exists already in another project.")


ANY_SESSION = ExpectedSession()
