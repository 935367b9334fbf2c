"""Keys, usage and tenants, on a directory and on a server; and what a command says when the server does not do as it should."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from cloister.bootstrap import build_services, wire
from cloister.settings import read_settings
from cloister.storage.sqlite.database import SqliteDatabase
from support.clients.command_line import CommandLine
from support.databases.engines import EMBEDDER, exact_index
from support.servers.http_server import Tenant, serving


@pytest.fixture
def tenant(sqlite_database: SqliteDatabase) -> Generator[Tenant]:
    with serving(wire(sqlite_database, index=exact_index(), embedder=EMBEDDER)) as server:
        yield server.new_tenant()


@pytest.fixture
def remote(tenant: Tenant) -> CommandLine:
    return CommandLine(data=tenant.address, key=tenant.key)


@pytest.fixture
def local(tmp_path: Path) -> CommandLine:
    return CommandLine(data=str(tmp_path / "here"))


@pytest.fixture(params=["local", "remote"])
def shell(request: pytest.FixtureRequest) -> CommandLine:
    return request.getfixturevalue(request.param)


def test_a_new_key_is_all_that_is_printed_and_is_printed_once(shell: CommandLine) -> None:
    """ORG-8"""
    made = shell.run("keys", "create", "reader", "--may", "read")
    assert made.stdout.startswith("clo_")
    assert made.stdout.count("\n") == 1
    assert "'reader' may read. The key itself is shown this once." in made.stderr
    listed = shell.run("keys", "list")
    assert "reader" in listed.stdout
    assert made.stdout.strip() not in listed.stdout + shell.run("keys", "list", "--json").stdout


def test_keys_are_made_listed_and_revoked(shell: CommandLine) -> None:
    """ORG-6"""
    project = shell.project("Garden")
    options = (
        "--project",
        project,
        "--confined",
        "--may",
        "write",
        "--may",
        "read",
        "--expires",
        "2099-01-31T09:30:00Z",
    )
    made = shell.json("keys", "create", "gardener", *options)
    assert made["permissions"] == ["read", "write"]
    assert (made["project_id"], made["confined"]) == (project, True)
    shown = shell.run("keys", "list", COLUMNS="140").stdout
    for part in (made["key_id"], "gardener", "read, write", "Garden only", "2099-01-31 09:30"):
        assert part in shown
    refused = shell.run("keys", "revoke", made["key_id"], answer="n\n", code=1)
    assert f"Revoke '{made['key_id']}' for good? [y/N]" in refused.stderr
    assert shell.run("keys", "revoke", made["key_id"], answer="y\n").stdout == f"Revoked {made['key_id']}.\n"
    assert made["key_id"] not in [key["key_id"] for key in shell.json("keys", "list")]
    assert shell.refusal("keys", "revoke", made["key_id"], "--yes") == f"There is no API key '{made['key_id']}' here."


def test_no_keys_is_said_on_stderr(local: CommandLine) -> None:
    outcome = local.run("keys", "list")
    assert (outcome.stdout, "No keys yet" in outcome.stderr) == ("", True)


def test_a_wrong_key_option_is_named(shell: CommandLine) -> None:
    assert shell.refusal("keys", "create", "x", "--may", "fly") == ("--may: 'fly' is not one of read, write, admin.")
    assert shell.refusal("keys", "create", "x", "--confined").startswith("--confined: needs a project_id")
    assert shell.refusal("keys", "create", "x", "--expires", "soon").startswith("--expires: 'soon' is not a time")


def test_usage_is_counted_beside_its_limits(shell: CommandLine) -> None:
    """ORG-7"""
    shell.run("record", "--create", "beds", "Peas.")
    found = shell.json("usage")
    assert (found["messages"], found["sessions"], found["projects"]) == (1, 1, 1)
    assert found["limits"] == dict.fromkeys(("messages", "sessions", "projects", "files", "entries"))
    lines = [line.split() for line in shell.run("usage").stdout.splitlines()]
    assert ["messages", "1", "none"] in lines


def test_a_tenant_is_made_where_the_data_is_and_opens_with_its_key(local: CommandLine) -> None:
    """ORG-2"""
    refused = local.refusal("tenants", "create", "Firm")
    assert refused == "--json: is needed here: the admin key is shown on a terminal, and this may be a log."
    with patch("cloister.interfaces.cli.organisation.tenants.is_watched", lambda: True):
        made = local.run("tenants", "create", "Firm")
    assert "The tenant 'Firm' is ready." in made.stderr
    key = made.stdout.splitlines()[-1]
    answered = local.json("tenants", "create", "Office")
    assert set(answered) == {"tenant_id", "name", "default_project_id", "admin_key"}
    with closing(build_services(read_settings(local.data))) as services, serving(services) as server:
        projects = [
            CommandLine(data=server.address, key=of).json("projects", "list") for of in (key, answered["admin_key"])
        ]
    assert [[project["is_default"] for project in of] for of in projects] == [[True], [True]]
    assert projects[0][0]["tenant_id"] in made.stdout
    assert projects[1][0]["project_id"] == answered["default_project_id"]


def test_limits_are_set_for_one_tenant_and_replace_those_before(local: CommandLine) -> None:
    """ORG-7"""
    tenant = local.json("tenants", "create", "Firm")["tenant_id"]
    assert local.json("tenants", "limits", tenant, "--messages", "10")["limits"]["messages"] == 10
    found = local.json("tenants", "limits", tenant, "--sessions", "3")["limits"]
    assert found == {"messages": None, "sessions": 3, "projects": None, "files": None, "entries": None}
    found = local.json("tenants", "limits", tenant, "--files", "4", "--entries", "5")["limits"]
    assert (found["sessions"], found["files"], found["entries"]) == (None, 4, 5)
    assert "3" in local.run("tenants", "limits", tenant, "--sessions", "3").stdout
    assert local.json("usage")["limits"]["sessions"] is None
    for wrong in ("ten_00000000deadbeef", "firm"):
        assert local.refusal("tenants", "limits", wrong, "--messages", "1") == f"There is no tenant '{wrong}' here."
    assert "Usage: " in local.run("tenants", "limits", tenant, "--messages", "-1", code=2).stderr


@pytest.mark.parametrize("command", [("tenants", "create", "Firm"), ("serve",)])
def test_what_needs_the_data_refuses_an_address(remote: CommandLine, command: tuple[str, ...]) -> None:
    assert remote.refusal(*command).startswith("--data: must be where the data is")


@pytest.mark.parametrize("command", [("reindex",), ("backup", "copy.db")])
def test_care_is_refused_over_http_and_says_where(remote: CommandLine, command: tuple[str, ...]) -> None:
    assert remote.refusal(*command) == (
        f"This needs the database itself, and is not possible over HTTP: run `cloister {command[0]}` on the server."
    )


def test_migrate_says_the_schema_of_the_server(remote: CommandLine, local: CommandLine) -> None:
    assert remote.json("migrate") == local.json("migrate")


def test_the_walls_can_be_seen_on_a_server_too_iso_4(remote: CommandLine) -> None:
    assert remote.json("demo", "--data", remote.data)["crossed"] == 0


def test_a_wrong_key_is_said_to_be_wrong(remote: CommandLine) -> None:
    for key in ("wrong", remote.key[:-1] + "!" if remote.key else ""):
        refused = CommandLine(data=remote.data, key=key).refusal("sessions", "list")
        assert refused.startswith("A valid API key is needed")
        assert refused.endswith("is not valid there: look at --key or CLOISTER_KEY.")
        assert key not in refused
    assert "set CLOISTER_KEY" in CommandLine(data=remote.data).refusal("sessions", "list")
    assert "key: is for the http:// address" in CommandLine(data="here").refusal("sessions", "list", "--key", "clo_1")


def test_the_key_option_means_the_same_before_and_after_the_command(remote: CommandLine) -> None:
    assert remote.key is not None
    keyless = CommandLine(data="unused")
    place = ("--data", remote.data, "--key", remote.key)
    assert keyless.json(*place, "sessions", "list") == []
    assert keyless.json("sessions", "list", *place) == []
    assert keyless.json("--key", "wrong", "sessions", "list", *place) == []


def test_a_server_that_does_not_answer_is_said_so() -> None:
    shell = CommandLine(data="http://127.0.0.1:1", key="clo_1")
    assert shell.refusal("sessions", "list") == (
        "No Cloister answers at http://127.0.0.1:1: is it running there (cloister serve), and is the address right?"
    )
    refused = json.loads(shell.run("sessions", "list", "--json", code=1).stderr)
    assert refused["code"] == "server_error"


def test_doctor_examines_a_server_and_the_key_to_it(remote: CommandLine, tenant: Tenant) -> None:
    def states(shell: CommandLine, code: int = 0) -> dict[str, str]:
        return {check["name"]: check["state"] for check in shell.json("doctor", code=code)["checks"]}

    assert states(remote) == {"data": "ok", "server": "ok", "key": "ok"}
    assert states(CommandLine(data=remote.data, key="wrong"), code=1) == {"data": "ok", "server": "ok", "key": "bad"}
    assert states(CommandLine(data="http://127.0.0.1:1", key="x"), code=1) == {"data": "ok", "server": "bad"}
    writer = tenant.new_key("write")
    assert states(CommandLine(data=remote.data, key=writer))["key"] == "warn"
    assert "accepted" in remote.run("doctor").stdout


def test_the_console_of_a_directory_says_what_to_do_where_its_server_is_not_found(local: CommandLine) -> None:
    local.run("migrate")
    assert local.refusal("console").startswith("--data: has no local.key: give the address of the server as --data")
    (Path(local.data) / "local.key").write_text("clo_1\n")
    outcome = local.run("console", code=1, CLOISTER_PORT="1")
    assert "No Cloister answers at http://127.0.0.1:1" in outcome.stderr
    assert "Start it with `cloister serve`. If it runs on another machine, give --data" in outcome.stderr


def test_the_server_named_by_a_directory_is_asked_only_while_its_process_lives(local: CommandLine) -> None:
    local.run("migrate")
    (Path(local.data) / "local.key").write_text("clo_1\n")
    named = Path(local.data) / "server.json"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for text in ("", "[]", "{}", json.dumps({"pid": ended.pid, "address": "http://127.0.0.1:2"})):
        named.write_text(text)
        assert "No Cloister answers at http://127.0.0.1:1" in local.run("console", code=1, CLOISTER_PORT="1").stderr
    named.write_text(json.dumps({"pid": os.getpid(), "address": "http://127.0.0.1:2"}))
    assert "No Cloister answers at http://127.0.0.1:2" in local.run("console", code=1, CLOISTER_PORT="1").stderr


def test_the_console_of_a_directory_says_what_to_do_where_its_key_was_revoked(
    local: CommandLine, remote: CommandLine
) -> None:
    local.run("migrate")
    (Path(local.data) / "local.key").write_text("clo_1\n")
    port = remote.data.rpartition(":")[2]
    outcome = local.run("console", code=1, CLOISTER_PORT=port)
    assert "local.key was revoked, or another Cloister listens there." in outcome.stderr
    assert "cloister keys create NAME --may admin" in outcome.stderr
    assert "CLOISTER_KEY" not in outcome.stderr
