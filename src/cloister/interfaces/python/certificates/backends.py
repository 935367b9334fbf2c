"""What is deleted at a server, each with its certificate or as a dry run; and the audit of the server."""

from typing import TYPE_CHECKING, Final

from cloister.domain.identifiers import EntityId, MemoryId, MessageId, format_message_id
from cloister.domain.sessions.expected import ExpectedSession
from cloister.interfaces.audit.report import Audit
from cloister.interfaces.python.backends.requests import (
    entity_path,
    expectation,
    memory_path,
    session_path,
    tried,
    with_query,
)
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.shapes import Forgotten
from cloister.services.indexing.reindex import Progress

if TYPE_CHECKING:  # the HTTP client takes long to load, and an embedded Cloister does not need it
    from cloister.interfaces.python.connection import Connection

_SECONDS_FOR_AN_AUDIT: Final = 600


class RemoteRemovals:
    """Part of the remote backend."""

    server: "Connection"

    def delete_session(self, session_id: str, dry_run: bool) -> Forgotten:
        return self.server.change("DELETE", tried(session_path(session_id), dry_run)).one(Forgotten)

    def clear_session(self, session_id: str, dry_run: bool, expected: ExpectedSession) -> Forgotten:
        flags = {"dry_run": "true"} if dry_run else {}
        path = with_query(f"{session_path(session_id)}/clear", {**flags, **expectation(expected)})
        return self.server.change("POST", path).one(Forgotten)

    def forget_message(self, message: MessageId, dry_run: bool) -> Removed:
        path = f"/v1/messages/{format_message_id(message)}"
        return self.server.change("DELETE", tried(path, dry_run)).one(Removed)

    def forget_memory(self, memory: MemoryId, dry_run: bool) -> Removed:
        return self.server.change("DELETE", tried(memory_path(memory), dry_run)).one(Removed)

    def delete_entity(self, entity: EntityId, dry_run: bool) -> Removed:
        return self.server.change("DELETE", tried(entity_path(entity), dry_run)).one(Removed)

    def audit(self, progress: Progress | None) -> Audit:
        """Within the tenant of the key. A server tells no progress."""
        return self.server.change("POST", "/v1/audit", seconds=_SECONDS_FOR_AN_AUDIT).one(Audit)
