"""`cloister serve` in a process of its own, and what is sent to it over plain sockets, so that the client costs little."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """`ready_after` is how many seconds after its start `/readyz` said yes."""

    port: int
    key: str
    ready_after: float
    pid: int

    def request(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, close: bool = False
    ) -> bytes:
        """With `close` it is the last one on its connection."""
        text = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key or self.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
            f"Connection: {'close' if close else 'keep-alive'}\r\n\r\n"
        )
        return head.encode() + text


@contextmanager
def serving(data: Path | str, *options: str, **environment: str) -> Generator[Service]:
    """Until the block ends; without a limit on requests. Its bytecode is kept, as everywhere where nobody forbids it. A PostgreSQL
    URL has no local key: the operator makes one."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "cloister", "serve", "--data", str(data), "--port", "0", *options],
        env={**kept, "CLOISTER_RATE_LIMIT": "0", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        port = _told(process.stdout)
        _wait_until_ready(port)
        ready_after = time.perf_counter() - began
        key = (data / "local.key").read_text().strip() if isinstance(data, Path) else ""
        yield Service(port=port, key=key, ready_after=ready_after, pid=process.pid)
    finally:
        # One that has started others ends them when it is asked to end.
        process.terminate() if "--processes" in options else process.kill()
        process.wait()
        process.stdout.close()


def _told(lines: Iterable[str]) -> int:
    """The port, which it says when it listens already."""
    for said in lines:
        if found := re.search(r"answers on http://[^:]+:(\d+)", said):
            return int(found[1])
    raise AssertionError("the server did not start")


def _wait_until_ready(port: int) -> None:
    """By a plain socket: `http` is another benchmark here."""
    while True:
        with socket.create_connection(("127.0.0.1", port)) as asking:
            asking.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            if asking.recv(1_024).startswith(b"HTTP/1.1 200"):
                return
        time.sleep(0.01)
