"""Write `cli.md` and `python.md` next to this file, from the commands and the library, the list of files in `architecture.md`, and
the types of the TypeScript client: python docs/reference/generate.py"""

import dataclasses
import inspect
import re
import runpy
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import typer.main

import cloister
from cloister import AsyncCloister, Cloister, CloisterError
from cloister.interfaces.cli.main import app
from cloister.interfaces.python.arguments import NOT_GIVEN
from cloister.settings import VARIABLES

FOLDER = Path(__file__).parent
ARCHITECTURE = FOLDER.parent / "architecture.md"
SOURCE = Path(cloister.__file__).parent
TREE = re.compile(r"(?<=<!-- tree -->\n).*(?=<!-- end of tree -->)", re.DOTALL)
TREE_WIDTH = 130
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

PYTHON_OPENING = """\
# The Python library

<!-- Made by docs/reference/generate.py from the docstrings; a test compares the two. -->

`from cloister import Cloister`. The same class opens a data directory, a PostgreSQL database or a server. It returns frozen
dataclasses, described [below](#what-the-methods-return), and raises [errors](#errors) with a stable `code`. `AsyncCloister` has
the same methods, awaited. Ids are strings, times ISO 8601 in UTC. A parameter with the default `NOT_GIVEN` distinguishes "not
given" from `None`: a `project_id` that is not given is the default project, and `None` is no project.
"""


def render() -> str:
    root = typer.main.get_command(app)
    parts = [OPENING, *_command("cloister", root), "## Environment\n", _variables()]
    return "\n".join(parts)


def render_python() -> str:
    methods = dict(public_methods(Cloister))
    shapes = _shapes(methods)
    parts = [PYTHON_OPENING, "## `Cloister`\n", f"{_signature('Cloister', Cloister.__init__)}\n\n{_prose(Cloister)}\n"]
    for name, method in methods.items():
        parts += [f"### `{name}`\n", f"{_signature(name, method)}\n", *_documented(method)]
    parts += [
        "## `AsyncCloister`\n",
        f"{_signature('AsyncCloister', AsyncCloister.__init__)}\n\n{_prose(AsyncCloister)}\n",
    ]
    parts += ["## What the methods return\n", *(part for shape in shapes for part in _shape(shape))]
    parts += [
        "## Errors\n",
        "Every error is a `CloisterError`. `code` is the same over HTTP and on the command line.\n",
        _errors(),
    ]
    return "\n".join(parts)


def render_tree() -> str:
    """The architecture page as it is, with the list of files as the folders are."""
    listed = "\n".join(_folder(SOURCE))
    return TREE.sub(lambda _: f"```\n{listed}\n```\n", ARCHITECTURE.read_text("utf-8"))


def _folder(folder: Path) -> Iterator[str]:
    """One entry for a folder, with the names of its modules, and below it its folders."""
    depth = len(folder.relative_to(SOURCE).parts)
    name = f"{'  ' * (depth - 1)}{folder.name}/" if depth else "cloister/"
    modules = sorted(path.stem for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__"))
    yield from textwrap.wrap(
        "  ".join(modules),
        TREE_WIDTH,
        initial_indent=f"{name:<18}",
        subsequent_indent=" " * 18,
        drop_whitespace=True,
    ) or [name]
    for below in sorted(path for path in folder.iterdir() if any(path.rglob("*.py"))):
        yield from _folder(below)


def public_methods(library: type) -> Iterator[tuple[str, Any]]:
    """The methods of the library in the order of their definition, those of its base classes last."""
    named: dict[str, Any] = {}
    for each in library.__mro__[:-1]:
        for name, value in vars(each).items():
            if inspect.isfunction(value) and not name.startswith("_"):
                named.setdefault(name, value)
    yield from named.items()


def _signature(name: str, method: Any) -> str:
    shown = inspect.signature(method)
    given = [each for each in shown.parameters.values() if each.name not in ("self", "services", "cloister")]
    text = str(shown.replace(parameters=[_plain(each) for each in given]))
    text = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text).replace(" -> None", "")
    if len(name + text) > 90:
        inside, _, answer = text[1:].rpartition(")")
        rows = "".join(f"    {part},\n" for part in _split(inside))
        text = f"(\n{rows}){answer}"
    return f"    {name}{text}".replace("\n", "\n    ")


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(default=_NotGiven()) if parameter.default is NOT_GIVEN else parameter


class _NotGiven:
    def __repr__(self) -> str:
        return "NOT_GIVEN"


def _split(parameters: str) -> list[str]:
    """At the commas between parameters, not at those inside brackets."""
    parts, depth = [""], 0
    for character in parameters:
        depth += (character in "[(") - (character in "])")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _documented(documented: Any) -> list[str]:
    prose = _prose(documented)
    return [f"{prose}\n"] if prose else []


def _prose(documented: Any) -> str:
    own = vars(documented).get("__doc__") if isinstance(documented, type) else documented.__doc__
    return "" if own is None or own.startswith(f"{getattr(documented, '__name__', '')}(") else inspect.cleandoc(own)


def _shapes(methods: dict[str, Any]) -> list[type]:
    """The classes of ours that the methods return, and those in their fields, in the order of first use."""
    found: list[type] = []

    def look(annotation: Any) -> None:
        for inner in get_args(annotation):
            look(inner)
        kind = get_origin(annotation) or annotation
        if inspect.isclass(kind) and kind.__module__.startswith("cloister.") and kind not in found:
            found.append(kind)
            for base in getattr(kind, "__orig_bases__", ()):
                look(base)
            for inner in get_type_hints(kind).values():
                look(inner)

    for method in methods.values():
        look(get_type_hints(method).get("return"))
    return found


def _shape(shape: type) -> Iterator[str]:
    yield f"### `{shape.__name__}`\n"
    yield from _documented(shape)
    if dataclasses.is_dataclass(shape):
        hints = get_type_hints(shape)
        rows = [f"| `{each.name}` | `{_type(hints[each.name])}` |" for each in dataclasses.fields(shape)]
        yield "\n".join(["| field | type |", "|---|---|", *rows, ""])


def _type(annotation: Any) -> str:
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", inspect.formatannotation(annotation)).replace("|", "\\|")


def _errors() -> str:
    exported = [getattr(cloister, name) for name in cloister.__all__]
    errors = [each for each in exported if inspect.isclass(each) and issubclass(each, CloisterError)]
    rows = [f"| `{each.__name__}` | {_code(each)} | {' '.join(_prose(each).split())} |" for each in errors]
    return "\n".join(["| error | code | when |", "|---|---|---|", *rows, ""])


def _code(error: Any) -> str:
    return f"`{error.code}`" if isinstance(getattr(error, "code", None), str) else ""


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
    return f"`{', '.join((*parameter.opts, *parameter.secondary_opts))}{value}`"


def _meaning(parameter: Any) -> str:
    default = (
        "" if parameter.default in (None, False) or not parameter.show_default else f" Default: {parameter.default}."
    )
    return f"{parameter.help}{default}"


def _variables() -> str:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in VARIABLES.items()]
    return "\n".join(["| variable | meaning |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    (FOLDER / "cli.md").write_text(render(), encoding="utf-8")
    (FOLDER / "python.md").write_text(render_python(), encoding="utf-8")
    ARCHITECTURE.write_text(render_tree(), encoding="utf-8")
    runpy.run_path(str(FOLDER.parents[1] / "clients/typescript/generate.py"), run_name="__main__")
