"""The commands of the memory tool in an embedded Cloister, and at a server."""

from collections.abc import Mapping

from cloister.bootstrap import Services
from cloister.domain.files.commands import FileAnswer, read_command
from cloister.domain.scope import Reach
from cloister.interfaces.python.backends.requests import session_path
from cloister.interfaces.python.connection import Connection


class EmbeddedFiles:
    """The part of the embedded back end for files."""

    services: Services
    reach: Reach

    def memory_tool(self, session_id: str, command: Mapping[str, object]) -> FileAnswer:
        checked = read_command(command)
        files = self.services.files
        call = files.view if checked.name == "view" else files.change
        return call(self.reach, session_id, checked)


class RemoteFiles:
    """The part of the remote back end for files."""

    server: Connection

    def memory_tool(self, session_id: str, command: Mapping[str, object]) -> FileAnswer:
        checked = read_command(command)
        path = f"{session_path(session_id)}/files"
        if checked.name == "view":
            fields = {name: value for name, value in command.items() if name != "command"}
            return self.server.change("POST", f"{path}/view", fields).one(FileAnswer)
        return self.server.change("POST", path, dict(command)).one(FileAnswer)
