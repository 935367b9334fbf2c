"""Every configuration on the page about MCP, tried: filled in as its assistant does, it leads to a server that answers."""

import json
import re
import shlex
import tomllib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.interfaces.cli.main import app
from cloister.interfaces.mcp.tools import TOOLS
from support.clients.mcp_client import READING, WRITING, Connected, over_http, over_stdio
from support.servers.http_server import Server, Tenant

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "mcp.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN_ADDRESS, SHOWN_DIRECTORY, SHOWN_KEY = "http://127.0.0.1:8420", "/home/ada/cloister", "clo_…"
# How each assistant writes the value of a variable or of an input.
VARIABLE = re.compile(r"\$\{(?:env:)?CLOISTER_KEY\}|\$\{input:cloister-key\}|\$CLOISTER_KEY")


def blocks(kind: str) -> list[str]:
    return [text for found, text in BLOCK.findall(PAGE) if found == kind]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One server in a configuration: an address with headers, or a command."""

    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


def entries() -> Iterator[Entry]:
    for block in blocks("json"):
        read: dict[str, Any] = json.loads(block)
        (entry,) = (read.get("mcpServers") or read["servers"]).values()
        if "command" in entry:
            assert entry.keys() <= {"command", "args", "env"}
            environment = tuple(entry.get("env", {}).items())
            yield Entry(command=(entry["command"], *entry["args"]), environment=environment)
            continue
        assert entry.keys() <= {"type", "url", "headers"} and entry.get("type", "http") == "http"
        assert all(each["id"] in str(entry["headers"]) for each in read.get("inputs", []))
        yield Entry(url=entry["url"], headers=tuple(entry["headers"].items()))
    for block in blocks("toml"):
        (entry,) = tomllib.loads(block)["mcp_servers"].values()
        assert entry.keys() <= {"url", "bearer_token_env_var", "http_headers"}
        key = ("Authorization", f"Bearer ${{{entry['bearer_token_env_var']}}}")
        yield Entry(url=entry["url"], headers=(key, *entry["http_headers"].items()))
    (line,) = [line for block in blocks("console") for line in block.splitlines() if " claude mcp add " in line]
    _, *words = shlex.split(line)
    assert words[:5] == ["claude", "mcp", "add", "--transport", "http"]
    name, _, value = words[words.index("--header") + 1].partition(": ")
    yield Entry(url=words[6], headers=((name, value),))


ENTRIES = list(entries())


@contextmanager
def connected(entry: Entry, tenant: Tenant, folder: Path) -> Generator[Connected]:
    """The client, connected as the configuration says, at the test's server or directory."""

    def meant(text: str) -> str:
        text = text.replace(SHOWN_ADDRESS, tenant.address).replace(SHOWN_DIRECTORY, str(folder / "data"))
        return VARIABLE.sub(tenant.key, text).replace(SHOWN_KEY, tenant.key)

    if entry.url:
        headers = {name: meant(value) for name, value in entry.headers}
        scheme, _, key = headers.pop("Authorization").partition(" ")
        assert (scheme, entry.url) == ("Bearer", f"{SHOWN_ADDRESS}/mcp")
        with over_http(tenant.address, key, headers) as found:
            yield found
    else:
        program, subcommand, *options = map(meant, entry.command)
        assert (program, subcommand) == ("cloister", "mcp")
        environment = {name: meant(value) for name, value in entry.environment}
        with over_stdio(*options, environment=environment) as found:
            yield found


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: (entry.url and "url") or "command")
def test_every_configuration_leads_to_the_tools(entry: Entry, sqlite_service: Server, tmp_path: Path) -> None:
    """DOOR-1."""
    tenant = sqlite_service.new_tenant()
    tenant.new_project("Garden")
    with connected(entry, tenant, tmp_path) as found:
        assert {tool.name for tool in found.tools} == READING | WRITING
        found.call("remember", contents=["The bike is green."])
        assert "The bike is green." in found.call("get_context", query="Which colour has the bike?")["context"]


def test_the_page_shows_all_the_assistants_it_names() -> None:
    assert sum(bool(entry.url) for entry in ENTRIES) == 5 and len(ENTRIES) == 7
    for name in ("Claude Code", "Claude Desktop", "Cursor", "VS Code", "Codex"):
        assert f"**{name}**" in PAGE


def test_the_page_has_every_tool_with_its_arguments_and_defaults() -> None:
    shown = dict(re.findall(r"`(\w+)\(([^)]*)\)`", PAGE.partition("## The tools")[2]))
    assert shown.keys() == TOOLS.keys()
    for name, arguments in shown.items():
        tool = TOOLS[name]
        wanted = [
            f"{argument} = {schema['default']}"
            if "default" in schema
            else argument
            if argument in tool.required
            else f"{argument}?"
            for argument, schema in tool.arguments.items()
        ]
        assert arguments.split(", ") == wanted


def test_the_lines_for_the_instructions_name_tools_that_there_are() -> None:
    (lines,) = blocks("markdown")
    assert set(re.findall(r"`(\w+)`", lines)) - {"cloister"} <= TOOLS.keys()


def test_the_key_of_the_page_can_be_made(tmp_path: Path) -> None:
    (line,) = [line for block in blocks("console") for line in block.splitlines() if "cloister keys create" in line]
    environment = {"CLOISTER_DATA": str(tmp_path / "data")}
    for command in (["projects", "create", "Garden"], shlex.split(line)[2:]):
        done = CliRunner().invoke(app, command, env=environment)
        assert done.exit_code == 0, done.output
    assert "clo_" in done.output
