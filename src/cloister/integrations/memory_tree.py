"""The tree of files of a memory tool: of the session that is named, else one for each project and user."""

from collections.abc import Mapping
from typing import Any

from cloister.domain.errors import Conflict, NotFound
from cloister.domain.files.answer import FileAnswer
from cloister.integrations.threaded_library import threaded_library
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import MemoryToolSession


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
        self._default: MemoryToolSession | None = None

    def run(self, command: Mapping[str, Any]) -> FileAnswer:
        """Carry out a command. A tree without a named session that was moved out of its scope is begun anew in another session."""
        if self._session_id is not None:
            return self._run(self._session_id, command, self._scope)
        if self._default is not None:
            try:
                return self._run_default(self._default, command)
            except Conflict:
                pass
        self._default = self._cloister.memory_tool_session(**self._scope)
        return self._run_default(self._default, command)

    def _run_default(self, session: MemoryToolSession, command: Mapping[str, Any]) -> FileAnswer:
        scope = {"project_id": session.project_id, "user_id": session.user_id}
        return self._run(session.session_id, command, scope)

    def _run(self, session: str, command: Mapping[str, Any], scope: Mapping[str, Any]) -> FileAnswer:
        try:
            return self._cloister.memory_tool(session, command, **scope)
        except NotFound:  # there is no such session, or it was deleted since
            self._cloister.create_session(session, **scope)
            return self._cloister.memory_tool(session, command, **scope)
