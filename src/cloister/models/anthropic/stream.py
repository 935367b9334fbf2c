"""The parser of a reply in Anthropic's format while it arrives, and the headers of its request.

Every event is passed on as it came, for clients of the same interface; what Cloister itself reads of it (texts, tool calls, why it
ended) comes as pieces in the format of all models.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from cloister.domain.errors import ModelUnavailable
from cloister.domain.reply import End, Piece, ProviderEvent, TextDelta, ToolCallDelta, Usage
from cloister.models.openai.failures import CallFailed, Failure, parse_json
from cloister.models.openai.line_buffer import LineBuffer

MESSAGES = "/messages"
COUNT_TOKENS = "/messages/count_tokens"
CURRENT_VERSION = "2026-10-21"
"""The first version of the interface whose clients send the key as a bearer token only."""
_DATA = b"data:"
_LINES = (_DATA, b"event:", b"id:", b"retry:", b":")
# Anthropic's reasons to stop, in the words of all models; the client gets the reason as it came.
_REASONS: Mapping[str, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


class LacksRoute(Exception):
    """The model's server does not have the route that was asked for."""


def message_headers(given: Mapping[str, str], key: str | None) -> dict[str, str]:
    """The headers of a request, beyond the bearer token, which the client sets: the version, which decides the format of the
    answer, is the caller's. Older versions expect the key in a header of its own."""
    headers = {"anthropic-version": CURRENT_VERSION, **given}
    if key is not None and headers["anthropic-version"] < CURRENT_VERSION:
        headers["x-api-key"] = key
    return headers


def not_messages() -> ModelUnavailable:
    return ModelUnavailable(
        "What answers there has no /v1/messages: set CLOISTER_MODEL_URL to a server that has it (llama.cpp, Ollama, vLLM, "
        "Anthropic), or use /v1/chat/completions here."
    )


def lacks_messages(status: int, body: bytes) -> bool:
    """Whether an answer says that the server has no such route. An unknown model is an error in Anthropic's format."""
    return status in (404, 405, 501) and b"not_found_error" not in body


class MessageParser:
    """Parses one streamed message of at most `limit` bytes: call `feed` with each part of the body, then `end`.

    Both raise `CallFailed` if the message is cut off or contains an error, and `ModelUnavailable` if the body is no stream of
    events.
    """

    def __init__(self, limit: int) -> None:
        self._buffer = LineBuffer(limit)
        self._started = False
        self._stop_reason: str | None = None
        self._usage = {"input_tokens": 0, "output_tokens": 0}

    def feed(self, part: bytes) -> Iterator[Piece]:
        for line in self._buffer.lines(part):
            yield from self._line(line.strip())

    @property
    def unparsed(self) -> int:
        """How many bytes have come of a line that is not complete."""
        return len(self._buffer.rest)

    def end(self) -> Iterator[Piece]:
        """Parse what is left once the body is complete. The last piece is the `End`."""
        yield from self._line(bytes(self._buffer.rest.strip()))
        if not self._started:
            raise not_messages()
        if self._stop_reason is None:
            raise CallFailed(Failure(broken=True))
        usage = Usage(prompt_tokens=self._usage["input_tokens"], completion_tokens=self._usage["output_tokens"])
        yield End(finish_reason=_REASONS.get(self._stop_reason, "stop"), usage=usage)

    def _line(self, line: bytes) -> Iterator[Piece]:
        if line and not line.startswith(_LINES):
            raise not_messages()
        if not line.startswith(_DATA):
            return
        event = parse_json(line.removeprefix(_DATA))
        try:
            pieces = [*self._event(event)]
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            # A field has another type than in Anthropic's API.
            raise not_messages() from None
        if self._started:
            yield ProviderEvent(event)
            yield from pieces

    def _event(self, event: Any) -> Iterator[Piece]:
        """The pieces of an event, other than the event itself."""
        kind: str = event["type"]
        if kind == "error":
            raise CallFailed(Failure(broken=True))
        if kind == "message_start":
            self._started = True
            self._count(event["message"].get("usage"))
        elif kind == "content_block_start":
            yield from _block(int(event["index"]), event["content_block"])
        elif kind == "content_block_delta":
            yield from _delta(int(event["index"]), event["delta"])
        elif kind == "message_delta":
            self._stop_reason = event["delta"].get("stop_reason") or self._stop_reason
            self._count(event.get("usage"))

    def _count(self, usage: Any) -> None:
        """The counts of a later event replace those of an earlier one."""
        for name in self._usage:
            if usage is not None and isinstance(usage.get(name), int):
                self._usage[name] = usage[name]


def _block(index: int, block: Any) -> Iterator[Piece]:
    """A block begins: a text may be in it already, and a tool call is named."""
    if block["type"] == "text" and isinstance(block.get("text"), str) and block["text"]:
        yield TextDelta(block["text"])
    elif block["type"].endswith("tool_use"):
        yield ToolCallDelta(index=index, id=_text(block.get("id")), name=_text(block.get("name")))


def _delta(index: int, delta: Any) -> Iterator[Piece]:
    if delta["type"] == "text_delta" and delta["text"]:
        yield TextDelta(_text(delta["text"]) or "")
    elif delta["type"] == "input_json_delta" and delta["partial_json"]:
        yield ToolCallDelta(index=index, arguments=_text(delta["partial_json"]) or "")


def _text(given: object) -> str | None:
    return given if isinstance(given, str) else None
