"""OPS-8: `cloister copy` at the command line: what it prints, what it refuses, and its exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cloister import Cloister
from support.clients.command_line import CommandLine
from support.servers.http_server import postgres_address


@pytest.fixture
def source(tmp_path: Path) -> str:
    with Cloister(tmp_path / "from") as memory:
        memory.create_session("plans", user_id="zoe")
        memory.record("plans", "user", "I live in Graz.")
    return str(tmp_path / "from")


@pytest.fixture
def terminal(tmp_path: Path) -> CommandLine:
    return CommandLine(data=str(tmp_path / "unused"))


def test_a_copy_says_what_it_did(terminal: CommandLine, source: str, tmp_path: Path) -> None:
    target = str(tmp_path / "to")
    outcome = terminal.run("copy", source, target)
    assert outcome.stdout.splitlines() == [
        "local: copied 1 project, 1 session, 1 message.",
        f"Compared: 1 tenant at {target} the same as at the source.",
    ]
    assert "Not copied: sign-ins to the console, receipts" in outcome.stderr
    again = terminal.json("copy", source, target)
    assert (again["is_same"], again["tenants"][0]["unchanged"]["messages"]) == (True, 1)
    assert (again["from"], again["to"]) == (source, target)
    assert not (tmp_path / "unused").exists()


def test_a_dry_run_creates_nothing(terminal: CommandLine, source: str, tmp_path: Path, empty_postgres: str) -> None:
    """Neither a directory nor a table."""
    planned = terminal.json("copy", source, str(tmp_path / "to"), "--dry-run")
    assert planned["dry_run"]
    assert planned["tenants"][0] | {"tenant_id": ""} == {
        "tenant_id": "",
        "name": "local",
        "projects": 1,
        "sessions": 1,
        "messages": 1,
        "messages_there": 0,
        "keys": 0,
    }
    assert not (tmp_path / "to").exists()
    empty = postgres_address(empty_postgres)
    for _ in range(2):
        assert "Nothing was copied." in terminal.run("copy", source, empty, "--dry-run").stdout
    terminal.run("copy", empty, str(tmp_path / "to"), code=1)


def test_a_copy_to_postgresql_shows_no_login(terminal: CommandLine, source: str, migrated_postgres: str) -> None:
    copied = terminal.json("copy", source, postgres_address(migrated_postgres))
    assert copied["is_same"]
    assert copied["to"].startswith("postgresql://")
    assert "@" not in copied["to"] and "user=" not in copied["to"]


def test_a_difference_is_exit_code_1(terminal: CommandLine, source: str, tmp_path: Path) -> None:
    target = str(tmp_path / "to")
    terminal.run("copy", source, target)
    with Cloister(source) as memory:
        memory.update_session("plans", title="Moved since")
    outcome = terminal.run("copy", source, target, code=1)
    assert "local: DIFFERENT. session: 1 in both, of which some differ." in outcome.stdout
    assert f"Do not use {target}: 1 tenant not the same as at the source." in outcome.stdout
    copied = terminal.json("copy", source, target, code=1)
    assert (copied["is_same"], copied["tenants"][0]["is_same"]) == (False, False)


def test_one_tenant_by_its_name(terminal: CommandLine, source: str, tmp_path: Path) -> None:
    made = json.loads(terminal.run("tenants", "create", "Acme", "--json", "--data", source).stdout)
    copied = terminal.json("copy", source, str(tmp_path / "to"), "--tenant", "Acme")
    assert [each["tenant_id"] for each in copied["tenants"]] == [made["tenant_id"]]
    assert copied["tenants"][0]["keys"] == 1
    listed = terminal.json("tenants", "list", "--data", str(tmp_path / "to"))
    assert [each["name"] for each in listed] == ["Acme"]
    terminal.run("copy", source, str(tmp_path / "to"), "--tenant", "Nobody", code=1)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (("from", "from"), "TO: is the same as FROM."),
        (("from", "from/../from/"), "TO: is the same as FROM."),
        (("missing", "to"), "FROM: has no database"),
        (("http://127.0.0.1:8420", "to"), "FROM must be a directory or a postgresql:// URL"),
        (("from", "https://memory.example.org"), "TO must be a directory or a postgresql:// URL"),
        (("from", "postgresql://nobody@127.0.0.1:1/none"), "cannot be reached"),
    ],
)
def test_what_is_refused(terminal: CommandLine, source: str, tmp_path: Path, ends: tuple[str, str], said: str) -> None:
    given = [end if "://" in end else f"{tmp_path}/{end}" for end in ends]
    assert said in terminal.run("copy", *given, code=1).stderr
    assert not (tmp_path / "to").exists()
    assert not (tmp_path / "missing").exists()


def test_the_same_database_under_another_login(terminal: CommandLine, migrated_postgres: str) -> None:
    one = postgres_address(migrated_postgres)
    other = one.replace("user=postgres", "user=somebody&password=secret")
    assert one != other
    assert "TO: is the same as FROM." in terminal.run("copy", one, other, code=1).stderr


def test_data_is_not_an_option_of_it(terminal: CommandLine, source: str, tmp_path: Path) -> None:
    outcome = terminal.run("--data", source, "copy", source, str(tmp_path / "to"), code=1)
    assert "--data: is not for this command" in outcome.stderr
    terminal.run("copy", source, str(tmp_path / "to"), "--data", source, code=2)
    terminal.run("copy", source, "", code=1)


def test_a_missing_driver_is_named(source: str) -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None; sys.argv = ['cloister', 'copy', sys.argv[1], sys.argv[2]]\n"
        "from cloister.interfaces.cli.main import app; app()"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, source, "postgresql://127.0.0.1:1/none"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 1
    assert "pip install cloister[postgres]" in run.stderr
