"""Help and reference: every command explains itself, every variable is named, and the reference is what the commands say."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cloister.interfaces.cli.main import app
from cloister.settings import VARIABLES
from support.clients.command_line import CommandLine

ROOT = Path(__file__).parents[2]
SHELL = CommandLine(data="unused")


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, subcommand in getattr(command, "commands", {}).items():
        yield from commands(subcommand, *path, name)


COMMANDS = dict(commands(typer.main.get_command(app)))
LEAVES = [path for path, command in COMMANDS.items() if not hasattr(command, "commands")]


@pytest.mark.parametrize("variable", VARIABLES)
def test_help_names_every_environment_variable(variable: str) -> None:
    shown = SHELL.run("--help").stdout
    assert variable in shown
    assert " ".join(VARIABLES[variable].split()) in " ".join(shown.split())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_and_option_explains_itself(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    assert command.help
    assert all(parameter.help for parameter in command.params)
    shown = SHELL.run(*path, "--help").stdout
    assert command.help.splitlines()[0] in " ".join(shown.split())
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("path", [path for path in LEAVES if path != ("copy",)], ids=" ".join)
def test_every_command_takes_data_and_json_and_names_the_variable(path: tuple[str, ...]) -> None:
    shown = SHELL.run(*path, "--help").stdout
    assert "CLOISTER_DATA" in shown
    assert {"data", "json"} <= {parameter.name for parameter in COMMANDS[path].params}


def test_a_copy_names_both_databases_and_takes_no_data() -> None:
    assert {"source", "target", "json"} <= {parameter.name for parameter in COMMANDS["copy",].params}
    assert "data" not in {parameter.name for parameter in COMMANDS["copy",].params}


def test_the_reference_is_what_the_commands_say() -> None:
    generate = runpy.run_path(str(ROOT / "docs" / "reference" / "generate.py"))
    written = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    assert written == generate["render"](), "run: python docs/reference/generate.py"
