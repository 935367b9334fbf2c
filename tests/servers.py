"""Running servers for tests: in this process on a thread, over a real socket, or as `cloister serve` in a process of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx2
import uvicorn

from cloister.bootstrap import Services
from cloister.interfaces.http.app import create_app

OPERATOR_KEY = "the-operator-of-these-tests-0123456789"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenant:
    """A tenant made over HTTP, with a client that holds its admin key."""

    tenant_id: str
    default_project_id: str
    key: str
    address: str

    def client(self, key: str | None = None, **headers: str) -> httpx2.Client:
        return httpx2.Client(
            base_url=self.address, headers={"Authorization": f"Bearer {key or self.key}", **headers}, timeout=30
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    address: str
    services: Services | None = None

    def client(self, key: str | None = None) -> httpx2.Client:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx2.Client(base_url=self.address, headers=headers, timeout=30)

    def new_tenant(self, name: str = "Household") -> Tenant:
        with self.client(OPERATOR_KEY) as operator:
            answer = operator.post("/operator/tenants", json={"name": name})
        assert answer.status_code == 201, answer.text
        made = answer.json()
        return Tenant(
            tenant_id=made["tenant_id"],
            default_project_id=made["default_project_id"],
            key=made["admin_key"],
            address=self.address,
        )


@contextlib.contextmanager
def serving(services: Services, *, requests_per_second: int = 0) -> Generator[Server]:
    """The app over these services, on a thread of this process and a free port. The services stay open."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    app = create_app(services, operator_key=OPERATOR_KEY, requests_per_second=requests_per_second)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        yield Server(address=f"http://127.0.0.1:{listening.getsockname()[1]}", services=services)
    finally:
        server.should_exit = True
        thread.join(30)


class ServerProcess:
    """`cloister serve` as people start it; `kill` is SIGKILL, `stop` is SIGTERM."""

    def __init__(self, data: str | Path, environment: Mapping[str, str] | None = None) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cloister", "serve", "--data", str(data), "--port", str(port)],
            env={
                **os.environ,
                "CLOISTER_OPERATOR_KEY": OPERATOR_KEY,
                "CLOISTER_RATE_LIMIT": "0",
                **(environment or {}),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.printed = ""
        self.complaints = ""
        self._readers = [
            threading.Thread(target=self._read, args=(name,), daemon=True) for name in ("stdout", "stderr")
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "ServerProcess":
        self.wait_until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def server(self) -> Server:
        return Server(address=self.address)

    def wait_until_ready(self, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.complaints
            with contextlib.suppress(httpx2.TransportError):
                if httpx2.get(f"{self.address}/readyz").status_code == 200:
                    return
            time.sleep(0.02)
        raise AssertionError(f"not ready: {self.complaints}")

    def stop(self, seconds: float = 30) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(seconds)
        self._finish()
        return self.process.returncode

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)
        self._finish()

    def _finish(self) -> None:
        for reader in self._readers:
            reader.join(10)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _read(self, name: str) -> None:
        stream = self.process.stdout if name == "stdout" else self.process.stderr
        assert stream is not None
        for line in stream:
            if name == "stdout":
                self.printed += line
            else:
                self.complaints += line
