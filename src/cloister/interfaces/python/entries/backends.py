"""The parts of the backends for entries: in this process, and over HTTP."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cloister.bootstrap import Services
from cloister.domain.scope import Reach
from cloister.interfaces.python.arguments import UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.backends.requests import fields_given, project_field

if (
    TYPE_CHECKING
):  # the HTTP client takes long to load, and an embedded Cloister does not need it; few programs store entries
    from cloister.interfaces.python.connection import Connection
    from cloister.interfaces.python.entries.operations import EntryBatch

READ_PATH, WRITE_PATH = "/v1/entries/read", "/v1/entries/write"


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryResults:
    """The results of a batch, one for each operation."""

    data: list[Any]


class EmbeddedEntries:
    """Calls the services in this process."""

    services: Services
    reach: Reach

    def run_entry_operations(self, batch: "EntryBatch", project: ProjectChoice, user_id: str | None) -> list[Any]:
        """Where no project is named, it is the tenant's default project (ISO-11)."""
        from cloister.domain.entries.entry import EntryScope
        from cloister.interfaces.python.entries.operations import result_shape

        named = self.services.projects.default_project(self.reach) if project is UNSPECIFIED else project
        scope = EntryScope(project=named, user=user_id)
        return [result_shape(result) for result in self.services.entries.run(self.reach, scope, batch.parsed)]


class RemoteEntries:
    """Asks a server. A batch that only reads needs no permission to write."""

    server: "Connection"

    def run_entry_operations(self, batch: "EntryBatch", project: ProjectChoice, user_id: str | None) -> list[Any]:
        body = {**project_field(project), **fields_given(user_id=user_id), "operations": list(batch.given)}
        answer = self.server.change("POST", WRITE_PATH, body) if batch.writes else self.server.ask(READ_PATH, body)
        return answer.one(EntryResults).data
