"""What is refused, and how: one line on stderr with exit code 1, or with --json one object; wrong usage is exit code 2."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from support.clients.command_line import CommandLine

FOREIGN = "proj_00000000deadbeef"


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    return CommandLine(data=str(tmp_path / "data"))


def test_recording_in_a_missing_session_creates_nothing_and_says_how_to(shell: CommandLine) -> None:
    assert shell.refusal("record", "my beds", "Peas.") == (
        "There is no session 'my beds' here. Make it first: cloister sessions create 'my beds', or add --create."
    )
    assert shell.json("sessions", "list") == []


@pytest.mark.parametrize(
    "command",
    [
        ("sessions", "show", "x"),
        ("sessions", "move", "x", "none"),
        ("sessions", "rename", "x", "Title"),
        ("sessions", "clear", "x", "--yes"),
        ("context", "x", "peas"),
        ("search", "peas", "--session", "x"),
        ("forget", "x", "--yes"),
    ],
)
def test_an_unknown_session_is_named(shell: CommandLine, command: tuple[str, ...]) -> None:
    assert shell.refusal(*command) == "There is no session 'x' here."
    answered = shell.run(*command, "--json", code=1)
    assert json.loads(answered.stderr) == {"code": "not_found", "detail": "There is no session 'x' here."}
    assert answered.stdout == ""


PROJECT_COMMANDS = [
    ("sessions", "create", "new", "--project"),
    ("sessions", "list", "--project"),
    ("sessions", "move", "beds"),
    ("search", "peas", "--project"),
    ("projects", "default"),
    ("projects", "delete", "--yes"),
    ("record", "new", "Peas.", "--create", "--project"),
]


@pytest.mark.parametrize("command", PROJECT_COMMANDS)
def test_a_foreign_project_reads_like_a_missing_one_iso_4(shell: CommandLine, command: tuple[str, ...]) -> None:
    shell.run("sessions", "create", "beds")
    assert shell.refusal(*command, FOREIGN) == f"There is no project '{FOREIGN}' here."
    assert [session["external_id"] for session in shell.json("sessions", "list")] == ["beds"]


@pytest.mark.parametrize("command", PROJECT_COMMANDS)
def test_a_malformed_project_id_is_told_apart(shell: CommandLine, command: tuple[str, ...]) -> None:
    shell.run("sessions", "create", "beds")
    assert "'proj_garden' is not proj_ followed by 16 hexadecimal digits" in shell.refusal(*command, "proj_garden")
    assert shell.refusal(*command, "garden") == "There is no project 'garden' here."


def test_a_missing_and_a_malformed_message_read_alike(shell: CommandLine) -> None:
    for message in ("msg_0000000000000001", "peas"):
        assert shell.refusal("forget", "--yes", "--message", message) == f"There is no message '{message}' here."


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("record", "beds", ""), "TEXT: must not be empty."),
        (("record", "beds", " \n"), "TEXT: must not be empty."),
        (("search", ""), "QUERY: must not be empty."),
        (("search", "peas", "--limit", "0"), "--limit: must be between 1 and 200, not 0."),
        (("sessions", "list", "--limit", "201"), "--limit: must be between 1 and 200, not 201."),
        (("context", "beds", "--budget", "-1"), "--budget: must be between 0 and 10,000,000, not -1."),
        (("projects", "create", " "), "NAME: must not be empty."),
        (("sessions", "create", "two\nlines"), "SESSION: must be one line without control characters."),
        (("sessions", "create", "--tag", "user:anna"), "--tag: 'user:anna' starts with a reserved prefix"),
    ],
)
def test_bad_input_names_the_option_or_argument(shell: CommandLine, command: tuple[str, ...], problem: str) -> None:
    shell.run("sessions", "create", "beds")
    assert shell.refusal(*command).startswith(problem)


def test_programs_read_the_name_of_the_field_that_the_api_has(shell: CommandLine) -> None:
    outcome = shell.run("sessions", "list", "--after", "x", "--json", code=1)
    assert json.loads(outcome.stderr)["detail"] == "cursor: is not one that was given out for this list."
    assert shell.refusal("sessions", "list", "--after", "x") == "--after: is not one that was given out for this list."


def test_a_message_over_the_limit_changes_nothing(shell: CommandLine) -> None:
    shell.run("sessions", "create", "beds")
    outcome = shell.run("record", "beds", "-", answer="x" * 65_537, code=1)
    assert outcome.stderr == "error: TEXT: 65,537 characters, and the limit is 65,536.\n"
    assert shell.json("sessions", "show", "beds")["messages"] == []


def test_create_does_not_move_a_session_that_exists(shell: CommandLine) -> None:
    project = shell.project("Garden")
    shell.run("sessions", "create", "beds", "--project", "none")
    assert "exists already" in shell.refusal("record", "--create", "--project", project, "beds", "Peas.")
    assert shell.json("sessions", "show", "beds")["session"]["project_id"] is None


def test_the_default_project_cannot_be_deleted_org_5(shell: CommandLine) -> None:
    default = shell.json("projects", "list")[0]["project_id"]
    assert "make another project the default first" in shell.refusal("projects", "delete", default, "--yes")


def test_an_existing_file_is_not_overwritten_by_a_backup(shell: CommandLine, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    assert "exists already" in shell.refusal("backup", str(target))
    assert target.read_text() == "precious"


def test_a_read_only_directory_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "data"
    directory.mkdir(mode=0o500)
    if os.geteuid() == 0:
        monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert "cannot be written by this user" in CommandLine(data=str(directory)).refusal("sessions", "list")


def test_a_place_that_cannot_be_a_directory_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refusal = CommandLine(data=str(tmp_path / "file" / "data")).refusal("sessions", "list")
    assert "cannot be created" in refusal


def test_a_newer_schema_is_refused_and_left_alone(shell: CommandLine) -> None:
    shell.run("migrate")
    raise_schema_version(shell)
    for command in (("sessions", "list"), ("migrate",)):
        assert "Upgrade Cloister" in shell.refusal(*command)
    answered = shell.run("migrate", "--json", code=1)
    assert json.loads(answered.stderr)["code"] == "storage_too_new"


@pytest.mark.parametrize(
    "command",
    [
        ("no-such-command",),
        ("forget",),
        ("forget", "beds", "--message", "msg_1"),
        ("record", "beds", "Peas.", "--project", FOREIGN),
        ("record", "beds", "Peas.", "--role", "gardener"),
        ("search", "peas", "--session", "beds", "--user", "anna"),
        ("search", "peas", "--limit", "many"),
        ("sessions", "list", "--data", ""),
        (),
        ("sessions",),
    ],
)
def test_wrong_usage_is_exit_code_2_and_says_nothing_on_stdout(shell: CommandLine, command: tuple[str, ...]) -> None:
    outcome = shell.run(*command, code=2)
    assert outcome.stdout == ""
    assert "Usage: " in outcome.stderr


def test_an_unreadable_setting_is_named(shell: CommandLine) -> None:
    outcome = shell.run("sessions", "list", code=1, CLOISTER_POOL_CACHE_MB="lots")
    assert outcome.stderr == "error: CLOISTER_POOL_CACHE_MB: must be a whole number of megabytes, not 'lots'.\n"


def raise_schema_version(shell: CommandLine) -> None:
    connection = sqlite3.connect(Path(shell.data) / "cloister.db")
    with connection:
        connection.execute("INSERT INTO schema_migration VALUES (9999, 'later', '')")
    connection.close()


def test_org_9_the_last_admin_key_is_not_revoked(shell: CommandLine) -> None:
    made = shell.json("keys", "create", "first", "--may", "admin")
    assert "Make a new admin key without expires_at first" in shell.refusal("keys", "revoke", made["key_id"], "--yes")
    shell.run("keys", "create", "second", "--may", "admin")
    shell.run("keys", "revoke", made["key_id"], "--yes")
    assert [key["name"] for key in shell.json("keys", "list")] == ["second"]
