"""The commands for memories, entities and notes, as people see them; what they do is in `test_memories.py`."""

import json
from pathlib import Path

import pytest

from cloister import Cloister
from cloister.interfaces.python.shapes import as_json
from support.clients.command_line import CommandLine, timeless

CELLO = "My neighbour Anna plays the cello."
KEPT = "The user's neighbour Anna plays the cello."


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    return CommandLine(data=str(tmp_path / "data"))


@pytest.fixture
def garden(shell: CommandLine) -> str:
    """A project in whose session something was said that is worth keeping."""
    project = shell.project("Garden")
    shell.run("record", "--create", "--project", project, "--user", "ann", "beds", CELLO)
    return project


def test_extracting_says_what_was_read_and_kept(shell: CommandLine, garden: str) -> None:
    assert shell.run("extract", "beds").stdout == "Read 1 message, and kept 1 memory.\n"
    assert shell.json("extract", "beds") == {"appended": 0, "checked_messages": 0}
    assert shell.refusal("extract", "nobody") == "There is no session 'nobody' here."


def test_memories_are_listed_of_a_session_or_of_a_user(shell: CommandLine, garden: str) -> None:
    """MEM-8"""
    assert "No memories here yet." in shell.run("memories", "list", "beds").stderr
    shell.run("extract", "beds")
    shell.run("memories", "add", "beds", "Peas need poles.")
    for place in (("beds",), ("--user", "ann")):
        shown = shell.run("memories", "list", *place)
        assert KEPT in shown.stdout and "by hand" in shown.stdout and shown.stderr == ""
        first = shell.run("memories", "list", *place, "--limit", "1")
        last = shell.json("memories", "list", *place, "--limit", "1")[0]["id"]
        assert f"add --after {last}" in first.stderr
        rest = shell.run("memories", "list", *place, "--limit", "1", "--after", last)
        assert "Peas need poles." in rest.stdout and rest.stderr == ""
    for wrong in ((), ("beds", "--user", "ann")):
        assert "name a SESSION or a --user" in shell.run("memories", "list", *wrong, code=2).stderr


def test_a_memory_is_added_once_and_forgotten_after_a_yes(shell: CommandLine, garden: str) -> None:
    """MEM-2"""
    added = shell.run("memories", "add", "beds", "Peas need poles.", "peas NEED poles")
    memory = shell.json("memories", "list", "beds")[0]["id"]
    assert added.stdout == f"Keeps {memory}: Peas need poles.\n1 statement known already.\n"
    assert "[y/N]" in shell.run("memories", "forget", memory, answer="n\n", code=1).stderr
    assert shell.run("memories", "forget", memory, answer="y\n").stdout == f"Forgot {memory}.\n"
    assert shell.refusal("memories", "forget", memory, "--yes") == f"There is no memory {memory!r} here."
    assert shell.json("memories", "list", "beds") == []


def test_entities_are_listed_and_retagged(shell: CommandLine, garden: str) -> None:
    """ISO-6"""
    kitchen = shell.project("Kitchen")
    assert "No entities here yet." in shell.run("entities", "list", garden).stderr
    shell.run("extract", "beds")
    entity = shell.json("entities", "list", garden, "--user", "ann")[0]["id"]
    shown = shell.run("entities", "list", garden, "--user", "ann").stdout
    assert "Anna" in shown and "person" in shown
    moved = shell.run("entities", "retag", entity, kitchen).stdout
    assert moved == f"'Anna' is now {entity} in the project 'Kitchen'.\n"
    assert shell.json("entities", "list", garden, "--user", "ann") == []
    assert [found["id"] for found in shell.json("entities", "list", kitchen, "--user", "ann")] == [entity]


