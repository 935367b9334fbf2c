"""Talking to the chat routes as the AI SDK's transport does, and reading what they stream, event by event."""

import json
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from support.servers.fake_endpoint import Answer, event
from support.servers.http_server import Caller, Tenant, segment

PATIENCE = 30


def ui_message(text: str, role: str = "user") -> dict[str, Any]:
    return {"id": "client-made", "role": role, "parts": [{"type": "text", "text": text}]}


def asking(session: str, text: str, **fields: Any) -> dict[str, Any]:
    """The body that the transport sends."""
    return {"id": session, "messages": [ui_message(text)], "trigger": "submit-message", **fields}


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A stream that was read to its end."""

    events: list[dict[str, Any]]
    done: bool

    @property
    def kinds(self) -> list[str]:
        """The types in order, deltas that follow each other as one."""
        kinds = [event["type"] for event in self.events]
        return [kind for place, kind in enumerate(kinds) if kind != "text-delta" or kinds[place - 1] != "text-delta"]

    @property
    def text(self) -> str:
        return "".join(event["delta"] for event in self.events if event["type"] == "text-delta")

    @property
    def context(self) -> dict[str, Any]:
        return [event["data"] for event in self.events if event["type"] == "data-context"][-1]

    @property
    def metadata(self) -> dict[str, Any]:
        return next(event["messageMetadata"] for event in self.events if "messageMetadata" in event)

    @property
    def error(self) -> str:
        return next(event["errorText"] for event in self.events if event["type"] == "error")

    @property
    def recalled(self) -> set[str]:
        """The words of other sessions that were recalled."""
        return {item["content"] for item in self.context["relevant_history"]}


class Reader:
    """One connection that is being answered."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._lines: Iterator[str] = response.iter_lines()
        self.events: list[dict[str, Any]] = []
        self.done = False

    def next(self) -> dict[str, Any] | None:
        """The next event; none at the end."""
        for line in self._lines:
            if line == "data: [DONE]":
                self.done = True
            elif line.startswith("data: "):
                self.events.append(json.loads(line.removeprefix("data: ")))
                return self.events[-1]
        return None

    def until(self, kind: str) -> dict[str, Any]:
        while (found := self.next()) is not None:
            if found["type"] == kind:
                return found
        raise AssertionError(f"no {kind} came")

    def rest(self) -> Told:
        while self.next() is not None:
            """To the end."""
        return Told(events=self.events, done=self.done)


@contextmanager
def streaming(tenant: Tenant, method: str, path: str, body: Any = None, key: str | None = None) -> Generator[Reader]:
    """A connection of its own, which closes with the block: what comes after it is not read."""
    with tenant.client(key) as http, http.stream(method, path, json=body) as response:
        yield Reader(response)


def say(caller: Caller, session: str, text: str, **fields: Any) -> Told:
    """Say it, and read the reply to its end."""
    answer = caller.post("/v1/chat/stream", asking(session, text, **fields))
    assert answer.status_code == 200, answer.text
    return told(answer.text)


def told(text: str) -> Told:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return Told(events=[json.loads(line) for line in lines if line != "[DONE]"], done=lines[-1] == "[DONE]")


def messages(tenant: Tenant, session: str, *, branch: str = "current") -> list[Any]:
    return tenant.admin.everything(f"/v1/sessions/{segment(session)}/messages", branch=branch)


def said(tenant: Tenant, session: str) -> list[tuple[str, str, str]]:
    """Role, status and words of all that is stored."""
    return [(entry["role"], entry["status"], entry["content"]) for entry in messages(tenant, session)]


@dataclass(frozen=True, slots=True)
class Gate:
    """Lets the pieces of an answer through, one at a time; `open` lets all of them."""

    _passes: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def wait(self) -> None:
        assert self._passes.acquire(timeout=PATIENCE), "nobody let the piece through"

    def let(self, pieces: int) -> None:
        self._passes.release(pieces)

    def open(self) -> None:
        self._passes.release(1_000_000)


def words(*pieces: str, finish_reason: str | None = "stop", gate: Gate | None = None) -> Answer:
    """A model's reply, piece by piece; without a `finish_reason` it breaks off."""
    events = [event({"choices": [{"index": 0, "delta": {"content": piece}}]}) for piece in pieces]
    if finish_reason is not None:
        end = {"choices": [{"index": 0, "finish_reason": finish_reason}]}
        events.append(event(end) + b"data: [DONE]\n\n")
    return Answer(
        pieces=events, headers={"content-type": "text/event-stream"}, pause=gate.wait if gate else lambda: None
    )


def shown(asked: Mapping[str, Any]) -> str:
    """All that a model was shown, in one text."""
    return "\n".join(str(message["content"]) for message in asked["messages"])
