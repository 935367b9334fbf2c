"""`cloister demo`: it reports what recall really answered, and leaves nothing behind."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cloister import Cloister, Context
from cloister.interfaces.cli.demo import CODES
from support.clients.command_line import CommandLine


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield CommandLine(data=str(tmp_path / "data"))
    assert list(scratch.iterdir()) == []


def test_every_place_recalls_its_own_code_and_nothing_crosses_iso_4(shell: CommandLine) -> None:
    played = shell.json("demo")
    assert played["crossed"] == 0
    assert [row["asked_from"] for row in played["answers"]] == list(CODES)
    for row in played["answers"]:
        for place, texts in row["recalled_from"].items():
            if place == row["asked_from"]:
                assert CODES[place] in " ".join(texts)
            else:
                assert texts == []


def test_the_table_shows_each_code_once_and_the_verdict(shell: CommandLine) -> None:
    shown = shell.run("demo").stdout
    for code in CODES.values():
        assert shown.count(code) == 1
    assert shown.count("nothing") == 6
    assert shown.splitlines()[-1].startswith("Nothing crossed: 3 pools recalled 12 messages")


def test_it_leaves_the_users_own_data_alone(shell: CommandLine) -> None:
    shell.run("demo")
    assert not Path(shell.data).exists()


def test_with_data_it_stays_there_and_can_be_played_again_iso_4(shell: CommandLine) -> None:
    shell.run("demo", "--data", shell.data)
    assert shell.json("demo", "--data", shell.data)["crossed"] == 0
    assert len(shell.json("projects", "list")) == 5


def test_a_leak_would_be_shown_and_fail(shell: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Cloister.context
    first: list[Context] = []

    def leaking(self: Cloister, session_id: str, query: str | None = None, **options: Any) -> Context:
        first.append(honest(self, session_id, query, **options))
        return first[0]

    monkeypatch.setattr(Cloister, "context", leaking)
    outcome = shell.run("demo", code=1)
    assert "ISOLATION IS BROKEN: 8 of 12 messages came from another pool." in outcome.stdout
