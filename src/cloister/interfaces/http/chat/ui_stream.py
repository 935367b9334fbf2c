"""A turn as the AI SDK's UI message stream: the part of the protocol that its versions 5, 6 and 7 all take.

They refuse events and fields that they do not know, so nothing is added to it: what else is to be said goes into the metadata of
the message, and into the part `data-context`.
"""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing

from pydantic import TypeAdapter
from starlette.responses import StreamingResponse

from cloister.domain.errors import CloisterError, StorageError
from cloister.domain.identifiers import format_message_id
from cloister.domain.reply import TextDelta
from cloister.interfaces.http.chat.running_turns import RunningTurn
from cloister.interfaces.http.dispatch.access_recheck import StreamGuard
from cloister.interfaces.http.problems import CRASH
from cloister.interfaces.python import shapes
from cloister.services.chat.converse import TurnContext, TurnEnd, TurnEvent

HEADERS: Mapping[str, str] = {
    "x-vercel-ai-ui-message-stream": "v1",
    "Cache-Control": "no-cache, no-store",
    "X-Accel-Buffering": "no",
}
MEDIA_TYPE = "text/event-stream"
_CONTEXT = TypeAdapter(shapes.Context)
# The client has the conversation already.
_NOT_TOLD = {"current_conversation", "chat_history", "memory_context"}
_TEXT = "reply"
_ALIVE = b": still there\n\n"
_DONE = b"data: [DONE]\n\n"


def ui_stream(running: RunningTurn, guard: StreamGuard) -> StreamingResponse:
    return StreamingResponse(_events(running, guard), headers=HEADERS, media_type=MEDIA_TYPE)


async def _events(running: RunningTurn, guard: StreamGuard) -> AsyncGenerator[bytes]:
    told = _Telling(running)
    yield _event(type="start", messageId=running.turn.name)
    async with aclosing(running.follow(guard)) as following:
        async for events in following:
            yield b"".join(part for event in events for part in told.of(event)) or _ALIVE
    yield _DONE


class _Telling:
    """Happenings as events; text is opened with its first words."""

    def __init__(self, running: RunningTurn) -> None:
        self._session = running.turn.session.external_id
        self._open = False

    def of(self, event: TurnEvent) -> Iterator[bytes]:
        match event:
            case TurnContext(context=context):
                data = _CONTEXT.dump_json(shapes.context_shape(context), exclude=_NOT_TOLD)
                yield b'data: {"type":"data-context","id":"context","data":' + data + b"}\n\n"
            case TextDelta(text=text):
                if not self._open:
                    self._open = True
                    yield _event(type="text-start", id=_TEXT)
                yield _event(type="text-delta", id=_TEXT, delta=text)
            case TurnEnd():
                yield from self._end(event)
            case _:
                """Calls of tools: none were offered here."""

    def _end(self, finished: TurnEnd) -> Iterator[bytes]:
        if self._open:
            yield _event(type="text-end", id=_TEXT)
        stored = None if finished.message is None else format_message_id(finished.message.id)
        metadata = {"session_id": self._session, "message_id": stored, "status": finished.status}
        if finished.error is not None or finished.finish_reason == "error":
            yield _event(type="message-metadata", messageMetadata=metadata)
            yield _event(type="error", errorText=_sentence(finished.error))
        else:
            yield _event(type="finish", messageMetadata=metadata)


def _event(**fields: object) -> bytes:
    return f"data: {json.dumps(fields)}\n\n".encode()


def _sentence(error: CloisterError | None) -> str:
    """What the database says is for its owner."""
    if error is None:
        return CRASH
    return str(type(error).__doc__) if isinstance(error, StorageError) else str(error)
