"""A real pgbouncer in transaction mode, in front of the tests' PostgreSQL: a transaction gets any of its few connections.

With `CLOISTER_TEST_PGBOUNCER=1` all tests that open an engine go through one, for a run by hand.
"""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

PORT = "6432"
# Few, so that they are shared.
SERVER_CONNECTIONS = 4
_started: list["PgBouncer"] = []


class PgBouncer:
    """In front of the PostgreSQL server of a URL, for all of its databases. Every client is the superuser there."""

    def __init__(self, url: str, server_connections: int = SERVER_CONNECTIONS) -> None:
        parts = conninfo_to_dict(url)
        self._folder = Path(tempfile.mkdtemp(prefix="cloister-pgbouncer-"))
        self._folder.chmod(0o755)
        host = Path(str(parts["host"]))
        # It refuses to run as root, and only the server's user reaches its socket.
        self._user = host.stat().st_uid if os.geteuid() == 0 else None
        if self._user is not None:
            os.chown(self._folder, self._user, -1)
        self._settings = self._folder / "pgbouncer.ini"
        self._settings.write_text(
            f"[databases]\n* = host={host} port={parts.get('port', 5432)} user={parts['user']}\n"
            f"[pgbouncer]\nunix_socket_dir = {self._folder}\nlisten_addr =\nlisten_port = {PORT}\nauth_type = any\n"
            f"pool_mode = transaction\ndefault_pool_size = {server_connections}\nmax_client_conn = 2000\n"
            f"logfile = {self._folder / 'log'}\n"
        )
        self._process: subprocess.Popen[bytes] | None = None
        self._url = url

    def url(self, database_url: str) -> str:
        """The URL of the same database, through the pooler."""
        return make_conninfo(database_url, host=str(self._folder), port=PORT)

    def start(self) -> None:
        program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
        self._process = subprocess.Popen(
            [program, "-q", str(self._settings)], user=self._user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url(self._url)).close()
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self._folder / "log").read_text()
                assert time.monotonic() < deadline, "pgbouncer does not answer"
                time.sleep(0.02)

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(30)
        (self._folder / f".s.PGSQL.{PORT}").unlink(missing_ok=True)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def is_installed() -> bool:
    return shutil.which("pgbouncer") is not None or Path("/usr/sbin/pgbouncer").exists()


@contextmanager
def running_pgbouncer(url: str, server_connections: int = SERVER_CONNECTIONS) -> Generator[PgBouncer]:
    pooler = PgBouncer(url, server_connections)
    try:
        pooler.start()
        yield pooler
    finally:
        pooler.stop()


def through_pooler(url: str) -> str:
    """The URL of the database through one pgbouncer of this process, which ends with it."""
    if not _started:
        pooler = PgBouncer(url)
        atexit.register(pooler.stop)
        pooler.start()
        _started.append(pooler)
    return _started[0].url(url)


def as_asked(url: str) -> str:
    """The URL itself, or through the pooler where the environment asks for that."""
    return through_pooler(url) if os.environ.get("CLOISTER_TEST_PGBOUNCER") else url
