"""Running servers for tests: in this process on a thread, over a real socket, or as `cloister serve` in a process of its own."""

import contextlib
import os
import pty
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlencode

import httpx2
from fastapi import FastAPI
from psycopg.conninfo import conninfo_to_dict
from starlette.applications import Starlette

from cloister.bootstrap import Services
from cloister.domain.errors import Closed
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.hosts import AllowedHosts
from cloister.interfaces.http.server import Server as WebServer
from cloister.services.tenancy.sign_ins import SignIns
from support.servers.round_robin import round_robin
from support.servers.signal_dispositions import dispositions

OPERATOR_KEY = "the-operator-of-these-tests-0123456789"
EVERYTHING = ("read", "write", "admin")
# Loading the certificates of the whole world for each client takes longer than most tests.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_SECONDS = 30


def new_client(address: str, key: str | None = None, **headers: str) -> httpx2.Client:
    """A client with connections of its own; whoever makes it closes it."""
    credential = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx2.Client(base_url=address, headers={**credential, **headers}, timeout=_SECONDS, verify=_NO_TLS)


def segment(external_id: str) -> str:
    """An outside id as one segment of a path. Dots too: clients take `..` for a step upwards."""
    return quote(external_id, safe="").replace(".", "%2E")


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Sends requests with one key over the connections that all callers of a server share."""

    http: httpx2.Client = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    def request(self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **given: Any) -> Any:
        return self.http.request(method, path, headers={**self.headers, **(headers or {})}, **given)

    def begun(self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **given: Any) -> Any:
        """The same, but of an answer that is all right and never ends only the beginning is read."""
        with self.http.stream(method, path, headers={**self.headers, **(headers or {})}, **given) as answer:
            if answer.status_code >= 400 or path != "/v1/events":
                answer.read()
            return answer

    def get(self, path: str, **given: Any) -> httpx2.Response:
        return self.request("GET", path, **given)

    def post(self, path: str, json: Any = None, **given: Any) -> httpx2.Response:
        return self.request("POST", path, json=json, **given)

    def patch(self, path: str, json: Any, **given: Any) -> httpx2.Response:
        return self.request("PATCH", path, json=json, **given)

    def delete(self, path: str, **given: Any) -> httpx2.Response:
        return self.request("DELETE", path, **given)

    def made(self, path: str, json: Any, **given: Any) -> Any:
        """What a POST answers when all is well."""
        answer = self.post(path, json, **given)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def everything(self, path: str, limit: int = 200, **parameters: str) -> list[Any]:
        """All pages of a list."""
        return [entry for page in self.pages(path, limit, **parameters) for entry in page]

    def pages(self, path: str, limit: int, **parameters: str) -> Generator[list[Any]]:
        wanted: dict[str, Any] = {"limit": limit, **parameters}
        while True:
            answer = self.get(path, params=wanted)
            assert answer.status_code == 200, answer.text
            yield answer.json()["data"]
            wanted["cursor"] = answer.json()["next_cursor"]
            if wanted["cursor"] is None:
                return


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenant:
    """A tenant made over HTTP, with its admin key."""

    tenant_id: str
    default_project_id: str
    key: str
    address: str
    http: httpx2.Client = field(repr=False)

    @property
    def admin(self) -> Caller:
        return self.caller(self.key)

    def caller(self, key: str, **headers: str) -> Caller:
        return Caller(http=self.http, headers={"Authorization": f"Bearer {key}", **headers})

    def client(self, key: str | None = None, **headers: str) -> httpx2.Client:
        return new_client(self.address, key or self.key, **headers)

    def at(self, server: "Server") -> "Tenant":
        """The same tenant, asked through another server of its data."""
        return replace(self, address=server.address, http=server.http)

    def new_project(self, name: str = "Garden", **fields: Any) -> str:
        wanted = {"name": name, "allow_duplicate_name": True, **fields}
        return self.admin.made("/org/projects", wanted)["project_id"]

    def new_key(self, *permissions: str, **fields: Any) -> str:
        """The text of a key; without permissions named it has all of them."""
        wanted = {"name": "a key", "permissions": permissions or EVERYTHING, **fields}
        return self.admin.made("/org/api-keys", wanted)["key"]

    def with_key(self, *permissions: str, **fields: Any) -> Caller:
        return self.caller(self.new_key(*permissions, **fields))

    def new_session(self, external_id: str, **fields: Any) -> Any:
        return self.admin.made("/v1/sessions", {"external_id": external_id, **fields})

    def say(self, session: str, content: str, role: str = "user") -> Any:
        return self.admin.made(f"/v1/sessions/{segment(session)}/messages", {"role": role, "content": content})


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    address: str
    http: httpx2.Client = field(repr=False)
    services: Services | None = None

    @property
    def nobody(self) -> Caller:
        """A caller without any key."""
        return Caller(http=self.http, headers={})

    @property
    def operator(self) -> Caller:
        return self.caller(OPERATOR_KEY)

    def caller(self, key: str, **headers: str) -> Caller:
        return Caller(http=self.http, headers={"Authorization": f"Bearer {key}", **headers})

    def client(self, key: str | None = None) -> httpx2.Client:
        return new_client(self.address, key)

    def new_tenant(self, name: str = "Household") -> Tenant:
        made = self.operator.made("/operator/tenants", {"name": name})
        return Tenant(
            tenant_id=made["tenant_id"],
            default_project_id=made["default_project_id"],
            key=made["admin_key"],
            address=self.address,
            http=self.http,
        )


class Watch:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def watched_sign_ins(services: Services, watch: Watch) -> Services:
    """The services with links and browsers that expire by this clock."""
    return replace(services, sign_ins=SignIns(services.database, lambda: round(watch() * 1_000_000)))


@contextlib.contextmanager
def serving(
    services: Services,
    *,
    requests_per_second: int = 0,
    requests_at_once: int = 0,
    requests_waiting: int = 0,
    connections_per_peer: int = 0,
    hosts: AllowedHosts | None = None,
    operator_key: str | None = OPERATOR_KEY,
) -> Generator[Server]:
    """The app over these services, on a thread of this process and a free port. The services stay open."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    process = services.processes.add(f"http://127.0.0.1:{listening.getsockname()[1]}")
    app = create_app(
        services,
        operator_key=operator_key,
        requests_per_second=requests_per_second,
        requests_at_once=requests_at_once,
        requests_waiting=requests_waiting,
        hosts=hosts,
        process=process,
    )
    with (
        running(app, connections_per_peer=connections_per_peer, listening=listening) as address,
        new_client(address) as http,
    ):
        yield Server(address=address, http=http, services=services)
    with contextlib.suppress(Closed):
        services.processes.remove(process)


