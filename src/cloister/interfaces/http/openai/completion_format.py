"""A turn as a chat completion of OpenAI's interface, whole or in chunks."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cloister.domain.reply import TextDelta, ToolCallDelta, ToolKind, Usage
from cloister.interfaces.http import sse
from cloister.interfaces.http.openai.errors import error_body
from cloister.interfaces.http.openai.reply import failure
from cloister.services.chat.converse import TurnEnd, TurnEvent

_ARGUMENTS: Mapping[ToolKind, str] = {"function": "arguments", "custom": "input"}


class CompletionFormat:
    """The format of one chat completion. `number` makes its id; `model` returns the name of the model that answers, as far as it is
    known; with `usage` a stream ends with the token counts."""

    def __init__(self, number: int, model: Callable[[], str], *, usage: bool) -> None:
        self._id = f"chatcmpl-{number:016x}"
        self._model = model
        self._usage = usage
        self._created = int(time.time())

    def whole(self, events: Iterable[TurnEvent]) -> dict[str, Any]:
        calls: dict[int, dict[str, Any]] = {}
        words: list[str] = []
        finished = None
        for event in events:
            if isinstance(event, TextDelta):
                words.append(event.text)
            elif isinstance(event, ToolCallDelta):
                _gather(calls, event)
            elif isinstance(event, TurnEnd):
                finished = event
        assert finished is not None
        message: dict[str, Any] = {"role": "assistant", "content": "".join(words) or None, "refusal": None}
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finished.finish_reason}
        return {**self._named("chat.completion"), "choices": [choice], "usage": _usage(finished.usage)}

    def opening(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def events(self, events: Iterable[TurnEvent]) -> bytes:
        return b"".join(self._events(events))

    def _events(self, events: Iterable[TurnEvent]) -> Iterator[bytes]:
        for event in events:
            if isinstance(event, TextDelta):
                yield self._chunk({"content": event.text})
            elif isinstance(event, ToolCallDelta):
                yield self._chunk({"tool_calls": [_call(event)]})
            elif isinstance(event, TurnEnd):
                yield from self._last(event)

    def _last(self, finished: TurnEnd) -> Iterator[bytes]:
        failed = failure([finished])
        if failed is not None:
            yield sse.event(error_body(json.loads(bytes(failed.body))))
            return
        yield self._chunk({}, finished.finish_reason)
        if self._usage:
            named = self._named("chat.completion.chunk")
            yield sse.event({**named, "choices": [], "usage": _usage(finished.usage)})
        yield sse.DONE

    def _chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._usage else {}
        return sse.event({**self._named("chat.completion.chunk"), "choices": [choice], **usage})

    def _named(self, kind: str) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": kind,
            "created": self._created,
            "model": self._model(),
        }


def _gather(calls: dict[int, dict[str, Any]], part: ToolCallDelta) -> None:
    known = calls.setdefault(part.index, {"id": "", "type": part.kind, part.kind: _called(part.kind, "", "")})
    known["id"] = part.id or known["id"]
    called = known[known["type"]]
    called["name"] = part.name or called["name"]
    called[_ARGUMENTS[known["type"]]] += part.arguments


def _call(part: ToolCallDelta) -> dict[str, Any]:
    """A part of a tool call as a delta: the first has id and name, the others only arguments."""
    if part.id is None and part.name is None:
        return {"index": part.index, part.kind: {_ARGUMENTS[part.kind]: part.arguments}}
    called = _called(part.kind, part.name, part.arguments)
    return {"index": part.index, "id": part.id, "type": part.kind, part.kind: called}


def _called(kind: ToolKind, name: str | None, arguments: str) -> dict[str, Any]:
    return {"name": name, _ARGUMENTS[kind]: arguments}


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    counts = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    return {**counts, "total_tokens": usage.prompt_tokens + usage.completion_tokens}
