"""The session that a chat request names, and the check that it is the one that is meant."""

from dataclasses import dataclass

from cloister.domain.conversation import Session
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import KeyId, ProjectId


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedSession:
    """The session that a chat request names, and the fields that the request gives for it. An existing session is not changed: with
    `must_be_in` it has to be in `project`, and `user_id`, if given, has to match; with `names_user` also if it is None. With
    `must_exist` it is not created: the request goes on in a conversation."""

    session: str | None
    project: ProjectId | None = None
    must_be_in: bool = False
    user_id: str | None = None
    names_user: bool = False
    must_exist: bool = False
    key: KeyId | None = None

    def require(self, session: Session | None) -> None:
        """Refuse a request whose session was deleted since it was looked up, as if it had never existed."""
        if session is None and self.must_exist:
            raise NotFound("session", self.session or "")


def checked_session(session: Session, named: NamedSession) -> Session:
    """Check that the session has the fields that the request gives. All chat requests use this: ask, ask again, follow and stop."""
    if named.must_be_in and session.project != named.project:
        raise Conflict(f"The session {session.external_id!r} exists already with another project_id.")
    names_user = named.names_user or named.user_id is not None
    if names_user and session.user_id != named.user_id:
        raise Conflict(f"The session {session.external_id!r} exists already with another user_id.")
    return session
