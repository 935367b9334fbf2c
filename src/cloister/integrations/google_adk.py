"""`CloisterMemoryService`: the memory service of Google's Agent Development Kit on Cloister. What is said in one session of an app
can be recalled in the user's other sessions of the same project, and nowhere else."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from cloister.domain.errors import Forbidden, InvalidRequest, NotFound
from cloister.domain.prompts.speaker import speaker_of, user_named
from cloister.domain.text import MAX_CONTENT, checked_name
from cloister.integrations.threaded_library import threaded_library
from cloister.interfaces.python.arguments import LARGEST_PAGE, NOT_GIVEN
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.recall.shapes import Hit

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "CloisterMemoryService needs the Agent Development Kit: pip install 'cloister[google-adk]'", name=missing.name
    ) from missing

_EVENT = "adk_event_id"
_MEMORY = "mem_"


class CloisterMemoryService(BaseMemoryService):
    """A service for `Runner(memory_service=…)`, of one app and one user, in one project: without `project_id` it is the project of
    the key, else the default project, with None no project. A call that names another app or user is refused with `Forbidden`.

    A session may be added as often as wanted: each event is recorded once, up to 65,536 characters of its text, and events without
    text are not. What users say becomes memories too, as everywhere in Cloister. Any thread and event loop may use a service.
    """

    def __init__(
        self,
        cloister: Cloister,
        *,
        app_name: str,
        user_id: str,
        project_id: str | None = NOT_GIVEN,
        limit: int = 10,
    ) -> None:
        self._cloister = threaded_library(cloister)
        self._app_name = checked_name(app_name, "app_name")
        self._user_id = checked_name(user_id, "user_id")
        self._project_id = project_id
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Record events. `session_id` says in which session they were said, and cannot be left out."""
        self._check(app_name, user_id)
        if custom_metadata:
            raise InvalidRequest("custom_metadata", "is not supported.")
        if not session_id:
            raise InvalidRequest("session_id", "must name the session of the events.")
        await asyncio.to_thread(self._record, self._external_id(session_id), events)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What this user said, and what is known of it, in sessions of this project; the best first. In a shared project also what
        others said: then every entry names its speaker, also inside a memory."""
        self._check(app_name, user_id)
        if not query.strip():
            return SearchMemoryResponse()
        hits = await asyncio.to_thread(
            self._cloister.search,
            query,
            project_id=self._project_id,
            user_id=self._user_id,
            kinds=("episodes", "memories"),
            limit=self._limit,
        )
        # Only a shared project has words of others. There "the user" would be taken for the one who asks (MEM-11).
        named = any(hit.user_id != self._user_id for hit in hits)
        return SearchMemoryResponse(memories=[_memory(hit, named=named) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one memory of this user, which a search in this project can find. What was said is forgotten with its session:
        `Cloister.delete_session`."""
        self._check(app_name, user_id)
        if not memory_id or not memory_id.startswith(_MEMORY):
            raise InvalidRequest("memory_id", "must be the id of a memory, as a search returns it.")
        await asyncio.to_thread(self._forget, memory_id)

    def _check(self, app_name: str, user_id: str) -> None:
        if (app_name, user_id) != (self._app_name, self._user_id):
            raise Forbidden("This memory service is of one app and one user, and the call names another.")

    def _external_id(self, session_id: str) -> str:
        """The names are quoted, because they may contain any character: so no two sets of names give one id."""
        return ":".join(("adk", *(quote(name, safe="") for name in (self._app_name, self._user_id, session_id))))

    def _record(self, session: str, events: Sequence[Event]) -> None:
        if not (texts := {event.id: (event, text) for event in events if (text := _text(event.content))}):
            return
        self._cloister.create_session(session, project_id=self._project_id, user_id=self._user_id)
        for event_id in self._known(session):
            texts.pop(event_id, None)
        for event, text in texts.values():
            self._cloister.record(
                session,
                "user" if event.author == "user" else "assistant",
                text[:MAX_CONTENT],
                author=None if event.author == "user" else event.author,
                metadata={_EVENT: event.id},
                created_at=datetime.fromtimestamp(event.timestamp, UTC).isoformat(),
                idempotency_key=f"adk-{event.id}",
            )

    def _known(self, session: str) -> Iterator[str]:
        """The ids of the events that are recorded already."""
        cursor: str | None = None
        while True:
            page = self._cloister.messages(session, limit=LARGEST_PAGE, cursor=cursor)
            yield from (str(message.metadata.get(_EVENT)) for message in page)
            cursor = page.next_cursor
            if cursor is None:
                return

    def _forget(self, memory_id: str) -> None:
        """The key may reach other projects than this service: only a search in its own project can find the memory."""
        memory = self._cloister.get_memory(memory_id)
        found = self._cloister.search(
            memory.content,
            project_id=self._project_id,
            user_id=self._user_id,
            kinds=("memories",),
            limit=LARGEST_PAGE,
            min_relevance=0,
            as_of=None if memory.status == "active" else memory.valid_from,
            filter={"session_id": memory.session_id, "user_id": self._user_id},
        )
        if memory_id not in {hit.id for hit in found}:
            raise NotFound("memory", memory_id)
        self._cloister.forget_memory(memory_id)


def _text(content: types.Content | None) -> str:
    parts = (content.parts if content else None) or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _memory(hit: Hit, *, named: bool) -> MemoryEntry:
    """The content of a memory already names its user in a shared project; the author of a message is named here."""
    if hit.kind == "memory":
        author = user_named(hit.user_id) if named else "user"
    else:
        role = hit.role or "user"
        author = speaker_of(role, hit.author, hit.user_id, named=True) if named else hit.author or role
    return MemoryEntry(
        id=hit.id if hit.kind == "memory" else None,
        content=types.Content(
            role="model" if hit.role == "assistant" else "user", parts=[types.Part(text=hit.content)]
        ),
        author=author,
        timestamp=hit.created_at,
    )
