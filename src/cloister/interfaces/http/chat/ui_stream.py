"""A chat turn as a UI message stream of the AI SDK, limited to the part of the protocol that versions 5, 6 and 7 all accept.

The SDK rejects events and fields that it does not know, so no event is added: the session, the message id and the status are in
the metadata of the message, and what was recalled is in the part `data-context`.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing

from pydantic import TypeAdapter
from starlette.responses import StreamingResponse

from cloister.domain.errors import CloisterError, StorageError
from cloister.domain.identifiers import ReceiptId, format_message_id, format_receipt_id
from cloister.domain.reply import TextDelta
from cloister.interfaces.http import sse
from cloister.interfaces.http.chat.running_turns import RunningTurn
from cloister.interfaces.http.dispatch.access_recheck import StreamGuard
from cloister.interfaces.http.problems import CRASH, sentence_of
from cloister.interfaces.python.recall import shapes as recall_shapes
from cloister.services.chat.converse import TurnContext, TurnEnd, TurnEvent

HEADERS: Mapping[str, str] = {
    **sse.HEADERS,
    "x-vercel-ai-ui-message-stream": "v1",
    "Cache-Control": "no-cache, no-store",
}
_CONTEXT = TypeAdapter(recall_shapes.Context)
# The client has these already, or can derive them.
_LEFT_OUT = {"current_conversation", "chat_history", "memory_context", "receipt", "receipt_id", "unmoved_token"}
_TEXT = "reply"


def ui_stream(running: RunningTurn, guard: StreamGuard) -> StreamingResponse:
    return StreamingResponse(_events(running, guard), headers=HEADERS, media_type=sse.MEDIA_TYPE)


async def _events(running: RunningTurn, guard: StreamGuard) -> AsyncGenerator[bytes]:
    writer = _EventWriter(running)
    yield _event(type="start", messageId=running.turn.name)
    async with aclosing(running.follow(guard)) as following:
        async for events in following:
            yield b"".join(part for event in events for part in writer.write(event)) or sse.keep_alive()
    yield sse.DONE


class _EventWriter:
    """Translates the events of one turn into those of the AI SDK; the text part begins with the first delta."""

    def __init__(self, running: RunningTurn) -> None:
        self._session = running.turn.session.external_id
        self._question = format_message_id(running.turn.question.id)
        self._open = False

    def write(self, event: TurnEvent) -> Iterator[bytes]:
        match event:
            case TurnContext(context=context):
                data = _CONTEXT.dump_json(recall_shapes.context_shape(context), exclude=_LEFT_OUT)
                yield sse.json_event(b'{"type":"data-context","id":"context","data":' + data + b"}")
            case TextDelta(text=text):
                if not self._open:
                    self._open = True
                    yield _event(type="text-start", id=_TEXT)
                yield _event(type="text-delta", id=_TEXT, delta=text)
            case TurnEnd():
                yield from self._end(event)
            case _:
                """Tool calls: this route offers the model no tools."""

    def _end(self, finished: TurnEnd) -> Iterator[bytes]:
        if self._open:
            yield _event(type="text-end", id=_TEXT)
        stored = None if finished.message is None else format_message_id(finished.message.id)
        receipt = None if finished.message is None else format_receipt_id(ReceiptId(finished.message.id))
        metadata = {
            "session_id": self._session,
            "message_id": stored,
            "status": finished.status,
            "receipt_id": receipt,
            "question_id": self._question,
            "is_current": finished.message is not None and finished.message.is_current,
        }
        if finished.error is not None or finished.finish_reason == "error":
            yield _event(type="message-metadata", messageMetadata=metadata)
            yield _event(type="error", errorText=_sentence(finished.error))
        else:
            yield _event(type="finish", messageMetadata=metadata)


def _event(**fields: object) -> bytes:
    return sse.event(fields)


def _sentence(error: CloisterError | None) -> str:
    """The text of a storage error may name files and hosts, so clients get the general sentence of its class instead."""
    if error is None:
        return CRASH
    return sentence_of(error) if isinstance(error, StorageError) else str(error)