@contextlib.contextmanager
def serving_pair(first: Services, second: Services) -> Generator[Server]:
    """Two apps over one database, behind a proxy that sends each request to the other one (OPS-4)."""
    with (
        serving(first) as one,
        serving(second) as two,
        round_robin([one.address, two.address]) as address,
        new_client(address) as http,
    ):
        yield Server(address=address, http=http, services=first)


@contextlib.contextmanager
def running(app: FastAPI, *, connections_per_peer: int = 0, listening: socket.socket | None = None) -> Generator[str]:
    """An app on a thread of this process and a free port, as its address."""
    listening = listening or socket.create_server(("127.0.0.1", 0), backlog=512)
    server = WebServer(app, connections_per_peer=connections_per_peer)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_SECONDS)
        assert not thread.is_alive(), "the server did not end"


class ServerProcess:
    """`cloister serve` as people start it; `kill` is SIGKILL, `stop` is SIGTERM. `data` is a directory or a PostgreSQL URL. With
    `terminal` it writes to one, and is watched."""

    def __init__(
        self,
        data: str | Path,
        environment: Mapping[str, str] | None = None,
        *,
        options: tuple[str, ...] = (),
        ignored: tuple[signal.Signals, ...] = (),
        terminal: bool = False,
    ) -> None:
        self.address = ""
        watched = [pty.openpty() if terminal else None for _ in range(2)]
        out, err = (subprocess.PIPE if each is None else each[1] for each in watched)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cloister", "serve", "--data", str(data), "--port", "0", *options],
            env={
                **os.environ,
                "CLOISTER_OPERATOR_KEY": OPERATOR_KEY,
                "CLOISTER_RATE_LIMIT": "0",
                **({"COLUMNS": "500", "NO_COLOR": "1", "TERM": "dumb"} if terminal else {}),
                **(environment or {}),
            },
            stdout=out,
            stderr=err,
            text=True,
            preexec_fn=dispositions(ignored=ignored),
        )
        self._streams = [self.process.stdout, self.process.stderr]
        for place, each in enumerate(watched):
            if each is not None:
                os.close(each[1])
                self._streams[place] = os.fdopen(each[0], encoding="utf-8", newline=None)
        self._lines: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self._http: httpx2.Client | None = None
        self._readers = [threading.Thread(target=self._read, args=(name,), daemon=True) for name in self._lines]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "ServerProcess":
        self.wait_until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def printed(self) -> str:
        return "".join(self._lines["stdout"])

    @property
    def complaints(self) -> str:
        return "".join(self._lines["stderr"])

    @property
    def server(self) -> Server:
        assert self._http is not None, "wait until it is ready"
        return Server(address=self.address, http=self._http)

    def wait_until_ready(self, seconds: float = _SECONDS) -> None:
        """It says its address when it listens already; the first request waits for the rest."""
        deadline = time.monotonic() + seconds
        while not (told := re.search(r"answers on (http://\S+)", self.printed)):
            assert self.process.poll() is None, self.complaints
            assert time.monotonic() < deadline, f"not ready: {self.complaints}"
            time.sleep(0.01)
        self.address = told[1]
        self._http = new_client(self.address)
        assert self._http.get("/readyz").status_code == 200

    def stop(self, seconds: float = _SECONDS) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.wait(seconds)

    def wait(self, seconds: float = _SECONDS) -> int:
        """The exit code of a process that ends by itself."""
        self.process.wait(seconds)
        self._finish()
        return self.process.returncode

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()

    def _finish(self) -> None:
        if self._http is not None:
            self._http.close()
        for reader in self._readers:
            reader.join(10)
        for stream in self._streams:
            if stream is not None:
                stream.close()

    def _read(self, name: str) -> None:
        stream = self._streams[0 if name == "stdout" else 1]
        assert stream is not None
        # A terminal whose last writer is gone answers with an error.
        with contextlib.suppress(OSError):
            for line in stream:
                self._lines[name].append(line)


def routes_of(app: Starlette) -> set[tuple[str, str]]:
    """Every method and path that the app answers. A mounted app would have routes that this cannot see, and fails it."""
    return {(method, cast(Any, route).path) for route in app.routes for method in cast(Any, route).methods}


def operations_of(app: FastAPI) -> list[tuple[str, str, Any, list[Any]]]:
    """Every operation of the OpenAPI document: its method, its path, what it says, and its parameters."""
    document = app.openapi()

    def meant(parameter: Any) -> Any:
        reference: str | None = parameter.get("$ref")
        return document["components"]["parameters"][reference.rpartition("/")[2]] if reference else parameter

    return [
        (method.upper(), path, operation, [meant(parameter) for parameter in operation.get("parameters", [])])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def postgres_address(conninfo: str) -> str:
    """What a test database is known by, as the URL that `--data` takes."""
    parts = {name: str(value) for name, value in conninfo_to_dict(conninfo).items() if value is not None}
    return f"postgresql://?{urlencode(parts)}"
