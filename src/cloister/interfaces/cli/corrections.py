"""`cloister memories show`, `correct`, `retract`, `restore` and `history`: one memory, in the hands of a person."""

from typing import Annotated, Any

import typer
from rich.console import RenderableType

from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import After, All, Limit, with_library
from cloister.interfaces.cli.terminal import answer, details, minute, quotation
from cloister.interfaces.python.arguments import NOT_GIVEN
from cloister.interfaces.python.derived_shapes import Memory, MemoryRevision
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json

MemoryArgument = Annotated[str, typer.Argument(metavar="ID", help="The memory's id (mem_…).")]
_NEVER = "never"
_NONE = "none"


@with_library
def show_memory(memory: Cloister, json: bool, memory_id: MemoryArgument) -> None:
    """Show one memory, whatever its status."""
    _answer_memory(memory.get_memory(memory_id), json)


@with_library
def correct_memory(
    memory: Cloister,
    json: bool,
    memory_id: MemoryArgument,
    content: Annotated[str | None, typer.Argument(metavar="TEXT", help="What it should say.")] = None,
    importance: Annotated[
        str | None, typer.Option("--importance", metavar="0..1", help="How important it is; `none` removes it.")
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="TIME", help="Until when it is recalled, in ISO 8601, or `never`."),
    ] = None,
    pin: Annotated[
        bool | None,
        typer.Option("--pin/--unpin", help="Show it in every context of its pool, or no longer.", show_default=False),
    ] = None,
    categories: Annotated[
        list[str] | None, typer.Option("--category", metavar="LABEL", help="A label for filters; may be repeated.")
    ] = None,
) -> None:
    """Correct a memory, pin it, or let it expire. What is not given stays.

    No extraction overwrites or supersedes a memory that was corrected or pinned.
    """
    given: dict[str, Any] = {
        "expires_at": NOT_GIVEN if expires is None else None if expires == _NEVER else expires,
    }
    if importance is not None:
        given["importance"] = None if importance == _NONE else _number(importance)
    if all(value is None for value in (content, importance, expires, pin, categories or None)):
        raise typer.BadParameter("name what to change: a TEXT, --importance, --expires, --pin, --unpin or --category.")
    changed = memory.correct_memory(memory_id, content=content, pinned=pin, categories=categories or None, **given)
    _answer_memory(changed, json)


@with_library
def retract_memory(memory: Cloister, json: bool, memory_id: MemoryArgument) -> None:
    """Retract a memory that was never true. It can be restored within a day."""
    _answer_memory(memory.retract_memory(memory_id), json)


@with_library
def restore_memory(memory: Cloister, json: bool, memory_id: MemoryArgument) -> None:
    """Undo the last correction or retraction of a memory, within a day of it."""
    _answer_memory(memory.restore_memory(memory_id), json)


@with_library
def memory_history(
    memory: Cloister,
    json: bool,
    memory_id: MemoryArgument,
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
) -> None:
    """List the changes of a memory, oldest first: who made each, when, and what was before."""

    def fetch(*, limit: int, cursor: str | None) -> Any:
        return memory.memory_history(memory_id, limit=limit, cursor=cursor)

    found = listed(fetch, limit, everything, after)
    answer_list(found, json, *map(_change, found))


def _answer_memory(found: Memory, json: bool) -> None:
    fields = [
        ("id", found.id),
        ("session", found.session_id),
        ("status", found.status),
        ("source", found.source),
        ("said", minute(found.valid_from)),
    ]
    if found.valid_until is not None:
        fields.append(("true until", minute(found.valid_until)))
    if found.superseded_by is not None:
        fields.append(("superseded by", found.superseded_by))
    if found.expires_at is not None:
        fields.append(("expires", minute(found.expires_at)))
    if found.importance is not None:
        fields.append(("importance", f"{found.importance:.1f}"))
    if found.pinned:
        fields.append(("pinned", "yes"))
    if found.categories:
        fields.append(("categories", ", ".join(found.categories)))
    answer(as_json(found), json, found.content, details(fields))


def _change(revision: MemoryRevision) -> RenderableType:
    about = [revision.action, minute(revision.changed_at), revision.changed_by or "without a key"]
    if revision.undone_at is not None:
        about.append("undone")
    return quotation(about, "" if revision.before is None else f"before: {revision.before.content}")


def _number(given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise typer.BadParameter("--importance is a number from 0 to 1, or `none`.") from None
