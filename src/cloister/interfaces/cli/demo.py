"""`cloister demo`: three pools record different facts in the same words, and a session in each asks for its own. What is shown is
what recall returned."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from cloister.interfaces.cli.options import Data, Json, Key, Tenant
from cloister.interfaces.cli.organisation.project_names import NO_PROJECT_NAME
from cloister.interfaces.cli.terminal import answer, counted, harmless
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.recall.shapes import ContextItem

QUESTION = "What is the door code?"
CODES = {"Bakery": "4417", "Clinic": "9082", NO_PROJECT_NAME: "1365"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """What a session in one pool recalled, by the pool it came from; best first."""

    asked_from: str
    messages: dict[str, list[str]]


def demo(data: Data = None, key: Key = None, tenant: Tenant = None, json: Json = False) -> None:
    """Show the walls: who recalls what, and that nothing crosses.

    Sessions in two projects and in no project record the same words, and each is asked. It uses a temporary directory, unless
    --data is given.
    """
    with (
        nullcontext(data) if data is not None else TemporaryDirectory(prefix="cloister-demo-") as directory,
        Cloister(directory, key=key, tenant="local" if data is None else tenant) as memory,
    ):
        answers = play(memory)
    crossed = sum(len(texts) for row in answers for origin, texts in row.messages.items() if origin != row.asked_from)
    recalled = sum(len(texts) for row in answers for texts in row.messages.values())
    rows = [{"asked_from": row.asked_from, "recalled_from": row.messages} for row in answers]
    answer(
        {"question": QUESTION, "answers": rows, "recalled": recalled, "crossed": crossed},
        json,
        "Sessions in two projects, and in no project, heard the same words about a door:",
        f"only the code differs. Then a new session in each asked: {QUESTION}",
        "",
        _drawn(answers),
        "",
        _verdict(len(answers), recalled, crossed),
    )
    if crossed:
        raise typer.Exit(1)


def play(memory: Cloister) -> list[Recalled]:
    """Record in every pool, then ask in every pool."""
    projects = {
        pool: None if pool == NO_PROJECT_NAME else memory.create_project(pool, allow_duplicate_name=True).project_id
        for pool in CODES
    }
    for pool, code in CODES.items():
        _record(memory, projects[pool], code)
    names = {project_id: pool for pool, project_id in projects.items()}
    return [
        Recalled(asked_from=pool, messages=_by_pool(memory, _ask(memory, project_id), names))
        for pool, project_id in projects.items()
    ]


def _record(memory: Cloister, project_id: str | None, code: str) -> None:
    session = memory.create_session(project_id=project_id, title="demo: told").external_id
    memory.record_episode(session, f"The door code is {code}.", "Thank you, I will remember it.")
    memory.record_episode(session, "The lock sticks in winter: pull, then type.", "Pull first, then type.")


def _ask(memory: Cloister, project_id: str | None) -> Sequence[ContextItem]:
    session = memory.create_session(project_id=project_id, title="demo: asked").external_id
    return memory.context(session, QUESTION).relevant_history


def _by_pool(memory: Cloister, items: Sequence[ContextItem], names: dict[str | None, str]) -> dict[str, list[str]]:
    """The recalled messages by pool, as the sessions they are from say it; a project that is not of the demo goes by its id."""
    found: dict[str, list[str]] = {pool: [] for pool in names.values()}
    for item in items:
        project_id = memory.session(item.session_id).project_id
        found.setdefault(names.get(project_id, str(project_id)), []).append(item.content)
    return found


def _drawn(answers: Sequence[Recalled]) -> Table:
    origins = list(dict.fromkeys(origin for row in answers for origin in row.messages))
    drawn = Table(box=box.ROUNDED, show_lines=True, header_style="bold")
    drawn.add_column("asked in", style="bold")
    for origin in origins:
        drawn.add_column(f"from {origin}", overflow="fold")
    for row in answers:
        cells = [_cell(row.messages.get(origin, []), origin == row.asked_from) for origin in origins]
        drawn.add_row(Text(row.asked_from), *cells)
    return drawn


def _cell(texts: Sequence[str], own: bool) -> Text:
    if not texts:
        return Text("nothing", style="dim")
    return Text(f"{harmless(texts[0])}\n{counted(len(texts), 'message')}", style="green" if own else "bold red")


def _verdict(pools: int, recalled: int, crossed: int) -> str:
    if crossed:
        return f"ISOLATION IS BROKEN: {crossed} of {counted(recalled, 'message')} came from another pool. Please report this."
    return f"Nothing crossed: {pools} pools recalled {counted(recalled, 'message')}, each only its own."
