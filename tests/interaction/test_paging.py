"""Lists in pages: every item is reached, in order and once, through every way in."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cloister import Cloister, InvalidRequest, Page
from support.clients.command_line import CommandLine
from support.clients.entry_points import EMBEDDED, HTTP, REMOTE, only

T = TypeVar("T")


def all_pages(fetch: Callable[..., Page[T]], size: int) -> list[list[T]]:
    """The pages of a list, each asked for by the cursor of the one before."""
    page = fetch(limit=size)
    pages = [list(page)]
    while page.next_cursor is not None:
        page = fetch(limit=size, cursor=page.next_cursor)
        pages.append(list(page))
    return pages


def test_every_list_is_reached_page_by_page(memory: Cloister) -> None:
    project = memory.create_project("Garden").project_id
    memory.create_project("Kitchen")
    for number in range(5):
        memory.create_session(f"s{number}", user_id="ann", project_id=project)
        memory.record("s0", "user", f"Number {number}.")
    for name in ("Anna", "Berta", "Clara"):
        memory.record("s0", "user", f"My neighbour {name} plays the cello.")
    memory.extract("s0")
    memory.add_memories("s0", ["One.", "Two.", "Three.", "Four.", "Five."])
    lists: dict[str, Callable[..., Page[Any]]] = {
        "sessions": memory.sessions,
        "project's sessions": partial(memory.sessions, project_id=project, user_id="ann"),
        "projects": memory.projects,
        "messages": partial(memory.messages, "s0"),
        "memories": partial(memory.memories, "s0"),
        "user's memories": partial(memory.user_memories, "ann"),
        "entities": partial(memory.entities, project, user_id="ann"),
    }
    for name, fetch in lists.items():
        whole = fetch()
        assert len(whole) > 2, name
        assert whole.next_cursor is None, name
        assert isinstance(whole, list)
        pages = all_pages(fetch, 2)
        assert [item for page in pages for item in page] == whole, name
        assert {len(page) for page in pages[:-1]} == {2}, name


@only([*EMBEDDED, *HTTP, *REMOTE])
def test_observations_are_listed_page_by_page(memory: Cloister) -> None:
    memory.create_session("s")
    for start in (0, 60):
        said = [
            {"role": "user", "content": f"In week {start + number} I planted peas in Lisbon."} for number in range(60)
        ]
        memory.record_batch("s", said)
        memory.extract("s")
    whole = memory.observations("s")
    pages = all_pages(partial(memory.observations, "s"), 1)
    assert [note for page in pages for note in page] == whole
    assert len(pages) == len(whole) > 1


@only([*EMBEDDED, *REMOTE])
def test_keys_are_listed_page_by_page(memory: Cloister) -> None:
    for number in range(3):
        memory.create_key(f"key {number}")
    whole = memory.keys()
    pages = all_pages(memory.keys, 2)
    assert [key for page in pages for key in page] == whole
    assert len(pages) == (len(whole) + 1) // 2


@only([*EMBEDDED, *HTTP, *REMOTE])
def test_a_page_goes_on_although_its_last_item_was_deleted(memory: Cloister) -> None:
    memory.create_session("s")
    for number in range(4):
        memory.record("s", "user", f"Number {number}.")
    first = memory.messages("s", limit=2)
    memory.forget_message(first[-1].id)
    rest = memory.messages("s", cursor=first.next_cursor)
    assert [message.content for message in rest] == ["Number 2.", "Number 3."]


@only([*EMBEDDED, *HTTP, *REMOTE])
def test_a_cursor_of_another_list_is_refused(memory: Cloister) -> None:
    for name in ("s", "t", "u"):
        memory.create_session(name, user_id="ann")
    cursor = memory.sessions(limit=2).next_cursor
    for wrong in ("x", "", "é", f"{cursor}x"):
        with pytest.raises(InvalidRequest, match="cursor: is not one that was given out for this list"):
            memory.sessions(cursor=wrong)
    with pytest.raises(InvalidRequest, match="cursor: is not one that was given out for this list"):
        memory.sessions(user_id="ann", cursor=cursor)
    with pytest.raises(InvalidRequest, match="cursor: is not one that was given out for this list"):
        memory.projects(cursor=cursor)


@only(["embedded-sqlite", "remote-sqlite"])
def test_more_sessions_than_the_largest_page_has_are_reached(memory: Cloister) -> None:
    for number in range(205):
        memory.create_session(f"s{number}")
    first = memory.sessions(limit=200)
    rest = memory.sessions(limit=200, cursor=first.next_cursor)
    assert [session.external_id for session in [*first, *rest]] == [f"s{number}" for number in reversed(range(205))]
    assert rest.next_cursor is None


def test_the_command_line_lists_all_and_says_how_to_go_on(tmp_path: Path) -> None:
    shell = CommandLine(data=str(tmp_path / "data"))
    with Cloister(tmp_path / "data") as memory:
        for number in range(205):
            memory.create_session(f"s{number}")
    listed = shell.json("sessions", "list", "--all")
    assert [session["external_id"] for session in listed] == [f"s{number}" for number in reversed(range(205))]
    first = shell.run("sessions", "list", "--limit", "200")
    cursor = first.stderr.split("--after ")[1].split(",")[0]
    assert len(shell.json("sessions", "list", "--after", cursor)) == 5
    for name in ("Alpha", "Beta", "Gamma"):
        shell.run("tenants", "create", name, "--json")
    first = shell.run("tenants", "list", "--limit", "2")
    cursor = first.stderr.split("--after ")[1].split(",")[0]
    names = [tenant["name"] for tenant in shell.json("tenants", "list", "--all")]
    assert [tenant["name"] for tenant in shell.json("tenants", "list", "--after", cursor)] == names[2:]
