"""The parts of the backends for the files of memory tools: in this process, and over HTTP."""

from typing import TYPE_CHECKING

from cloister.bootstrap import Services
from cloister.domain.files.commands import FileAnswer, FileCommand
from cloister.domain.scope import Reach
from cloister.interfaces.python.arguments import UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.backends.requests import files_request
from cloister.services.conversations.files import ExpectedSession

if TYPE_CHECKING:  # the HTTP client takes long to load, and an embedded Cloister does not need it
    from cloister.interfaces.python.connection import Connection


class EmbeddedFiles:
    """Calls the services in this process."""

    services: Services
    reach: Reach

    def memory_tool(
        self, session_id: str, command: FileCommand, project: ProjectChoice, user_id: str | None
    ) -> FileAnswer:
        named = None if project is UNSPECIFIED else project
        expected = ExpectedSession(checks_project=project is not UNSPECIFIED, project=named, user=user_id)
        return self.services.files.run(self.reach, session_id, command, expected)


class RemoteFiles:
    """Asks a server."""

    server: "Connection"

    def memory_tool(
        self, session_id: str, command: FileCommand, project: ProjectChoice, user_id: str | None
    ) -> FileAnswer:
        return self.server.change("POST", *files_request(session_id, command, project, user_id)).one(FileAnswer)
