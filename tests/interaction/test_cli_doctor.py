"""`cloister doctor`: what is well, what is not, and what to do about it."""

import os
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from support.clients.command_line import CommandLine


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    (tmp_path / "data").mkdir(mode=0o700)
    return CommandLine(data=str(tmp_path / "data"))


def states(report: Any) -> dict[str, str]:
    return {check["name"]: check["state"] for check in report["checks"]}


def change(shell: CommandLine, statement: str) -> None:
    connection = sqlite3.connect(Path(shell.data) / "cloister.db")
    with connection:
        connection.execute(statement)
    connection.close()


def test_all_is_well_in_a_healthy_place(shell: CommandLine) -> None:
    shell.run("record", "--create", "beds", "Peas.")
    report = shell.json("doctor")
    assert report["ok"]
    assert set(states(report).values()) == {"ok"}
    shown = shell.run("doctor", COLUMNS="200").stdout
    for part in ("SQLite 3.", "1 tenant, 1 project, 1 session, 1 message", "wordllama", shell.data):
        assert part in shown


def test_a_place_that_does_not_exist_yet_is_not_created(tmp_path: Path) -> None:
    report = CommandLine(data=str(tmp_path / "later")).json("doctor")
    assert states(report) == {"data": "warn"}
    assert not (tmp_path / "later").exists()


def test_a_directory_open_to_others_is_warned_about(shell: CommandLine) -> None:
    Path(shell.data).chmod(0o755)
    report = shell.json("doctor")
    assert states(report)["data"] == "warn"
    assert f"chmod 700 {shell.data}" in report["checks"][0]["advice"]


def test_messages_that_recall_does_not_know_yet_are_warned_about(shell: CommandLine) -> None:
    shell.run("record", "--create", "beds", "Peas.")
    change(shell, "UPDATE message SET indexed_at = NULL")
    change(shell, "INSERT INTO generation VALUES (999, 'another embedder')")
    change(shell, "UPDATE message SET generation = 999")
    change(shell, "UPDATE pool SET generation = 999")
    report = shell.json("doctor")
    assert report["ok"]
    assert (states(report)["waiting"], states(report)["stale"]) == ("warn", "warn")
    assert "cloister reindex" in shell.run("doctor").stdout
    shell.run("reindex")
    assert set(states(shell.json("doctor")).values()) == {"ok"}


def test_memories_and_entities_that_recall_does_not_know_yet_are_warned_about(shell: CommandLine) -> None:
    shell.run("record", "--create", "beds", "My neighbour Anna plays the cello.", "--project", shell.project("Garden"))
    shell.run("extract", "beds")
    assert set(states(shell.json("doctor")).values()) == {"ok"}
    change(shell, "INSERT INTO generation VALUES (999, 'another embedder')")
    for table in ("memory", "entity"):
        change(shell, f"UPDATE {table} SET generation = 999, indexed_at = NULL")
    report = shell.json("doctor")
    assert (states(report)["waiting"], states(report)["stale"]) == ("warn", "warn")
    shown = shell.run("doctor", COLUMNS="200").stdout
    assert "2 messages, memories or entities not indexed yet" in shown
    assert "1 memory, 1 entity indexed by another embedder or tokeniser" in shown
    assert shell.run("reindex").stdout == "Rebuilt the index of 1 memory, 1 entity.\n"
    assert shell.run("reindex").stdout == "The index was up to date.\n"
    everything = {"reindexed": 3, "messages": 1, "memories": 1, "entities": 1, "vectors": 0}
    assert shell.json("reindex", "--everything") == everything
    assert set(states(shell.json("doctor")).values()) == {"ok"}


def test_a_newer_schema_is_bad(shell: CommandLine) -> None:
    shell.run("migrate")
    change(shell, "INSERT INTO schema_migration VALUES (9999, 'later', '')")
    outcome = shell.run("doctor", code=1)
    assert "Upgrade Cloister" in outcome.stdout
    assert states(shell.json("doctor", code=1))["database"] == "bad"


def test_a_broken_reference_is_bad(shell: CommandLine) -> None:
    shell.run("record", "--create", "beds", "Peas.")
    change(shell, "DELETE FROM session")
    report = shell.json("doctor", code=1)
    assert not report["ok"]
    assert states(report)["integrity"] == "bad"
    assert "restore a backup" in shell.run("doctor", code=1).stdout


def test_a_file_that_is_no_database_is_bad(shell: CommandLine) -> None:
    (Path(shell.data) / "cloister.db").write_bytes(b"not a database at all" * 200)
    assert "damaged or not a database" in shell.run("doctor", code=1).stdout


def test_a_directory_that_cannot_be_written_is_bad(shell: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(shell.data).chmod(0o500)
    if os.geteuid() == 0:
        monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert states(shell.json("doctor", code=1)) == {"data": "bad"}


def test_a_password_in_a_database_url_is_never_shown() -> None:
    shell = CommandLine(data="postgresql://anna:hunter2@127.0.0.1:1/memory?password=hunter3")
    outcome = shell.run("doctor", code=1)
    assert "127.0.0.1/memory" in outcome.stdout
    assert "hunter" not in outcome.stdout + outcome.stderr


def test_a_postgres_database_is_examined_too(migrated_postgres: str) -> None:
    parts = conninfo_to_dict(migrated_postgres)
    server = urlencode({name: parts[name] for name in ("user", "host")})
    shell = CommandLine(data=f"postgresql:///{parts['dbname']}?{server}")
    shell.run("record", "--create", "beds", "Peas.")
    report = shell.json("doctor")
    assert report["ok"], report
    assert "PostgreSQL" in shell.run("doctor").stdout