def test_search_and_context_show_what_was_kept_by_its_kind(shell: CommandLine, garden: str) -> None:
    shell.run("extract", "beds")
    shown = shell.run("search", "Who plays the cello?", "--project", garden, "--user", "ann").stdout
    for part in ("beds · user · ", "beds · memory · ", "entity · ", KEPT):
        assert part in shown
    only = shell.run("search", "cello", "--project", garden, "--user", "ann", "--kind", "memories").stdout
    assert "beds · memory" in only and "user" not in only.splitlines()[0]
    kinds = ("--kind", "memories", "--kind", "entities")
    assert {hit["kind"] for hit in shell.json("search", "cello", "--project", garden, "--user", "ann", *kinds)} == {
        "memory",
        "entity",
    }
    assert "--kind: " in shell.refusal("search", "cello", "--kind", "secrets")
    context = shell.run("context", "beds", "cello").stdout
    assert context.index("relevant history") < context.index("memories") < context.index("entities")
    assert "notes" not in context


def test_notes_of_a_long_session_are_shown(shell: CommandLine) -> None:
    assert "error" in shell.run("observations", "beds", code=1).stderr
    with Cloister(shell.data) as memory:
        memory.create_session("beds")
        said = [{"role": "user", "content": f"In week {week} I planted peas in Lisbon."} for week in range(60)]
        assert "No notes of this session yet." in shell.run("observations", "beds").stderr
        memory.record_batch("beds", said)
        shell.run("extract", "beds")
        notes = memory.observations("beds")
    shown = shell.run("observations", "beds", "--limit", "1").stdout
    assert notes[0].id in shown and "peas" in shown
    assert f"--after {notes[0].id}" in shell.run("observations", "beds", "--limit", "1").stderr
    rest = shell.json("observations", "beds", "--after", notes[0].id)
    assert [note["id"] for note in rest] == [note.id for note in notes[1:]] != []
    assert "notes" in shell.run("context", "beds", "peas").stdout


def test_what_was_kept_is_counted_when_it_goes(shell: CommandLine, garden: str) -> None:
    """MEM-9, ORG-5"""
    shell.run("extract", "beds")
    assert "memories  1" in " ".join(shell.run("projects", "show", garden).stdout.split("\n")).replace("   ", "  ")
    cleared = shell.run("sessions", "clear", "beds", "--yes").stdout
    assert cleared == "Forgot 1 message in 1 episode, with 1 memory; 'beds' is empty.\n"
    shell.run("memories", "add", "beds", "One.", "Two.")
    deleted = shell.json("projects", "delete", garden, "--yes")
    assert deleted.pop("certificate")["removed"] == {"projects": [garden]}
    assert (deleted.pop("would_remove"), deleted.pop("visible_to")) == (None, None)
    assert deleted == {"sessions_moved": 1, "memories_moved": 2, "files_moved": 0, "entries_moved": 0, "deleted": None}
    gone = shell.run("forget", "beds", "--yes").stdout
    assert gone == "Forgot the session 'beds': 0 messages in 0 episodes, with 2 memories.\n"


def test_what_was_kept_cannot_steer_the_terminal(shell: CommandLine, garden: str) -> None:
    shell.run("memories", "add", "beds", "\u202eRed \u2066alert.")
    shown = shell.run("memories", "list", "beds").stdout + shell.run("context", "beds", "alert").stdout
    assert "\u202e" not in shown and "\u2066" not in shown and "\\u202eRed" in shown


def test_json_is_the_librarys_own_shape(shell: CommandLine, garden: str) -> None:
    shell.run("extract", "beds")
    with Cloister(shell.data) as memory:
        for command, shape in (
            (("memories", "list", "beds"), memory.memories("beds")),
            (("memories", "list", "--user", "ann"), memory.user_memories("ann")),
            (("entities", "list", garden), memory.entities(garden)),
            (("observations", "beds"), memory.observations("beds")),
            (("context", "beds", "cello"), memory.context("beds", "cello")),
            (("search", "cello", "--session", "beds"), memory.search("cello", session_id="beds")),
        ):
            assert timeless(shell.json(*command)) == timeless(json.loads(json.dumps(as_json(shape))))
