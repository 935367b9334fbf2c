"""The parser of a model's reply while it arrives: server-sent events, or one JSON completion from servers that do not stream."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from cloister.domain.reply import End, Piece, TextDelta, ToolCallDelta, Usage
from cloister.models.openai.failures import CallFailed, Failure, not_an_endpoint, parse_json
from cloister.models.openai.line_buffer import LineBuffer

_EVENT = b"data:"
_END = b"[DONE]"
_STREAM = (_EVENT, b"event:", b"id:", b"retry:", b":")
_LONGEST_START = max(map(len, _STREAM))
_LONGEST_WHITE_SPACE = 1_000_000


class ReplyParser:
    """Parses one reply of at most `limit` bytes: call `feed` with each part of the body, then `end`.

    Both raise `CallFailed` if the reply is cut off or contains an error, and `ModelUnavailable` if the body is no reply at all.
    """

    def __init__(self, limit: int) -> None:
        self._buffer = LineBuffer(limit)
        self._streamed: bool | None = None
        self._white_space = 0
        self._ended = False
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._called = False

    def feed(self, part: bytes) -> Iterator[Piece]:
        if self._streamed is None:
            self._buffer.add(part)
            # Some servers send white space to keep the connection alive until the answer begins.
            begun = self._buffer.rest.lstrip()
            self._white_space += len(self._buffer.rest) - len(begun)
            if self._white_space > _LONGEST_WHITE_SPACE:
                raise not_an_endpoint()
            self._buffer.rest.clear()
            part = bytes(begun)
            if len(part) < _LONGEST_START:
                self._buffer.rest += part
                return
            self._streamed = part.startswith(_STREAM)
            self._buffer.allow(len(part))
        if not self._streamed:
            self._buffer.add(part)
            return
        for line in self._buffer.lines(part):
            yield from self._line(line)

    @property
    def unparsed(self) -> int:
        """How many bytes have come of a line that is not complete."""
        return len(self._buffer.rest)

    def end(self) -> Iterator[Piece]:
        """Parse what is left once the body is complete. The last piece is the `End`."""
        if self._streamed is None:
            self._streamed = self._buffer.rest.startswith(_STREAM)
        if self._streamed:
            yield from self._line(bytes(self._buffer.rest))
            if not self._ended and self._finish_reason is None:
                raise CallFailed(Failure(broken=True))
        else:
            yield from self._completion(self._buffer.rest)
        usual = "tool_calls" if self._called else "stop"
        yield End(finish_reason=self._finish_reason or usual, usage=self._usage)

    def _line(self, line: bytes) -> Iterator[Piece]:
        data = line.removeprefix(_EVENT).strip()
        if self._ended or not line.startswith(_EVENT) or not data:
            return
        if data == _END:
            self._ended = True
            return
        yield from self._completion(data)

    def _completion(self, data: bytes | bytearray) -> Iterator[Piece]:
        """The pieces of one chunk of a stream, with its text in `delta`, or of a whole completion, with its text in `message`."""
        completion = parse_json(data)
        if completion is None:
            raise CallFailed(Failure(broken=True)) if self._streamed else not_an_endpoint()
        try:
            if completion.get("error"):
                raise CallFailed(Failure(broken=True))
            self._usage = _usage(completion.get("usage")) or self._usage
            choices: list[Any] = completion.get("choices") or []
            if not choices and not self._streamed:
                raise not_an_endpoint()
            for choice in choices[:1]:
                self._finish_reason = _text(choice.get("finish_reason")) or self._finish_reason
                yield from self._message(choice.get("delta" if self._streamed else "message") or {})
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            # A field has another type than in OpenAI's API.
            raise not_an_endpoint() from None

    def _message(self, message: Any) -> Iterator[Piece]:
        for field in ("content", "refusal"):
            if text := _text(message.get(field)):
                yield TextDelta(text)
        for position, call in enumerate(message.get("tool_calls") or []):
            custom: dict[str, Any] | None = call.get("custom")
            function: dict[str, Any] = custom or call.get("function") or {}
            self._called = True
            yield ToolCallDelta(
                index=int(call.get("index", position)),
                id=_text(call.get("id")),
                name=_text(function.get("name")),
                arguments=_text(function.get("arguments" if custom is None else "input")) or "",
                kind="function" if custom is None else "custom",
            )


def _usage(given: Any) -> Usage | None:
    if not isinstance(given, dict):
        return None
    counts = cast(Mapping[str, object], given)
    prompt, completion = counts.get("prompt_tokens"), counts.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return None
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _text(given: object) -> str | None:
    return given if isinstance(given, str) else None
