"""Files of memory tools and entries of key-value stores, made and read as a test needs them."""

from typing import Any

from cloister.domain.entries.entry import EntryScope
from cloister.domain.entries.operations import Operation, put_entry, search_entries
from cloister.domain.files.answer import FileAnswer
from cloister.domain.files.commands import read_command
from cloister.domain.identifiers import ProjectId
from support.setups.memories import MemorySetup

NOTES = ("notes", "roses")


def run_file(house: MemorySetup, session: str, **command: Any) -> FileAnswer:
    return house.services.files.run(house.reach, session, read_command(command))


def store_file(house: MemorySetup, session: str, path: str, text: str) -> None:
    made = run_file(house, session, command="create", path=f"/memories/{path}", file_text=text)
    assert not made.is_error, made.text


def file_text(house: MemorySetup, session: str, path: str) -> str | None:
    """The first line of a file; None if there is none."""
    shown = run_file(house, session, command="view", path=f"/memories/{path}")
    return None if shown.is_error else shown.text.splitlines()[1].split("\t")[1]


def listed_files(house: MemorySetup, session: str) -> set[str]:
    lines = run_file(house, session, command="view", path="/memories").text.splitlines()[2:]
    return {line.split("\t")[1].removeprefix("/memories/") for line in lines}


def run_entries(house: MemorySetup, project: ProjectId | None, user: str | None, *operations: Operation) -> list[Any]:
    scope = EntryScope(project=project, user=user)
    return house.services.entries.run(house.reach, scope, operations or (search_entries((), limit=100),))


def put_mark(
    house: MemorySetup, project: ProjectId | None, user: str | None, key: str, mark: str, **named: Any
) -> None:
    run_entries(house, project, user, put_entry(NOTES, key, {"mark": mark}, **named))


def marks(house: MemorySetup, project: ProjectId | None, user: str | None) -> dict[tuple[str, ...], str]:
    """The marks of all entries of a part, by their addresses."""
    return {(*entry.namespace, entry.key): entry.value["mark"] for entry in run_entries(house, project, user)[0]}
