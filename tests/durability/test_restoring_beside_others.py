"""A restore into PostgreSQL is refused while others use the database, and not for those that have just ended (OPS-6)."""

from pathlib import Path
from time import sleep

import psycopg
import pytest

from cloister.bootstrap import restore_backup
from cloister.domain.maintenance.backup import no_progress
from cloister.settings import read_settings
from cloister.storage.postgres import backup
from support.databases.engines import postgres_engine, sqlite_engine
from support.databases.rows import settle


def test_a_connection_that_ends_just_now_is_waited_for(
    empty_postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command's own was one: on a busy machine the server still had it when the restore looked for others."""
    source = sqlite_engine(tmp_path / "source")
    with source.closing:
        database = source.database()
        settle(database)
        rows = database.maintenance.backup(tmp_path / "copy", no_progress).rows
    target = postgres_engine(empty_postgres)
    with target.closing, psycopg.connect(empty_postgres, application_name="cloister", autocommit=True) as other:

        def end_the_other(seconds: float) -> None:
            other.close()
            sleep(seconds)

        monkeypatch.setattr(backup, "sleep", end_the_other)
        report = restore_backup(read_settings(target.address, {}), tmp_path / "copy")
        assert report.rows == rows
        assert other.closed
