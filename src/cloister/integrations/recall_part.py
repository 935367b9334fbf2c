"""What one user said in one project, for adapters that record and search: no call names another user or project."""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from cloister.domain.errors import Conflict, InvalidRequest, NotFound
from cloister.domain.text import checked_name
from cloister.integrations.entry_part import expect, get, namespace_of, put, read_value
from cloister.integrations.threaded_library import threaded_library
from cloister.interfaces.python.arguments import LARGEST_PAGE
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.recall.shapes import Hit
from cloister.interfaces.python.shapes import Message, Session

_MEMORY = "mem_"


class RecallPart:
    """Calls of it block: an adapter makes them on threads. Without a project it is the project of the key, else the default one."""

    def __init__(
        self, cloister: Cloister, *, project_id: str | None, user_id: str, metadata: Mapping[str, Any]
    ) -> None:
        """`metadata` is what the adapter records with each message: nothing without it is found."""
        self.cloister = threaded_library(cloister)
        self.user_id = checked_name(user_id, "user_id")
        self._project_id = project_id
        self._metadata = dict(metadata)

    def session_of(self, adapter: str, *names: str) -> str:
        """The external id of the adapter's session of these names. It is random, so that no caller who knows the names can take it,
        and kept with the entries of this project and user, which no other project and user reads."""
        namespace = namespace_of(adapter, "sessions")
        key = hashlib.sha256(json.dumps(names).encode()).hexdigest()
        scope: dict[str, Any] = {"project_id": self._project_id, "user_id": self.user_id}
        (found,) = self.cloister.run_entry_operations([get(namespace, key)], **scope)
        if found is None:
            new = put(namespace, key, {"session": f"{adapter}-{secrets.token_hex(16)}"})
            with suppress(Conflict):  # another caller named the session meanwhile
                self.cloister.run_entry_operations([expect(namespace, key, None), new], **scope)
            (found,) = self.cloister.run_entry_operations([get(namespace, key)], **scope)
            if found is None:
                raise Conflict("What names the session was removed meanwhile. Try again.")
        return read_value(found, lambda value: checked_name(value["session"], "session"))

    def create_session(self, external_id: str) -> Session:
        """Create the session, unless it is there."""
        return self.cloister.create_session(external_id, project_id=self._project_id, user_id=self.user_id)

    def messages(self, external_id: str) -> Iterator[Message]:
        """All messages of a session, page by page."""
        cursor: str | None = None
        while True:
            page = self.cloister.messages(external_id, limit=LARGEST_PAGE, cursor=cursor)
            yield from page
            cursor = page.next_cursor
            if cursor is None:
                return

    def search(self, query: str, limit: int) -> list[Hit]:
        """What was said through this adapter, and the memories of it; the best first."""
        return list(
            self.cloister.search(
                query,
                project_id=self._project_id,
                user_id=self.user_id,
                kinds=("episodes", "memories"),
                limit=limit,
                filter={"metadata": self._metadata},
            )
        )

    def forget(self, memory_id: str | None) -> None:
        """Forget one memory of this user. The key may reach other projects: only a search in this one can find the memory."""
        if not memory_id or not memory_id.startswith(_MEMORY):
            raise InvalidRequest("memory_id", "must be the id of a memory, as a search returns it.")
        memory = self.cloister.get_memory(memory_id)
        found = self.cloister.search(
            memory.content,
            project_id=self._project_id,
            user_id=self.user_id,
            kinds=("memories",),
            limit=LARGEST_PAGE,
            min_relevance=0,
            as_of=None if memory.status == "active" else memory.valid_from,
            filter={"session_id": memory.session_id, "user_id": self.user_id, "metadata": self._metadata},
        )
        if memory_id not in {hit.id for hit in found}:
            raise NotFound("memory", memory_id)
        self.cloister.forget_memory(memory_id)
