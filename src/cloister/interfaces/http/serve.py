"""`cloister serve`: one process that answers over HTTP until it is told to stop."""

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from cloister.bootstrap import Services, build_services, ensure_local_tenant
from cloister.domain.errors import StorageUnavailable
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.logs import log_to_stderr
from cloister.interfaces.http.server import Server
from cloister.interfaces.worker import Worker
from cloister.services.access import KeyFields
from cloister.settings import Settings

LOCAL_KEY_FILE = "local.key"
_REST_OF_RULES = 9.0


def serve(settings: Settings, *, announce: Callable[[str, str | None], None]) -> None:
    """Blocks until SIGINT or SIGTERM; requests under way are finished, then the worker of this process, unless it is turned off.
    `announce` is told the address, and the key where it was made just now."""
    services = build_services(settings)
    try:
        listening = _listen(settings.host, settings.port)
        new_key = first_key(services, settings)
        rest = _REST_OF_RULES if settings.model_url is None else 0.0
        worker = Worker(services, threads=settings.worker_threads, rest=rest)
        app = create_app(
            services,
            operator_key=settings.operator_key,
            requests_per_second=settings.requests_per_second,
            at_end=worker.stop,
        )
        log_to_stderr()
        if settings.worker:
            worker.start()
        host, port = listening.getsockname()[:2]
        announce(f"http://{f'[{host}]' if ':' in host else host}:{port}", new_key)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=30
        )
        _stop_quietly()
        Server(config).run(sockets=[listening])
    finally:
        services.close()


def _stop_quietly() -> None:
    """Uvicorn answers what is under way and then raises the signal again: by then it only means that all is done."""

    def leave(*_: object) -> None:
        raise SystemExit(0)

    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, leave)


def first_key(services: Services, settings: Settings) -> str | None:
    """The local tenant's admin key, made at the first start and kept in the data directory; none where there is one."""
    reach = ensure_local_tenant(services)
    if services.access.page(reach, limit=1):
        return None
    created = services.access.create(reach, KeyFields(name="local admin", permissions=("read", "write", "admin")))
    if not settings.postgres:
        _keep(Path(settings.data).expanduser() / LOCAL_KEY_FILE, created.text)
    return created.text


def _keep(path: Path, key: str) -> None:
    """Only its owner may read it, from the first byte on."""
    with suppress(FileNotFoundError):
        path.unlink()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(key + "\n")


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2_048)
    except OSError as error:
        raise StorageUnavailable(f"Cannot listen on {host}:{port}: {error.strerror}. Choose another --port.") from error
