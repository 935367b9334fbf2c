"""The method of `Cloister` for the files of Anthropic's memory tool."""

from collections.abc import Mapping
from typing import Any

from cloister.domain.files.answer import FileAnswer
from cloister.interfaces.python.arguments import NOT_GIVEN, checked_user, project_choice
from cloister.interfaces.python.backends.interface import Backend
from cloister.interfaces.python.shapes import MemoryToolSession


class FileMethods:
    """The part of `Cloister` for assistants that store small text files themselves."""

    _backend: Backend

    def memory_tool_session(
        self, *, project_id: str | None = NOT_GIVEN, user_id: str | None = None
    ) -> MemoryToolSession:
        """Return the session whose files a memory tool without a session uses: one for each project and user.

        Without `project_id` it is that of the key's project, else of the default project; with None of no project. It need not
        exist: create it with these fields.
        """
        return self._backend.memory_tool_session(project_choice(project_id), checked_user(user_id))

    def memory_tool(
        self,
        session_id: str,
        command: Mapping[str, Any],
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> FileAnswer:
        """Carry out a command of Anthropic's memory tool, such as `{"command": "view", "path": "/memories"}`, on the files of a
        session. The answer is for the assistant, also if the command could not be carried out. `clear` removes all files.

        A session has one tree of files in the pool that it is in. They are deleted with it, and recalled nowhere. With `project_id`
        (None is no project) or `user_id`, the session must be in this project and of this user, or nothing is done and `Conflict`
        is raised.
        """
        # Imported here: few programs store files.
        from cloister.domain.files.commands import read_command

        project, user = project_choice(project_id), checked_user(user_id)
        return self._backend.memory_tool(session_id, read_command(command), project, user)
