"""What the documents show is what happens: their Python runs, their commands print what is shown, their links lead somewhere.

A `console` block is a session at a terminal, a `text` block under a `python` block is what that prints. JSON may be set out for
reading. Times, scores and places on disk are compared by their kind; an id, a key or an address that a document shows and uses
again stands for one real one.
"""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.interfaces.cli.main import app
from cloister.settings import VARIABLES
from support.servers.http_server import ServerProcess
from support.waiting import eventually

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
ANCHORED_LINK = re.compile(r"\]\((?!https?:)([^)#]*\.md)#([^)]+)\)")
ID = re.compile(
    r"\b(?:proj|msg|ep|ses|ten|key|mem|ent|obs|rcpt)_[0-9a-f]{16,24}\b|\bclo_[0-9A-Za-z]{61}\b|\bhttp://127\.0\.0\.1:\d+"
)
VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::[\d.]+Z)?"), "TIME"),
    (re.compile(r"\b\d\.\d{3}\b"), "SCORE"),
    (re.compile(r"(?<=relevance )\d\.\d\d\b"), "RELEVANCE"),
    (re.compile(r'("(?:score|relevance|lexical|semantic|session_prior|coverage)": )\d+\.\d+'), r"\1SCORE"),
    (re.compile(r"\d[\d,]*\.\d GB"), "SIZE"),
    (re.compile(r"SQLite 3[\d.]+"), "SQLite"),
    (re.compile(r"\S*/data/local\.key"), "KEY FILE"),
    (re.compile(r"(?<=/sign-in#)(?:[0-9a-f]{1,16}\.)?[\w-]{43}"), "CODE"),
)
# Shown, and tried elsewhere: they install or run the whole project.
NOT_RUN_HERE = ("pip install ", "python3 -m venv ", "./scripts/", ".ci/run", "python docs/")


@dataclass(kw_only=True, slots=True)
class Reader:
    """Somebody who types what a document shows, in one directory, from top to bottom."""

    place: Path
    real_ids: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    environment: dict[str, str] = field(default_factory=dict[str, str])
    servers: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def check_shown(self, shown: str, printed: str) -> None:
        for wrote, got in zip(ID.findall(shown), ID.findall(printed), strict=False):
            self.real_ids.setdefault(wrote, got)
        assert self._normal(printed) == self._normal(self._with_real_ids(shown))

    def type_command(self, line: str) -> str:
        _, *arguments = shlex.split(self._with_real_ids(line), comments=True)
        environment: dict[str, str | None] = dict.fromkeys((*VARIABLES, "NO_COLOR", "FORCE_COLOR"))
        environment |= {"CLOISTER_DATA": str(self.place / "data"), "COLUMNS": "80", **self.environment}
        return CliRunner().invoke(app, arguments, env=environment, catch_exceptions=False).output

    def start_server(self) -> str:
        """What it prints before its first request; it runs until the document ends. Without a height, rich ignores the width of a
        dumb terminal, and wraps the path of the key file."""
        running = self.servers.enter_context(ServerProcess(self.place / "data", {"LINES": "50"}, terminal=True))
        # Another thread reads standard error; the line of the first request is the last.
        written = eventually(lambda: running.complaints if "/readyz" in running.complaints else None)
        return "".join(line for line in written.splitlines(True) if line[0] != "{") + running.printed

    def export(self, line: str) -> None:
        """There is no PostgreSQL under the name that documents give it."""
        names = [name for name in VARIABLES if f"{name}=" in line and "postgresql://" not in line]
        show = " ".join(f"; echo ${name}" for name in names)
        told = subprocess.run(
            ["sh", "-c", self._with_real_ids(line) + show], capture_output=True, text=True, check=True
        )
        self.environment |= zip(names, told.stdout.splitlines(), strict=True)

    def run_python(self, text: str) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(self._with_real_ids(text), self.names)
        return printed.getvalue()

    def _with_real_ids(self, shown: str) -> str:
        return ID.sub(lambda found: self.real_ids.get(found[0], found[0]), shown)

    def _normal(self, text: str) -> list[str]:
        text = plain(text).replace(str(self.place), "")
        for pattern, kind in VARYING:
            text = pattern.sub(kind, text)
        return [line.rstrip() for line in text.strip("\n").splitlines()]


