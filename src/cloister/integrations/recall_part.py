"""What one user said in one project, for adapters that record and search: no call names another user or project."""

from collections.abc import Iterator
from urllib.parse import quote

from cloister.domain.errors import InvalidRequest, NotFound
from cloister.domain.text import checked_name
from cloister.integrations.threaded_library import threaded_library
from cloister.interfaces.python.arguments import LARGEST_PAGE
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.recall.shapes import Hit
from cloister.interfaces.python.shapes import Message, Session

_MEMORY = "mem_"


class RecallPart:
    """Calls of it block: an adapter makes them on threads. Without a project it is the project of the key, else the default one."""

    def __init__(self, cloister: Cloister, *, project_id: str | None, user_id: str) -> None:
        self.cloister = threaded_library(cloister)
        self.user_id = checked_name(user_id, "user_id")
        self._project_id = project_id

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
        """What was said, and the memories of it; the best first."""
        return list(
            self.cloister.search(
                query,
                project_id=self._project_id,
                user_id=self.user_id,
                kinds=("episodes", "memories"),
                limit=limit,
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
            filter={"session_id": memory.session_id, "user_id": self.user_id},
        )
        if memory_id not in {hit.id for hit in found}:
            raise NotFound("memory", memory_id)
        self.cloister.forget_memory(memory_id)


def external_id_of(*names: str) -> str:
    """One id of several names. They are quoted, because they may contain any character: so no two lists of names give one id."""
    return ":".join(quote(name, safe="") for name in names)
