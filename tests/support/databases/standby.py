"""A standby that follows a test's own PostgreSQL, has every commit before it is confirmed, and can be promoted in its place."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from support.databases.own_postgres import OwnPostgres
from support.waiting import eventually


class Standby:
    """`url` names both servers, of which the one that can be written to is used."""

    def __init__(self, primary: OwnPostgres, folder: Path) -> None:
        self._primary, self._data, self._sockets = primary, folder / "data", folder / "sockets"
        parts = conninfo_to_dict(primary.url)
        self._address = str(parts["host"])
        both = {"host": f"{self._address},{self._sockets}", "target_session_attrs": "read-write"}
        self.url = f"postgresql://postgres@/{parts['dbname']}?{urlencode(both)}"

    def follow(self) -> None:
        """Copy the primary, and from now on its commits wait for this one."""
        for folder in (self._data, self._sockets):
            folder.mkdir()
            shutil.chown(folder, self._primary.system_user)
        self._data.chmod(0o700)
        source = f"host={self._address} user=postgres application_name=standby"
        self._run("pg_basebackup", "-d", source, "-D", str(self._data), "-R", "-X", "stream", "-c", "fast")
        log = str(self._data / "log")
        self._run("pg_ctl", "-w", "-o", f'-h "" -k {self._sockets}', "-l", log, "-D", str(self._data), "start")
        with psycopg.connect(self._primary.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            connection.execute("SELECT pg_reload_conf()")
            state = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
            eventually(lambda: connection.execute(state).fetchone() == (1,), 30)

    def promote(self) -> None:
        self._run("pg_ctl", "-w", "-D", str(self._data), "promote")

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "fast", "-D", str(self._data), "stop")

    def _run(self, program: str, *arguments: str) -> None:
        self._primary.run(program, *arguments)


@contextmanager
def standby_of(primary: OwnPostgres) -> Generator[Standby]:
    # As in `own_postgres`: pytest's own temporary folders are closed to the user that PostgreSQL runs as.
    folder = Path(tempfile.mkdtemp(prefix="cloister-standby-"))
    folder.chmod(0o755)
    standby = Standby(primary, folder)
    try:
        standby.follow()
        yield standby
    finally:
        standby.stop()
        shutil.rmtree(folder)
