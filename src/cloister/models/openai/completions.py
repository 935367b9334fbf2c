"""The bodies that OpenAI-compatible servers send: a completion, in one piece or as a stream of events, and a list of models."""

import json
from collections.abc import Iterator
from typing import Any

from cloister.domain.errors import ModelUnavailable
from cloister.models.openai.answers import Reply

_EVENT = b"data:"
_END = b"[DONE]"
_STREAM = (_EVENT, b"event:", b"id:", b"retry:", b":")


class BrokenAnswer(Exception):
    """The answer ended before its end, or with an error in its midst; another try may be luckier."""


def not_an_endpoint() -> ModelUnavailable:
    return ModelUnavailable(
        "What answers there is no OpenAI-compatible endpoint: check CLOISTER_MODEL_URL, which usually ends in /v1."
    )


def reply_of(body: bytes) -> Reply:
    """What the model wrote. Some servers answer in one piece, though they were asked for a stream."""
    streamed = body.lstrip().startswith(_STREAM)
    text: list[str] = []
    finish: object = None
    try:
        for chunk in _events(body) if streamed else [_json(body)]:
            if chunk.get("error"):
                raise BrokenAnswer
            for choice in chunk["choices"][:1] if streamed else [chunk["choices"][0]]:
                text.append(choice["delta" if streamed else "message"].get("content") or "")
                finish = choice.get("finish_reason") or finish
        if streamed and finish is None and not body.rstrip().endswith(_END):
            raise BrokenAnswer
        return Reply(text="".join(text), complete=finish != "length")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise not_an_endpoint() from None


def model_names(body: bytes) -> list[str]:
    try:
        return [str(model["id"]) for model in _json(body)["data"]]
    except (KeyError, TypeError):
        raise not_an_endpoint() from None


def _events(body: bytes) -> Iterator[Any]:
    for line in body.split(b"\n"):
        data = line.removeprefix(_EVENT).strip()
        if data == _END:
            return
        if line.startswith(_EVENT):
            try:
                yield json.loads(data)
            except (ValueError, RecursionError):
                raise BrokenAnswer from None


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise not_an_endpoint() from None
