"""Servers that go wrong in a chosen way: one that says what it was told to say, and a proxy that cuts connections."""

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

Talk = Callable[[socket.socket], None]


@dataclass(kw_only=True)
class Telling:
    """`asked` is what it heard, a request an entry."""

    address: str = ""
    asked: list[bytes] = field(default_factory=list[bytes])


@contextlib.contextmanager
def telling(answer: bytes | list[bytes] | None, when: threading.Event | None = None) -> Generator[Telling]:
    """Answers every request with these bytes, when it is time; without any it keeps silent until the caller leaves. Of several
    answers each request gets the next, and the last one stays."""
    told = Telling()
    answers = answer if isinstance(answer, list) else [answer]

    def talk(client: socket.socket) -> None:
        told.asked.append(_request(client))
        if when is not None:
            when.wait(30)
        if (said := answers[min(len(told.asked), len(answers)) - 1]) is None:
            client.recv(1)
        else:
            client.sendall(said)

    with _listening(talk) as told.address:
        yield told


def http(status: int, body: str, kind: str = "application/json", **headers: str) -> bytes:
    """An answer as bytes; `X_Y="z"` is the header `X-Y: z`."""
    content = body.encode()
    named = {"Content-Type": kind, "Content-Length": str(len(content)), "Connection": "close", **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status} Said\r\n{head}\r\n".encode() + content


@dataclass(kw_only=True)
class Cutting:
    """The next `cuts` answers are read from the server and thrown away, and the connection is cut."""

    address: str = ""
    cuts: int = 0
    requests: int = 0


@contextlib.contextmanager
def cutting(server: str) -> Generator[Cutting]:
    """A proxy to the server, a connection a request."""
    place = urlsplit(server)
    proxy = Cutting()

    def talk(client: socket.socket) -> None:
        request = _request(client)
        if not request:
            return
        proxy.requests += 1
        with socket.create_connection((str(place.hostname), place.port or 80)) as behind:
            behind.sendall(request.replace(b"Connection: keep-alive", b"Connection: close"))
            answer = b"".join(iter(lambda: behind.recv(65_536), b""))
        if proxy.cuts > 0:
            proxy.cuts -= 1
        else:
            client.sendall(answer)

    with _listening(talk) as proxy.address:
        yield proxy


@contextlib.contextmanager
def _listening(talk: Talk) -> Generator[str]:
    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                talk(self.request)

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _request(client: socket.socket) -> bytes:
    """One request, head and body; nothing where the caller left."""
    read = b""
    while b"\r\n\r\n" not in read:
        if not (part := client.recv(65_536)):
            return b""
        read += part
    head, _, body = read.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        body += client.recv(65_536)
    return head + b"\r\n\r\n" + body
