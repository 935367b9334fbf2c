"""What chat servers send while they answer, read as it comes: a stream of events, or one completion where they do not stream."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from cloister.domain.reply import End, Piece, TextDelta, ToolCallDelta, Usage
from cloister.models.openai.completions import BrokenAnswer, not_an_endpoint

_EVENT = b"data:"
_END = b"[DONE]"
_STREAM = (_EVENT, b"event:", b"id:", b"retry:", b":")
_LONGEST_BODY = 64_000_000


class Reading:
    """One answer. Give it bytes as they come, then ask for its end. Both raise `BrokenAnswer` where the answer does, and
    `ModelUnavailable` for what is no answer at all."""

    def __init__(self) -> None:
        self._rest = b""
        self._size = 0
        self._whole: list[bytes] | None = None
        self._began = self._ended = False
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._called = False

    def feed(self, part: bytes) -> Iterator[Piece]:
        self._size += len(part)
        if self._size > _LONGEST_BODY:
            raise not_an_endpoint()
        if self._whole is not None:
            self._whole.append(part)
            return
        *lines, self._rest = (self._rest + part).split(b"\n")
        for place, line in enumerate(lines):
            if not self._began and line.strip() and not line.startswith(_STREAM):
                self._whole = [b"\n".join([*lines[place:], self._rest])]
                self._rest = b""
                return
            yield from self._line(line)

    def end(self) -> Iterator[Piece]:
        """What is left when the body is at its end; its last piece is the `End`."""
        if self._whole is None and not self._began and not self._rest.lstrip().startswith(_STREAM):
            self._whole = [self._rest]
        if self._whole is not None:
            yield from self._completion(b"".join(self._whole))
        else:
            yield from self._line(self._rest)
            if not self._ended and self._finish_reason is None:
                raise BrokenAnswer
        usual = "tool_calls" if self._called else "stop"
        yield End(finish_reason=self._finish_reason or usual, usage=self._usage)

    def _line(self, line: bytes) -> Iterator[Piece]:
        self._began = self._began or bool(line.strip())
        data = line.removeprefix(_EVENT).strip()
        if self._ended or not line.startswith(_EVENT) or not data:
            return
        if data == _END:
            self._ended = True
            return
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            raise BrokenAnswer from None
        yield from self._answer(chunk, "delta")

    def _completion(self, body: bytes) -> Iterator[Piece]:
        try:
            completion = json.loads(body)
        except (ValueError, RecursionError):
            raise not_an_endpoint() from None
        if not (isinstance(completion, dict) and cast(Mapping[str, Any], completion).get("choices")):
            raise not_an_endpoint()
        yield from self._answer(completion, "message")

    def _answer(self, chunk: Any, words: str) -> Iterator[Piece]:
        """A chunk, or a whole completion, which differ only in what they call their words."""
        try:
            if chunk.get("error"):
                raise BrokenAnswer
            self._usage = _usage(chunk.get("usage")) or self._usage
            choices: list[Any] = chunk.get("choices") or []
            for choice in choices[:1]:
                self._finish_reason = _text(choice.get("finish_reason")) or self._finish_reason
                yield from self._said(choice.get(words) or {})
        except (AttributeError, KeyError, TypeError):
            raise not_an_endpoint() from None

    def _said(self, delta: Any) -> Iterator[Piece]:
        for field in ("content", "refusal"):
            if text := _text(delta.get(field)):
                yield TextDelta(text)
        for place, call in enumerate(delta.get("tool_calls") or []):
            function: dict[str, Any] = call.get("function") or {}
            self._called = True
            yield ToolCallDelta(
                index=int(call.get("index", place)),
                id=_text(call.get("id")),
                name=_text(function.get("name")),
                arguments=_text(function.get("arguments")) or "",
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
