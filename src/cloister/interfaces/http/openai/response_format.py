"""A turn as a response of OpenAI's interface, whole or as a stream of named events."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cloister.domain.reply import TextDelta, ToolCallDelta
from cloister.interfaces.http import sse
from cloister.interfaces.http.openai.errors import error_body
from cloister.interfaces.http.openai.reply import failure
from cloister.services.chat.converse import TurnEnd, TurnEvent
from cloister.services.chat.responses import call_item
from cloister.services.conversations.item_format import CALL_TYPES

# By the type of a tool call: the events of its arguments, and the fields of the last of them.
_ARGUMENTS = {
    "function_call": ("function_call_arguments", ("name", "arguments")),
    "custom_tool_call": ("custom_tool_call_input", ("input",)),
}
_CUT = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponseFormat:
    """The format of one response. `echo` are the fields of the request that a response repeats; `item_id` returns the id of the
    reply's message (0) or of a tool call (its index + 1), by its type."""

    def __init__(
        self, id: str, echo: Mapping[str, Any], model: Callable[[], str], item_id: Callable[[int, str], str]
    ) -> None:
        self._id = id
        self._echo = echo
        self._model = model
        self._item_id = item_id
        self._created = int(time.time())
        self._sequence = 0
        self._positions: dict[int, int] = {}
        self._texts: dict[int, list[str]] = {}
        self._calls: dict[int, dict[str, Any]] = {}

    def whole(self, events: Iterable[TurnEvent]) -> dict[str, Any]:
        finished = None
        for event in events:
            if isinstance(event, TextDelta | ToolCallDelta):
                self._take(event)
            elif isinstance(event, TurnEnd):
                finished = event
        assert finished is not None
        return self._finished(finished)

    def opening(self) -> bytes:
        started = self._response("in_progress", [])
        return b"".join(self._event(f"response.{kind}", response=started) for kind in ("created", "in_progress"))

    def events(self, events: Iterable[TurnEvent]) -> bytes:
        return b"".join(self._events(events))

    def _events(self, events: Iterable[TurnEvent]) -> Iterator[bytes]:
        for event in events:
            if isinstance(event, TextDelta | ToolCallDelta):
                yield from self._delta(event)
            elif isinstance(event, TurnEnd):
                yield from self._last(event)

    def _delta(self, event: TextDelta | ToolCallDelta) -> Iterator[bytes]:
        index = self._index(event)
        is_first = index not in self._positions
        self._take(event)
        kind = self._kind(index)
        where = {"output_index": self._positions[index], "item_id": self._item_id(index, kind)}
        if is_first:
            item = self._item(index)
            empty: dict[str, Any] = {"status": "in_progress", "content": [], "arguments": "", "input": ""}
            added = {**item, **{field: value for field, value in empty.items() if field in item}}
            yield self._event("response.output_item.added", output_index=where["output_index"], item=added)
        if isinstance(event, ToolCallDelta):
            if event.arguments:
                yield self._event(f"response.{_ARGUMENTS[kind][0]}.delta", **where, delta=event.arguments)
            return
        if is_first:
            yield self._event("response.content_part.added", **where, content_index=0, part=_text_part(""))
        yield self._event("response.output_text.delta", **where, content_index=0, delta=event.text, logprobs=[])

    def _last(self, finished: TurnEnd) -> Iterator[bytes]:
        failed = failure([finished])
        if failed is not None:
            error = error_body(json.loads(bytes(failed.body)))["error"]
            response = self._response("failed", [], error={"code": error["code"], "message": error["message"]})
            yield self._event("response.failed", response=response)
            return
        for index, position in self._positions.items():
            yield from self._done(index, position)
        response = self._finished(finished)
        yield self._event(f"response.{response['status']}", response=response)

    def _done(self, index: int, position: int) -> Iterator[bytes]:
        item = self._item(index)
        where = {"output_index": position, "item_id": item["id"]}
        if index == 0:
            part = item["content"][0]
            yield self._event("response.output_text.done", **where, content_index=0, text=part["text"], logprobs=[])
            yield self._event("response.content_part.done", **where, content_index=0, part=part)
        else:
            event, fields = _ARGUMENTS[item["type"]]
            yield self._event(f"response.{event}.done", **where, **{field: item[field] for field in fields})
        yield self._event("response.output_item.done", output_index=position, item=item)

    def _take(self, event: TextDelta | ToolCallDelta) -> None:
        index = self._index(event)
        self._positions.setdefault(index, len(self._positions))
        if isinstance(event, TextDelta):
            self._texts.setdefault(index, []).append(event.text)
            return
        known = self._calls.setdefault(index, {"call_id": "", "name": "", "kind": event.kind})
        known["call_id"] = known["call_id"] or event.id or ""
        known["name"] = known["name"] or event.name or ""
        self._texts.setdefault(index, []).append(event.arguments)

    def _index(self, event: TextDelta | ToolCallDelta) -> int:
        return 0 if isinstance(event, TextDelta) else event.index + 1

    def _kind(self, index: int) -> str:
        return "message" if index == 0 else CALL_TYPES[self._calls[index]["kind"]]

    def _item(self, index: int) -> dict[str, Any]:
        text, id = "".join(self._texts[index]), self._item_id(index, self._kind(index))
        if index == 0:
            return message_item(id, text)
        call = self._calls[index]
        given = call["call_id"] or f"call_{id.rpartition('_')[2]}"
        return {"id": id, **call_item(call["kind"], given, call["name"], text)}

    def _finished(self, finished: TurnEnd) -> dict[str, Any]:
        output = [self._item(index) for index in self._positions]
        usage = None if finished.usage is None else (finished.usage.prompt_tokens, finished.usage.completion_tokens)
        status = "incomplete" if finished.finish_reason in _CUT else "completed"
        return self._response(status, output, reason=finished.finish_reason, usage=usage)

    def _response(
        self,
        status: str,
        output: list[dict[str, Any]],
        *,
        reason: str = "stop",
        usage: tuple[int, int] | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        return response_body(
            self._echo,
            id=self._id,
            created_at=self._created,
            model=self._model(),
            status=status,
            finish_reason=reason,
            usage=usage,
            output=output,
            error=error,
        )

    def _event(self, kind: str, **fields: Any) -> bytes:
        body = {"type": kind, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return sse.event(body, kind=kind)


def response_body(
    echo: Mapping[str, Any],
    *,
    id: str,
    created_at: int,
    model: str,
    status: str,
    finish_reason: str,
    usage: tuple[int, int] | None,
    output: list[dict[str, Any]],
    error: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A response as JSON. One that its client stopped is `cancelled`; one that broke off is `incomplete` without a reason."""
    reason = _CUT.get(finish_reason)
    return {
        "id": id,
        "object": "response",
        "created_at": created_at,
        "status": "cancelled" if finish_reason == "stopped" else status,
        "background": False,
        "error": error,
        "incomplete_details": None if reason is None or status != "incomplete" else {"reason": reason},
        "model": model,
        "output": output,
        **echo,
        "usage": None if usage is None else _usage(*usage),
    }


def message_item(id: str, text: str) -> dict[str, Any]:
    return {"id": id, "type": "message", "role": "assistant", "status": "completed", "content": [_text_part(text)]}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(prompt: int, completion: int) -> dict[str, Any]:
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }
