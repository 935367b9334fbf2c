"""The tree of files of a memory tool: of the session that is named, else one for each project and user."""

from collections.abc import Mapping
from typing import Any

from cloister.domain.errors import Conflict, NotFound
from cloister.domain.files.answer import FileAnswer
from cloister.integrations.threaded_library import threaded_library
from cloister.interfaces.python.library import Cloister


class MemoryTree:
    """Calls of it block: an asynchronous tool makes them on threads.

    The session is created by the first command. One transaction checks that it is the named user's, in the named project, and
    carries out the command: it may have been moved, or be another one under the same name, which is a `Conflict`.
    """

    def __init__(
        self, cloister: Cloister | None, *, session_id: str | None, project_id: str | None, user_id: str | None
    ) -> None:
        self._cloister = threaded_library(cloister)
        self._session_id = session_id
        self._scope: dict[str, Any] = {"project_id": project_id, "user_id": user_id}

    def run(self, command: Mapping[str, Any]) -> FileAnswer:
        """Carry out a command. Which session has the tree is asked with each, unless one is named: all tools of a project and user
        use the same one also after it was moved."""
        if self._session_id is not None:
            return self._run(self._session_id, command, self._scope)
        try:
            return self._run_default(command)
        except (Conflict, NotFound):  # the session was moved out of its scope meanwhile
            return self._run_default(command)

    def _run_default(self, command: Mapping[str, Any]) -> FileAnswer:
        session = self._cloister.memory_tool_session(**self._scope)
        scope = {"project_id": session.project_id, "user_id": session.user_id}
        return self._run(session.session_id, command, scope)

    def _run(self, session: str, command: Mapping[str, Any], scope: Mapping[str, Any]) -> FileAnswer:
        try:
            return self._cloister.memory_tool(session, command, **scope)
        except NotFound:  # there is no such session, or it was deleted since
            self._cloister.create_session(session, **scope)
            return self._cloister.memory_tool(session, command, **scope)
