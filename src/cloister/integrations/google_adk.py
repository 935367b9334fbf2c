"""`CloisterMemoryService`: the memory service of Google's Agent Development Kit on Cloister. What is said in one session of an app
can be recalled in the user's other sessions of the same app and project."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.prompts.outside_text import harmless
from cloister.domain.prompts.speaker import speaker_of, user_named
from cloister.domain.text import MAX_CONTENT, checked_name
from cloister.integrations.recall_part import RecallPart
from cloister.interfaces.python.arguments import NOT_GIVEN
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

_APP, _EVENT = "adk_app_name", "adk_event_id"


class CloisterMemoryService(BaseMemoryService):
    """A service for `Runner(memory_service=…)`, of one app and one user, in one project: without `project_id` it is the project of
    the key, else the default project, with None no project. A call that names another app or user is refused with `Forbidden`.

    A session may be added as often as wanted: each event is recorded once, up to 65,536 characters of its text, and events without
    text are not. What users say becomes memories too, as everywhere in Cloister. A search finds what services of the same app
    recorded; other interfaces recall it with all else that the user said in the project. Any thread and event loop may use a
    service.
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
        self._app_name = checked_name(app_name, "app_name")
        self._label = {_APP: app_name}
        self._part = RecallPart(cloister, project_id=project_id, user_id=user_id, metadata=self._label)
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
        await asyncio.to_thread(self._record, session_id, events)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What this user said, and what is known of it, in sessions of this app and project; the best first. In a shared project
        also what others said: then every entry names its speaker, also inside a memory."""
        self._check(app_name, user_id)
        if not query.strip():
            return SearchMemoryResponse()
        hits = await asyncio.to_thread(self._part.search, query, self._limit)
        # Only a shared project has words of others. There "the user" would be taken for the one who asks (MEM-11).
        named = any(hit.user_id != user_id for hit in hits)
        return SearchMemoryResponse(memories=[_memory(hit, named=named) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one memory of this user, which a search of this app can find. What was said is forgotten with its session:
        `Cloister.delete_session`."""
        self._check(app_name, user_id)
        await asyncio.to_thread(self._part.forget, memory_id)

    def _check(self, app_name: str, user_id: str) -> None:
        if (app_name, user_id) != (self._app_name, self._part.user_id):
            raise Forbidden("This memory service is of one app and one user, and the call names another.")

    def _record(self, session_id: str, events: Sequence[Event]) -> None:
        if not (texts := {event.id: (event, text) for event in events if (text := _text(event.content))}):
            return
        session = self._part.session_of("google_adk", self._app_name, session_id)
        created = self._part.create_session(session)
        for message in self._part.messages(session):
            texts.pop(str(message.metadata.get(_EVENT)), None)
        for event, text in texts.values():
            self._part.cloister.record(
                session,
                "user" if event.author == "user" else "assistant",
                text[:MAX_CONTENT],
                author=None if event.author == "user" else event.author,
                metadata={**self._label, _EVENT: event.id},
                created_at=datetime.fromtimestamp(event.timestamp, UTC).isoformat(),
                idempotency_key=f"adk-{event.id}",
                # The session may be moved, or created anew for another user, at any time.
                project_id=created.project_id,
                user_id=created.user_id,
            )


def _text(content: types.Content | None) -> str:
    parts = (content.parts if content else None) or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _memory(hit: Hit, *, named: bool) -> MemoryEntry:
    """The content of a memory already names its user in a shared project; the author of a message is named here. The kit puts both
    into the prompt, so no control word may be left in them (MEM-10)."""
    if hit.kind == "memory":
        author = user_named(hit.user_id) if named else "user"
    else:
        role = hit.role or "user"
        author = speaker_of(role, hit.author, hit.user_id, named=True) if named else hit.author or role
    return MemoryEntry(
        id=hit.id if hit.kind == "memory" else None,
        content=types.Content(
            role="model" if hit.role == "assistant" else "user", parts=[types.Part(text=harmless(hit.content))]
        ),
        author=harmless(author),
        timestamp=hit.created_at,
    )
