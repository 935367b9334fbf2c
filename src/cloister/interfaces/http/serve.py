"""`cloister serve`: one process, or several, that answer HTTP requests until a stop signal."""

import errno
import gc
import os
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cloister.bootstrap import Services, build_services, ensure_local_tenant
from cloister.domain.errors import CloisterError, StorageUnavailable
from cloister.domain.timestamps import now
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.console.sign_in import link_path
from cloister.interfaces.http.dispatch.shared_buckets import SharedBuckets
from cloister.interfaces.http.hosts import AllowedHosts
from cloister.interfaces.http.logs import log_to_stderr
from cloister.interfaces.http.server import Server, raise_file_limit
from cloister.interfaces.http.supervisor import Supervisor, end_with_supervisor, inherited, report_ready
from cloister.interfaces.memory_arenas import limit_arenas
from cloister.interfaces.server_file import server_file
from cloister.interfaces.stop_signals import stop_signals
from cloister.services.tenancy.api_keys import KeyFields
from cloister.settings import Settings, environment_of
from cloister.worker import Worker

LOCAL_KEY_FILE = "local.key"
_MOST_KEYS_LOOKED_AT = 200
_REST_OF_RULES = 9.0
_COLLECT_AFTER = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Announcement:
    """What a starting server reports: its address, the admin key if it was created just now, and a link that opens the console
    once. `has_keys`: whether the local tenant has any key."""

    address: str
    key: str | None
    console: str | None
    has_keys: bool


def serve(settings: Settings, *, announce: Callable[[Announcement], None], shows_secrets: bool = True) -> None:
    """Serve until SIGINT or SIGTERM; then requests in progress are finished, and after them the worker of this process, if it has
    one. `announce` is called once, before the first request. If it cannot show secrets, no link is created, and a key only if
    there is a directory to store it in. With several processes, this one starts them, and serves nothing itself."""
    limit_arenas()
    shared = inherited()
    if shared is not None:
        end_with_supervisor()
        with closing(build_services(settings)) as services:
            own = _listen(settings.host, 0)
            _serve(services, settings, [shared.listening, own], _address_for_peers(settings, own), shared.buckets)
        return
    with closing(build_services(settings)) as services:
        listening = _listen(settings.host, settings.port)
        announcement = _announcement(services, settings, listening, shows_secrets=shows_secrets)
        if settings.processes == 1:
            with _named_in_directory(settings, listening):
                announce(announcement)
                _serve(services, settings, [listening], _address_for_peers(settings, listening))
                return
    log_to_stderr()
    environment = environment_of(settings)
    with _named_in_directory(settings, listening):
        try:
            Supervisor(listening, environment, settings.processes).run(lambda: announce(announcement))
        except ChildProcessError as error:
            raise StorageUnavailable(str(error)) from error


@contextmanager
def _named_in_directory(settings: Settings, listening: socket.socket) -> Generator[None]:
    """While it serves, the data directory names the address of this server."""
    file = server_file(settings)
    if file is None:
        yield
        return
    file.write(_address_on_this_machine(listening))
    try:
        yield
    finally:
        file.remove()


def _serve(
    services: Services,
    settings: Settings,
    sockets: list[socket.socket],
    address: str,
    buckets: SharedBuckets | None = None,
) -> None:
    """Serve in this process; with `buckets`, for a supervisor."""
    rest = _REST_OF_RULES if settings.model_url is None else 0.0
    worker = Worker(services, threads=settings.worker_threads, rest=rest)
    process = services.processes.add(address)
    app = create_app(
        services,
        operator_key=settings.operator_key,
        requests_per_second=settings.requests_per_second,
        requests_at_once=settings.requests_at_once,
        requests_waiting=settings.requests_waiting,
        hosts=AllowedHosts(settings.host, settings.allowed_hosts),
        mcp_issuer=settings.mcp_issuer,
        process=process,
        shared_buckets=buckets,
        at_end=worker.stop,
    )
    log_to_stderr()
    if settings.worker:
        worker.start()
    raise_file_limit()
    _stop_quietly()
    _collect_less()
    on_started = (lambda: None) if buckets is None else report_ready
    try:
        Server(app, connections_per_peer=settings.connections_per_peer, on_started=on_started).run(sockets=sockets)
    finally:
        with suppress(CloisterError):
            services.processes.remove(process)


def _announcement(
    services: Services, settings: Settings, listening: socket.socket, *, shows_secrets: bool
) -> Announcement:
    new_key = first_key(services, settings) if shows_secrets or not settings.postgres else None
    link = _console_link(services) if shows_secrets else None
    address = _url(*listening.getsockname()[:2])
    has_keys = bool(services.api_keys.page(ensure_local_tenant(services), limit=1))
    return Announcement(
        address=address, key=new_key, console=None if link is None else address + link, has_keys=has_keys
    )


def _address_for_peers(settings: Settings, listening: socket.socket) -> str:
    """Where other processes of the database reach this one. A server that listens on all addresses of its machine is reached by
    the machine's name, or by its loopback address if the database is a directory, which has no other machine."""
    host, port = listening.getsockname()[:2]
    if settings.peer_host is not None:
        return _url(settings.peer_host, port)
    if settings.postgres and ip_address(host).is_unspecified:
        return _url(socket.gethostname(), port)
    return _address_on_this_machine(listening)


def _address_on_this_machine(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "127.0.0.1" if "." in host else "::1"
    return _url(host, port)


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _collect_less() -> None:
    """Make garbage collection rarer: objects of the start live as long as the process, and requests leave few reference cycles."""
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)


def _stop_quietly() -> None:
    """Exit with 0 at a stop signal: uvicorn raises the signal again after it has finished the requests in progress."""

    def leave(*_: object) -> None:
        raise SystemExit(0)

    for stop in stop_signals():
        signal.signal(stop, leave)


def first_key(services: Services, settings: Settings) -> str | None:
    """Create the admin key of the local tenant and store it in the data directory; none if the tenant has a key already."""
    reach = ensure_local_tenant(services)
    if services.api_keys.page(reach, limit=1):
        return None
    created = services.api_keys.create(reach, KeyFields(name="local admin", permissions=("read", "write", "admin")))
    if not settings.postgres:
        _store_key(Path(settings.data).expanduser() / LOCAL_KEY_FILE, created.text)
    return created.text


def _console_link(services: Services) -> str | None:
    """A sign-in link for the oldest unconfined admin key of the local tenant. Who can start the server can read its data anyway."""
    for key in services.api_keys.page(ensure_local_tenant(services), limit=_MOST_KEYS_LOOKED_AT):
        if "admin" in key.permissions and key.project is None and key.is_valid(now()):
            return link_path(services.sign_ins.new_code(key))
    return None


def _store_key(path: Path, key: str) -> None:
    """Write a key to a file that is created readable by its owner alone."""
    with suppress(FileNotFoundError):
        path.unlink()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(key + "\n")


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2_048)
    except OSError as error:
        taken = "it is in use, perhaps by a Cloister that runs already (`cloister console` opens it)"
        reason = taken if error.errno == errno.EADDRINUSE else error.strerror
        raise StorageUnavailable(f"Cannot listen on {host}:{port}: {reason}. Choose another --port.") from error
