"""Write `cli.md` beside this file from the commands themselves: python docs/reference/generate.py"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from cloister.interfaces.cli.main import app
from cloister.settings import VARIABLES

TARGET = Path(__file__).with_name("cli.md")
NOT_OURS = {"help", "install_completion", "show_completion"}
EVERYWHERE = {"data", "key", "json"}

OPENING = """\
# The command line

<!-- Made by docs/reference/generate.py; a test compares the two. -->

Every command takes `--data` and `--json`, and those that a server can answer `--key`, before its name or after it; after it wins.
Data goes to standard output, everything else (questions, hints, progress, errors) to standard error. Exit codes: 0 done, 1 refused
or broken, 2 wrongly called.
With `--json` an error is one object on standard error, `{"code": …, "detail": …}`, with a `code` that stays the same from
version to version. Times are UTC. Control characters in what was stored are written out (`\\x1b`), never sent to the terminal.
"""


def render() -> str:
    root = typer.main.get_command(app)
    parts = [OPENING, *_command("cloister", root), "## Environment\n", _variables()]
    return "\n".join(parts)


def _command(name: str, command: Any) -> Iterator[str]:
    hidden = NOT_OURS if name == "cloister" else NOT_OURS | EVERYWHERE
    ours = [parameter for parameter in command.params if parameter.name not in hidden]
    arguments = [parameter for parameter in ours if parameter.param_type_name == "argument"]
    usage = " ".join([name, *(_shown(argument) for argument in arguments)])
    yield f"## `{usage}`\n"
    yield f"{command.help.strip()}\n"
    rows = [f"| {_spelled(parameter)} | {_meaning(parameter)} |" for parameter in ours]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows, ""])
    for subcommand in getattr(command, "commands", {}).values():
        if not subcommand.hidden:
            yield from _command(f"{name} {subcommand.name}", subcommand)


def _shown(argument: Any) -> str:
    return argument.metavar if argument.required else f"[{argument.metavar}]"


def _spelled(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    value = "" if parameter.metavar is None else " " + parameter.metavar.replace("|", "\\|")
    return f"`{', '.join(parameter.opts)}{value}`"


def _meaning(parameter: Any) -> str:
    default = (
        "" if parameter.default in (None, False) or not parameter.show_default else f" Default: {parameter.default}."
    )
    return f"{parameter.help}{default}"


def _variables() -> str:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in VARIABLES.items()]
    return "\n".join(["| variable | meaning |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
