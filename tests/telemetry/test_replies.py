"""DOOR-7: the spans of model calls whose reply ends, is given up by the client, or fails."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

from support.clients.anthropic_client import message
from support.clients.chat_client import asking
from support.servers.fake_endpoint import Answer, Asked, completion, event
from support.servers.traced_server import MODEL, Traced, answer, attributes

SAID = [{"role": "user", "content": "I keep bees in Turin."}]
BROKEN = Answer(headers={"content-type": "text/event-stream"}, body=event({"error": {"message": "out of memory"}}))
CALLS: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "chat completions": lambda _: ("/v1/chat/completions", {"model": MODEL, "messages": SAID}),
    "chat completions, streamed": lambda _: (
        "/v1/chat/completions",
        {"model": MODEL, "messages": SAID, "stream": True},
    ),
    "responses": lambda _: ("/v1/responses", {"model": MODEL, "input": "I keep bees in Turin."}),
    "responses, streamed": lambda _: ("/v1/responses", {"model": MODEL, "input": "I keep bees.", "stream": True}),
    "messages": lambda _: ("/anthropic/v1/messages", {"model": MODEL, "max_tokens": 9, "messages": SAID}),
    "messages, streamed": lambda _: (
        "/anthropic/v1/messages",
        {"model": MODEL, "max_tokens": 9, "messages": SAID, "stream": True},
    ),
    "chat": lambda session: ("/v1/chat/stream", asking(session, "I keep bees in Turin.")),
}


def replied(asked: Asked) -> Answer:
    return message("Understood.") if asked.path.endswith("/messages") else completion("Understood.")


@pytest.mark.parametrize("call", CALLS)
def test_door_7_a_reply_that_ends_is_no_error(traced: Traced, call: str) -> None:
    tenant = traced.new_tenant()
    tenant.new_session("s")
    path, body = CALLS[call]("s")
    traced.model.follows(replied)
    try:
        assert tenant.admin.post(path, body).status_code == 200
        span = traced.one(f"chat {MODEL}")
    finally:
        traced.model.follows(answer)
    assert "error.type" not in attributes(span) and span.status.status_code == StatusCode.UNSET
    assert attributes(span)["gen_ai.response.finish_reasons"] in (("stop",), ("end_turn",))


@pytest.mark.parametrize("call", CALLS)
def test_door_7_a_reply_that_fails_is_an_error(traced: Traced, call: str) -> None:
    tenant = traced.new_tenant()
    tenant.new_session("s")
    path, body = CALLS[call]("s")
    traced.model.follows(lambda _: BROKEN)
    try:
        tenant.admin.post(path, body)
        span = traced.one(f"chat {MODEL}")
    finally:
        traced.model.follows(answer)
    assert attributes(span)["error.type"] == "model_unavailable" and span.status.status_code == StatusCode.ERROR
    assert "gen_ai.response.finish_reasons" not in attributes(span)


@pytest.mark.parametrize("call", [call for call in CALLS if "streamed" in call])
def test_door_7_a_reply_that_the_client_gives_up_is_no_error(traced: Traced, call: str) -> None:
    """The connection is closed after the first event; the span has no reason for the end, because there was none."""
    tenant = traced.new_tenant()
    path, body = CALLS[call]("s")
    goes_on = threading.Event()

    def slowly(asked: Asked) -> Answer:
        """The first half at once, the rest when the client has gone."""
        whole = replied(asked)
        events = [piece + b"\n\n" for piece in whole.body.split(b"\n\n")[:-1]]
        pieces = [b"".join(events[: len(events) // 2]), *events[len(events) // 2 :] * 20]
        pauses = iter([0.0, *[0.2] * len(pieces)])
        return Answer(headers=whole.headers, pieces=pieces, pause=lambda: goes_on.wait(next(pauses)))

    traced.model.follows(slowly)
    try:
        with tenant.client(tenant.key).stream("POST", path, json=body) as response:
            assert response.status_code == 200
            next(response.iter_bytes())
        span = traced.one(f"chat {MODEL}")
    finally:
        goes_on.set()
        traced.model.follows(answer)
    assert "error.type" not in attributes(span) and span.status.status_code == StatusCode.UNSET
