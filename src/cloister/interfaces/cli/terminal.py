"""Output: data on stdout, everything else on stderr. Control characters in stored text are escaped, never sent to the terminal."""

import json
import sys
from collections.abc import Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cloister.domain.patterns import Match, linear
from cloister.domain.prompts.speaker import is_plain_name

# Characters that a terminal acts on instead of showing: control characters, line separators, and overrides of direction.
_CONTROL = linear("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_INDENT = 4
_LONGEST_ID = 24


def harmless(text: str) -> str:
    """The text with control characters escaped, as in `\\x1b`."""
    return _CONTROL.sub(_escaped, text.replace("\r\n", "\n"))


def output() -> Console:
    return Console(markup=False, highlight=False, emoji=False)


def chatter() -> Console:
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def is_watched() -> bool:
    """Whether both outputs are a terminal. Anything else may be a log, where no secret belongs."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def answer(data: Any, as_json: bool, *shown: RenderableType) -> None:
    """Print the result of a command: `data` as JSON, or else the parts `shown` for people."""
    console = output()
    if as_json:
        console.print(json_text(data), soft_wrap=True)
        return
    for part in shown:
        if isinstance(part, str):
            _write(console, Text(harmless(part)))
        else:
            console.print(part)


def remark(sentence: str) -> None:
    """Print a hint on stderr."""
    _write(chatter(), Text(harmless(sentence), style="dim"))


def complain(code: str, detail: str, hints: Sequence[str], as_json: bool) -> None:
    """Print an error on stderr as one line: what is wrong and, for people, what to do."""
    console = chatter()
    if as_json:
        console.print(json_text({"code": code, "detail": detail}, indent=None), soft_wrap=True)
        return
    line = Text("error: ", style="bold red")
    line.append(" ".join(harmless(" ".join((detail, *hints))).split("\n")), style="not bold default")
    _write(console, line)


def confirm(question: str) -> None:
    """Ask on stderr, and exit with code 1 unless the answer is yes. A closed standard input is a no."""
    chatter().print(Text(f"{harmless(question)} [y/N] "), end="", soft_wrap=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        remark("Nothing was changed.")
        raise typer.Exit(1)


def json_text(data: Any, *, indent: int | None = 2) -> str:
    """JSON with all control characters escaped, also those that JSON allows."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(data, ensure_ascii=False, indent=indent))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[str] = ()) -> Table:
    """A table whose cells wrap, except short ids in the first column, which are for copying. The columns in `numbers` are
    right-aligned."""
    drawn = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column, heading in enumerate(headings):
        is_id = column == 0 and all(len(row[0]) <= _LONGEST_ID and row[0].isascii() for row in rows)
        drawn.add_column(heading, overflow="fold", justify="right" if heading in numbers else "left", no_wrap=is_id)
    for row in rows:
        drawn.add_row(*(Text(harmless(cell)) for cell in row))
    return drawn


def details(fields: Sequence[tuple[str, str]]) -> Table:
    """A line for each field of one object."""
    drawn = Table.grid(padding=(0, 2))
    drawn.add_column(style="dim", no_wrap=True)
    drawn.add_column(overflow="fold")
    for name, value in fields:
        drawn.add_row(name, Text(harmless(value)))
    return drawn


def quotation(about: Sequence[str], words: str) -> RenderableType:
    """Stored text, indented under a line about it; the indentation keeps stored text from imitating such a line."""
    first, *rest = (harmless(part) for part in about)
    head = Text(first, style="bold")
    head.append("".join(f" · {part}" for part in rest), style="not bold dim")
    return Group(head, Padding(Text(harmless(words), overflow="fold"), (0, 0, 0, _INDENT), expand=False))


def speaker(role: str | None, author: str | None) -> str | None:
    """The author of a message, with the role before an author that could be mistaken for a role; without an author, the role."""
    if author is None:
        return role
    return author if is_plain_name(author) else f"{role} {author!r}"


def minute(moment: str) -> str:
    """An ISO 8601 time to the minute; all times are UTC."""
    return moment[:16].replace("T", " ")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"


def _write(console: Console, sentence: Text) -> None:
    """Wrap on a terminal; print one line to anything else, so that programs can search it."""
    console.print(sentence, soft_wrap=not console.is_terminal)


def _escaped(found: Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
