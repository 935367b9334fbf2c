"""A turn as a message of Anthropic's interface, whole or as a stream of events.

The events of the model's server are passed on as they came. Those that end the message wait until the reply is stored: a client
that has seen the end can rely on it. A reply without such events, which comes from no model at all, is made into one block of text.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cloister.domain.reply import ProviderEvent, TextDelta, Usage
from cloister.interfaces.http import sse
from cloister.interfaces.http.anthropic.errors import anthropic_error_body
from cloister.interfaces.http.openai.reply import failure
from cloister.services.chat.converse import TurnEnd, TurnEvent
from cloister.services.chat.turns import Turn

_LAST = ("message_delta", "message_stop")
_PASSED = frozenset({"message_start", "content_block_start", "content_block_delta", "content_block_stop", "ping"})
_REASONS: Mapping[str, str] = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
# The field of a delta that does not have the name of the field of the block that it belongs to.
_PARTIAL_JSON = "partial_json"

Event = Mapping[str, Any]


class MessageFormat:
    """The format of one message. `model` returns the name of the model that answers, as far as it is known."""

    def __init__(self, turn: Turn, model: Callable[[], str], request_id: str | None) -> None:
        self._id = f"msg_{turn.name.removeprefix('turn_')}"
        self._model = model
        self._request_id = request_id
        self._has_provider = False
        self._open: int | None = None
        self._last: list[Event] = []

    def whole(self, events: Iterable[TurnEvent]) -> dict[str, Any]:
        message = _Message()
        for event in self._all(events):
            message.add(event)
        return message.whole

    def opening(self) -> bytes:
        """Nothing: the first event is the model's."""
        return b""

    def events(self, events: Iterable[TurnEvent]) -> bytes:
        return b"".join(sse.event(event, kind=event["type"]) for event in self._all(events))

    def _all(self, events: Iterable[TurnEvent]) -> Iterator[Event]:
        """The events of the message for the events of the turn, in order, each once."""
        for event in events:
            if isinstance(event, ProviderEvent):
                self._has_provider = True
                yield from self._passed(event.data)
            elif isinstance(event, TextDelta) and not self._has_provider:
                if self._open is None:
                    yield from self._begun()
                delta = {"type": "text_delta", "text": event.text}
                yield {"type": "content_block_delta", "index": 0, "delta": delta}
            elif isinstance(event, TurnEnd):
                yield from self._ended(event)

    def _passed(self, event: Event) -> Iterator[Event]:
        kind = event["type"]
        if kind in _LAST:
            self._last.append(event)
        elif kind in _PASSED:
            if kind.startswith("content_block_"):
                self._open = None if kind == "content_block_stop" else event["index"]
            yield event

    def _begun(self) -> Iterator[Event]:
        self._open = 0
        usage = {"input_tokens": 0, "output_tokens": 0}
        message: dict[str, Any] = {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._model(),
            "content": [],
        }
        yield {
            "type": "message_start",
            "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage},
        }
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

    def _ended(self, finished: TurnEnd) -> Iterator[Event]:
        failed = failure([finished])
        if failed is not None:
            yield anthropic_error_body(json.loads(bytes(failed.body)), self._request_id)
            return
        if self._last:
            yield from self._last
            return
        if self._open is not None:
            yield {"type": "content_block_stop", "index": self._open}
        reason = _REASONS.get(finished.finish_reason, "end_turn")
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": _usage(finished.usage),
        }
        yield {"type": "message_stop"}


class _Message:
    """A message that is put together from its events, as Anthropic's clients do it."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._parts: dict[tuple[int, str], list[str]] = {}

    def add(self, event: Event) -> None:
        kind = event["type"]
        if kind == "message_start":
            self._fields = dict(event["message"])
        elif kind == "content_block_start":
            self._blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta" and event["index"] in self._blocks:
            self._delta(event["index"], event["delta"])
        elif kind == "message_delta":
            usage = {**_given(self._fields.get("usage")), **_given(event.get("usage"))}
            others = {name: event[name] for name in event if name not in ("type", "delta", "usage")}
            self._fields = {**self._fields, **event["delta"], **others, "usage": usage}

    @property
    def whole(self) -> dict[str, Any]:
        for (index, name), parts in self._parts.items():
            block, text = self._blocks[index], "".join(parts)
            if name == _PARTIAL_JSON:
                block["input"] = _input(text)
            else:
                block[name] = f"{block.get(name) or ''}{text}"
        return {**self._fields, "content": list(self._blocks.values())}

    def _delta(self, index: int, delta: Mapping[str, Any]) -> None:
        """A delta has the name of the field that it continues; of the list of citations it has one entry."""
        block = self._blocks[index]
        for name, value in delta.items():
            if name == "citation":
                citations: list[Any] = block.get("citations") or []
                citations.append(value)
                block["citations"] = citations
            elif name == "signature" or not isinstance(value, str):
                block[name] = value
            elif name != "type":
                self._parts.setdefault((index, name), []).append(value)


def _input(text: str) -> Any:
    """The input of a tool. One that is no JSON, as of a reply that was cut off, is left out as if the model had given none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


def _given(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: count for name, count in (usage or {}).items() if count is not None}


def _usage(usage: Usage | None) -> dict[str, int]:
    if usage is None:
        return {"input_tokens": 0, "output_tokens": 0}
    return {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
