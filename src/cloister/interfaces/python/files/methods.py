"""The method of `Cloister` for the files of Anthropic's memory tool."""

from collections.abc import Mapping
from typing import Any

from cloister.domain.files.commands import FileAnswer, read_command
from cloister.interfaces.python.arguments import NOT_GIVEN, checked_user, project_choice
from cloister.interfaces.python.backends.interface import Backend


class FileMethods:
    """The part of `Cloister` for assistants that store small text files themselves."""

    _backend: Backend

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
        project, user = project_choice(project_id), checked_user(user_id)
        return self._backend.memory_tool(session_id, read_command(command), project, user)
