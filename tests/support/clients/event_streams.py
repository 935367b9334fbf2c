"""Reading along as a client does: server-sent events over a connection of its own, read on a thread."""

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from cloister.domain.conversation import Session
from cloister.domain.identifiers import parse_tenant_id
from cloister.domain.scope import Reach
from cloister.services.events.bus import EventBus
from support.servers.http_server import Server, Tenant
from support.servers.pairs import PAIR

PATIENCE = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One event, as a browser would hand it over."""

    id: str
    kind: str
    data: Any

    @property
    def session(self) -> str:
        return self.data["session_id"]


class Stream:
    """`events` is all that came so far, `raw` every byte of it. Use it in a `with`, or close it."""

    def __init__(self, address: str, key: str, headers: Mapping[str, str] | None = None, **parameters: str) -> None:
        place = urlsplit(address)
        self.events: list[Told] = []
        self.raw = b""
        self.comments = 0
        self.last_id = ""
        self.ended = False
        self._changed = threading.Condition()
        self._connection = HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE)
        query = f"?{urlencode(parameters)}" if parameters else ""
        self._connection.request(
            "GET", f"/v1/events{query}", headers={"Authorization": f"Bearer {key}", **(headers or {})}
        )
        # Of an answer that closes its connection, as through a proxy, the connection forgets the socket.
        self._socket = self._connection.sock
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200, self._answer.read()
        assert self._answer.headers["content-type"].partition(";")[0] == "text/event-stream"
        self._socket.settimeout(None)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            """It is closed already."""
        self._thread.join(PATIENCE)
        self._connection.close()

    def until(self, condition: Callable[["Stream"], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self), PATIENCE), (self.events, self.ended)

    def until_kind(self, kind: str, session: str | None = None, number: int = 1) -> Told:
        def found(stream: "Stream") -> list[Told]:
            return [
                told
                for told in stream.events
                if told.kind == kind and (session is None or told.data.get("session_id") == session)
            ]

        self.until(lambda stream: len(found(stream)) >= number)
        return found(self)[number - 1]

    def until_ended(self) -> None:
        self.until(lambda stream: stream.ended)

    def up_to(self, session: str) -> list[tuple[str, str]]:
        """Kinds and sessions of all that was told before this session was made: a fence that others can be held against."""
        return [(told.kind, told.data.get("session_id", "")) for told in self.before(session)]

    def before(self, session: str) -> list[Told]:
        self.until_kind("session.created", session)
        events = list(self.events)
        if PAIR:
            # Those of the other process come a moment later than our own: all have the time at which they were published.
            time.sleep(0.3)
            events = sorted(self.events, key=lambda event: event.data.get("created_at", ""))
        names = [(told.kind, told.data.get("session_id")) for told in events]
        return events[: names.index(("session.created", session))]

    def _read(self) -> None:
        block: list[str] = []
        try:
            while line := self._answer.readline():
                self.raw += line
                text = line.decode().removesuffix("\n")
                if text:
                    block.append(text)
                    continue
                self._take(block)
                block = []
        except (OSError, HTTPException, ValueError):
            """Cut."""
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def _take(self, block: list[str]) -> None:
        fields: dict[str, str] = {}
        with self._changed:
            for line in block:
                name, _, value = line.partition(": ")
                assert name in ("", "id", "event", "data", "retry"), line
                assert name not in fields, block
                if name:
                    fields[name] = value
                else:
                    self.comments += 1
            self.last_id = fields.get("id", self.last_id)
            if "data" in fields:
                data = json.loads(fields["data"])
                assert data["type"] == fields["event"]
                self.events.append(Told(id=fields["id"], kind=fields["event"], data=data))
            self._changed.notify_all()


def following(tenant: Tenant, key: str | None = None, behind: str | None = None, **parameters: str) -> Stream:
    """From now on, or from behind an id; what happens from when this returns is told."""
    if PAIR:
        time.sleep(0.2)  # what the other process has published before may still be on its way
    headers = {} if behind is None else {"Last-Event-ID": behind}
    stream = Stream(tenant.address, key or tenant.key, headers, **parameters)
    if behind is None and not parameters.get("last_event_id"):
        stream.until_kind("ready")
        stream.events.clear()
    return stream


def inside(server: Server, tenant: Tenant, name: str) -> tuple[EventBus, Session]:
    """Where a server tells what happens, and a session: for tests that need more events than requests could make in good time."""
    assert server.services is not None
    reach = Reach(tenant=parse_tenant_id(tenant.tenant_id))
    return server.services.events, server.services.sessions.get(reach, name)
