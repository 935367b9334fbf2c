"""Limits of connections, which apply before a caller is authenticated: the size of headers, timeouts of requests, and the number of
connections of one peer.

Uvicorn's protocol on httptools has none of these: it buffers headers of any size, copying them with every chunk, buffers much of a
body that no handler has asked for, and waits for ever for the rest of a request.
"""

import asyncio
import logging
import secrets
import socket
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from cloister.interfaces.http.arrival import CYCLE
from cloister.interfaces.http.logs import log
from cloister.interfaces.http.openai.errors import shaped
from cloister.interfaces.http.problems import problem

LARGEST_HEAD = 32_768
"""Bytes of the request line and the headers together."""
MOST_HEADERS = 128
MOST_PIPELINED = 16
HEAD_SECONDS = 20.0
BODY_SECONDS = 60.0
_LINGER_SECONDS = 2.0
# With more than this unread, reading from the socket is paused until the handler asks for the body.
_LARGEST_UNREAD_BODY = 8_192
# More than this is sent at once, so that the transport can pause a response that its client does not read.
_LARGEST_DELAYED_WRITE = 65_536
_TRY_AGAIN_SECONDS = 1
# Bodies of any length, which have to go on arriving, but need not be complete in time.
_LONG_BODIES = ("/v1/import", "/v1/import/file")


@dataclass(kw_only=True, slots=True)
class Peers:
    """The open connections, by peer address. `each` is the limit of one peer, `all` that of the process; 0 for no limit."""

    each: int = 0
    all: int = 0
    _open: dict[str, dict["LimitedProtocol", None]] = field(default_factory=dict[str, dict["LimitedProtocol", None]])
    """The connections of a peer are in the order in which they were opened."""
    _count: int = 0

    def add(self, connection: "LimitedProtocol") -> bool:
        """Whether the connection is within the limits. A peer at its limit loses the connection that has been idle longest."""
        if self.all and self._count >= self.all:
            return False
        siblings = self._open.get(connection.peer, {})
        if self.each and len(siblings) >= self.each:
            idle = [each for each in siblings if each.is_idle]
            if not idle:
                return False
            longest = min(idle, key=lambda each: each.since)
            self.remove(longest)
            longest.leave()
        self._open.setdefault(connection.peer, {})[connection] = None
        self._count += 1
        return True

    def remove(self, connection: "LimitedProtocol") -> None:
        siblings = self._open.get(connection.peer, {})
        if connection in siblings:
            del siblings[connection]
            self._count -= 1
            if not siblings:
                del self._open[connection.peer]