def plain(text: str) -> str:
    """JSON in one form, whether on one line or on many; other text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    except json.JSONDecodeError:
        return text


def relative(document: Path) -> str:
    return str(document.relative_to(ROOT))


def transcript(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it prints."""
    _, *parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[0::2], parts[1::2], strict=True))


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    reader = Reader(place=tmp_path)
    with reader.servers:
        yield reader


# The how-to pages, and the page of all integrations, are typed into a real shell, by `test_docs_how_to.py`.
TYPED = [page for page in DOCUMENTS if page.parent.name == "how-to" or page.name == "integrations.md"]


@pytest.mark.parametrize("document", [page for page in DOCUMENTS if page not in TYPED], ids=relative)
def test_a_document_shows_what_happens(document: Path, reader: Reader) -> None:
    printed = ""
    for kind, block in BLOCK.findall(document.read_text("utf-8")):
        match kind:
            case "python":
                printed = reader.run_python(block)
            case "text":
                reader.check_shown(block, printed)
            case "console":
                for command, shown in transcript(block):
                    if command == "cloister serve":
                        reader.check_shown(shown, reader.start_server())
                    elif command.startswith("export "):
                        reader.export(command)
                    elif command.startswith("cloister "):
                        reader.check_shown(shown, reader.type_command(command))
                    else:
                        assert command.startswith(NOT_RUN_HERE), f"nobody checks: {command}"
            case _:
                assert kind in ("sql", "toml", "mermaid"), f"a block of {kind} is checked by nobody"


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_a_link_leads_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text("utf-8")):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_a_link_to_a_section_leads_to_a_heading(document: Path) -> None:
    for target, anchor in ANCHORED_LINK.findall(document.read_text("utf-8")):
        text = BLOCK.sub("", (document.parent / target).read_text("utf-8"))
        headings = [re.sub(r"[^\w\- ]", "", title.lower()) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
        assert anchor in {heading.strip().replace(" ", "-") for heading in headings}, f"{target}#{anchor}"


def test_every_page_is_reached_by_links_from_the_readme() -> None:
    """A link to a folder leads to the pages in it."""
    reached: set[Path] = set()
    waiting = {ROOT / "README.md"}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        linked = {(page.parent / target).resolve() for target in LINK.findall(page.read_text("utf-8"))}
        pages = {found for each in linked for found in (each.glob("*.md") if each.is_dir() else [each])}
        waiting |= {found for found in pages if found.suffix == ".md"} - reached
    assert {relative(page) for page in {*DOCUMENTS} - reached} == set()


def test_every_decision_is_in_the_list_of_decisions() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(LINK.findall((folder / "README.md").read_text("utf-8")))
    assert {page.name for page in folder.glob("[0-9]*.md")} == listed


@pytest.mark.parametrize("script", ["scripts/run", "scripts/test", ".ci/run"])
def test_a_script_that_documents_name_can_be_run_and_is_short(script: str) -> None:
    path = ROOT / script
    assert os.access(path, os.X_OK)
    assert len(path.read_text("utf-8").splitlines()) <= 25


def test_the_readme_says_what_to_type_in_its_first_25_lines() -> None:
    opening = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:25])
    for command in ("./scripts/run", "./scripts/test", "pip install ."):
        assert f"$ {command}" in opening


def test_the_readmes_first_python_is_an_example_that_can_be_run_again() -> None:
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    first = next(block for kind, block in blocks if kind == "python")
    assert first == (ROOT / "docs" / "examples" / "two_projects.py").read_text("utf-8")
    assert len(first.splitlines()) == 12


def test_no_document_names_a_path_of_the_machine_it_was_written_on() -> None:
    for path in (*DOCUMENTS, ROOT / "scripts" / "run", ROOT / "scripts" / "test", ROOT / ".ci" / "run"):
        assert str(ROOT) not in path.read_text("utf-8")
