"""The parts of the backends for the files of memory tools: in this process, and over HTTP."""

from typing import TYPE_CHECKING

from cloister.bootstrap import Services
from cloister.domain.files.answer import FileAnswer
from cloister.domain.scope import Reach
from cloister.interfaces.python.arguments import UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.backends.requests import expected_session, fields_given, files_request, project_field
from cloister.interfaces.python.shapes import MemoryToolSession, memory_tool_session_shape

if (
    TYPE_CHECKING
):  # the HTTP client takes long to load, and an embedded Cloister does not need it; few programs store files
    from cloister.domain.files.commands import FileCommand
    from cloister.interfaces.python.connection import Connection


class EmbeddedFiles:
    """Calls the services in this process."""

    services: Services
    reach: Reach

    def memory_tool_session(self, project: ProjectChoice, user_id: str | None) -> MemoryToolSession:
        """Where no project is named, it is the tenant's default project (ISO-11)."""
        named = self.services.projects.default_project(self.reach) if project is UNSPECIFIED else project
        return memory_tool_session_shape(self.services.memory_tool_sessions.of(self.reach, named, user_id))

    def memory_tool(
        self, session_id: str, command: "FileCommand", project: ProjectChoice, user_id: str | None
    ) -> FileAnswer:
        return self.services.files.run(self.reach, session_id, command, expected_session(project, user_id))


class RemoteFiles:
    """Asks a server."""

    server: "Connection"

    def memory_tool_session(self, project: ProjectChoice, user_id: str | None) -> MemoryToolSession:
        body = {**project_field(project), **fields_given(user_id=user_id)}
        return self.server.ask("/v1/memory-tool", body).one(MemoryToolSession)

    def memory_tool(
        self, session_id: str, command: "FileCommand", project: ProjectChoice, user_id: str | None
    ) -> FileAnswer:
        return self.server.change("POST", *files_request(session_id, command, project, user_id)).one(FileAnswer)