class _BufferedTransport:
    """Wraps a transport so that small writes of one iteration of the event loop are sent by one system call, as the head and the
    body of most answers are. Uvicorn writes them separately."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waiting: list[bytes] = []
        self._size = 0
        self.is_closing = transport.is_closing
        self.get_write_buffer_size = transport.get_write_buffer_size
        self.set_protocol = transport.set_protocol
        self.abort = transport.abort

    def write(self, data: bytes) -> None:
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _LARGEST_DELAYED_WRITE:
            self._send()

    def close(self) -> None:
        self._send()
        self._transport.close()

    def write_eof(self) -> None:
        self._send()
        self._transport.write_eof()

    def _send(self) -> None:
        if self._waiting:
            waiting, self._waiting, self._size = self._waiting, [], 0
            self._transport.write(b"".join(waiting))


class _Refused(Exception):
    """Raised in a callback of the parser, to make it stop."""


class LimitedProtocol(HttpToolsProtocol):
    """Uvicorn's HTTP protocol with limits; requests within the limits are not slowed down by them."""

    def __init__(self, *given: Any, peers: Peers, **named: Any) -> None:
        super().__init__(*given, **named)
        self.peer = ""
        self.since = 0.0
        """Since when it waits for the client: for a head, since the last answer; for a body, since its head was complete."""
        self._peers = peers
        self._piece = 0
        self._unread_head = 0
        self._has_head = False
        self._refusal: Response | None = None
        self._is_left = False

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress."""
        return not self.cycle or self.cycle.response_complete

    def connection_made(self, transport: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self.transport = _BufferedTransport(transport, self.loop)  # pyright: ignore[reportAttributeAccessIssue]
        self.since = self.loop.time()
        self.peer = _peer(self.client)
        if not self._peers.add(self):
            self._is_left = True
            detail = "There are too many open connections from this address (CLOISTER_MAX_CONNECTIONS of the server)."
            headers = {"Retry-After": str(_TRY_AGAIN_SECONDS)}
            self.transport.write(_serialized(problem("rate_limited", detail, headers=headers)))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._peers.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_left:
            return
        self._piece = len(data)
        self._unread_head += self._piece
        super().data_received(data)
        if self._is_left:
            return
        if self._unread_head > LARGEST_HEAD:
            self._refuse(_too_large())
            return
        cycle = self.cycle
        if cycle and cycle.more_body and not cycle.response_complete and len(cycle.body) > _LARGEST_UNREAD_BODY:
            self.flow.pause_reading()

    def on_message_begin(self) -> None:
        self._has_head = False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Trailers, which follow a body, are ignored: a proxy before this server has not checked them either."""
        if self._has_head:
            return
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        is_long = self._piece > LARGEST_HEAD or self._unread_head > LARGEST_HEAD
        if len(self.headers) > MOST_HEADERS or (is_long and self._head_size() > LARGEST_HEAD):
            self._refusal = _too_large()
            raise _Refused
        if len(self.pipeline) >= MOST_PIPELINED:
            raise _Refused
        self._unread_head = 0
        self._has_head = True
        self.since = self.loop.time()
        super().on_headers_complete()
        # A weak reference: the cycle refers to the scope, and a reference cycle would keep both until a collection.
        self.scope.setdefault("state", {})[CYCLE] = weakref.ref(self.cycle)

    def on_body(self, body: bytes) -> None:
        self._unread_head = 0
        super().on_body(body)
        if self.scope["path"] in _LONG_BODIES:
            self.since = self.loop.time()

    def on_message_complete(self) -> None:
        self._unread_head = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        if self.cycle.response_complete and self.cycle.body:
            # The rest of a body that no handler has read.
            self.cycle.body = bytearray()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._refusal or problem("malformed_request", "This is not a request in HTTP/1.1."))

    def check_timeout(self, now: float) -> None:
        """Close the connection if it has timed out; called every second."""
        waited = now - self.since
        if self.transport.is_closing():
            # A client that does not read its answer would keep the connection open.
            if waited > BODY_SECONDS:
                self.transport.abort()
        elif self._is_left:
            return  # answered already: it is aborted in a moment
        elif self.is_idle:
            if waited > HEAD_SECONDS:
                self._time_out() if self._unread_head else self.leave()
        elif self.cycle.more_body and waited > BODY_SECONDS:
            self._time_out()

    def leave(self) -> None:
        """Close the connection without an answer."""
        self._is_left = True
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _time_out(self) -> None:
        path = "" if self.is_idle else self.scope["path"]
        self._refuse(shaped(path, problem("timeout", "The rest of the request did not come in time.")))

    def _refuse(self, response: Response) -> None:
        """Send an error and read nothing more. The connection stays open for a moment: a client that is still sending while it is
        closed gets a reset instead of the answer."""
        self._is_left = True
        if self.is_idle and self.headers:
            self.headers.clear()
        self._unset_keepalive_if_required()
        if not self.is_idle:
            was_started = self.cycle.response_started or bool(self.pipeline)
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if was_started:
                self.transport.abort()
                return
        self.flow.resume_reading()
        self.transport.write(_serialized(response))
        self.transport.write_eof()
        self.loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)


def check_timeouts(connections: Iterable[Any], now: float) -> None:
    for connection in [*connections]:
        try:
            connection.check_timeout(now)
        except Exception as error:  # noqa: BLE001 - logged; no fault with one connection may stop the server for all others
            log(logging.ERROR, "connection", error)
            connection.transport.abort()


def _too_large() -> Response:
    detail = f"The headers are larger than {LARGEST_HEAD:,} bytes, or more than {MOST_HEADERS}."
    return problem("headers_too_large", detail)


def _serialized(response: Response) -> bytes:
    """An answer as bytes, with `Connection: close`: no request follows it."""
    headers = [
        *response.raw_headers,
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", secrets.token_hex(8).encode()),
        (b"connection", b"close"),
    ]
    head = b"".join(b"%s: %s\r\n" % pair for pair in headers)
    return STATUS_LINE[response.status_code] + head + b"\r\n" + bytes(response.body)


def _peer(client: tuple[str, int] | None) -> str:
    """The address of a client; of an IPv6 address the /64 network, since one host can use all addresses of it."""
    address = "" if client is None else client[0]
    if ":" not in address:
        return address
    try:
        return socket.inet_pton(socket.AF_INET6, address.partition("%")[0])[:8].hex()
    except OSError:
        return address
