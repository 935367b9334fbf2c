"""The how-to pages are transcripts: every command on them is typed into a real shell, with the real `curl`, against a fresh server.
A `cloister` command that needs no shell runs in this process.

What a page shows under a command is what it prints. Answers are JSON, which a page may set out for reading; ids, keys, times,
scores and addresses are compared by their kind, and one that a page uses again stands for one real one. A `json` block is a
line of the server's log. The `python` blocks of a page are one program, and a `text` block is what the one above it prints.
"""

import asyncio
import gc
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, chdir, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI
from typer.testing import CliRunner

from cloister import Cloister
from cloister.interfaces.cli.main import app
from cloister.settings import VARIABLES
from support.servers.fake_endpoint import Answer, completed, fake_endpoint
from support.servers.http_server import ServerProcess, postgres_address
from support.waiting import eventually

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
HTTP_API = HOW_TO / "http-api.md"
MEMORIES = HOW_TO / "memories.md"
DEPLOY = HOW_TO / "deploy.md"
OPENAI = HOW_TO / "openai.md"
CHAT = HOW_TO / "chat.md"
REFERENCE = HOW_TO.parent / "reference" / "cli.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.MULTILINE)
SHOWN_DATABASE = "postgresql://cloister:secret@127.0.0.1/cloister"
SHOWN_MODEL = "http://127.0.0.1:11434/v1"
LASTING = re.compile(
    r"\b(?:proj|msg|ep|ses|ten|key|mem|ent|obs|turn|rcpt)_[0-9a-f]{16,24}\b|\bclo_[0-9A-Za-z]{61}\b|http://127\.0\.0\.1:\d+"
    r'|(?<="unmoved_token": ")[0-9a-f]{64}(?=")'
    r"|(?<=\"next_cursor\": \")[\w-]+"
)
VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"), "MINUTE"),
    (re.compile(r"(?<=relevance )\d\.\d\d\b"), "RELEVANCE"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d(?=, )"), "DAY"),
    (re.compile(r'("(?:score|relevance)": )\d\.\d+'), r"\1SCORE"),
    (re.compile(r'("request_id": )"[0-9a-f]{16}"'), r"\1REQUEST"),
    (re.compile(r'("milliseconds": )[\d.]+'), r"\1MILLISECONDS"),
    (re.compile(r'("schema_version": )\d+'), r"\1VERSION"),
    (re.compile(r"\S*/data/local\.key"), "KEY FILE"),
    (re.compile(r"(?<=/sign-in#)(?:[0-9a-f]{1,16}\.)?[\w-]{43}"), "CODE"),
)


@dataclass(kw_only=True, slots=True)
class Reader:
    """Somebody who types a page into a terminal, from top to bottom, in one directory."""

    place: Path
    database: Callable[[], str]
    model: str = SHOWN_MODEL
    real: dict[str, str] = field(default_factory=dict[str, str])
    running: ExitStack = field(default_factory=ExitStack)
    server: ServerProcess | None = None
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    # Other tests leave an event loop that runs in the main thread, where the program could then start none.
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def read(self, page: str) -> None:
        printed: str | None = ""
        for kind, block in BLOCK.findall(page):
            if kind == "python":
                printed = self.go_on(block)
            if kind in ("ts", "js"):
                printed = None  # run by tests/typescript_client and tests/chat
            if kind == "text" and printed is not None:
                self.check(block, printed)
            if kind == "json":
                self.check(block, self.line_of_the_log(json.loads(block)["request_id"]))
            for command, shown in transcript(block) if kind == "console" else ():
                self.check(shown, self.type(command))

    def type(self, command: str) -> str:
        if SHOWN_DATABASE in command:
            command = command.replace(SHOWN_DATABASE, self.database())
        command = command.replace(SHOWN_MODEL, self.model)
        if command == "cloister serve":
            return self.start()
        if re.fullmatch(r"cloister [^$|;&<>`\\\n]*", command):
            return self.in_this_process(self.meant(command))
        return self.in_shell(self.meant(command))

    def go_on(self, block: str) -> str:
        """What the next part of the page's program prints, with what was exported."""
        printed = io.StringIO()
        with patch.dict(os.environ, self.exported()), redirect_stdout(printed):
            self.thread.submit(exec, self.meant(block), self.names).result()
        return printed.getvalue()

    def leave(self) -> None:
        """Close what the program opened and would have closed by its end."""
        self.thread.submit(self._leave).result()
        self.thread.shutdown()

    def _leave(self) -> None:
        for value in self.names.values():
            if isinstance(value, (OpenAI, Anthropic, Cloister)):
                value.close()
        with suppress(RuntimeError), warnings.catch_warnings(action="ignore"):
            loop = asyncio.get_event_loop()
            for opened in [each for each in gc.get_objects() if isinstance(each, AsyncOpenAI) and not each.is_closed()]:
                loop.run_until_complete(opened.close())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def exported(self) -> dict[str, str]:
        told = (entry.partition("=") for entry in self.in_shell("env -0").split("\0"))
        return {name: value for name, _, value in told if name}

    def in_this_process(self, command: str) -> str:
        """A command that needs nothing of the shell but what was exported. A process for each takes longer than what it does."""
        _, *arguments = shlex.split(command)
        unset: dict[str, str | None] = dict.fromkeys((*VARIABLES, "NO_COLOR", "FORCE_COLOR"))
        with chdir(self.place):
            done = CliRunner().invoke(app, arguments, env={**unset, **self.exported(), "COLUMNS": "80"})
        assert done.exit_code == 0, f"{command}\n{done.output}"
        return done.output

    def in_shell(self, command: str) -> str:
        """One command after another, each in a shell that knows what the ones before it exported."""
        exported = self.place / "exported.sh"
        exported.touch()
        done = subprocess.run(
            [
                "bash",
                "-c",
                f"set -e; . {shlex.quote(str(exported))}; {command}\nexport -p > {shlex.quote(str(exported))}",
            ],
            cwd=self.place,
            env={"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(self.place)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def start(self) -> str:
        """A server with what was exported; one that runs already ends first, as by Ctrl-C."""
        self.running.close()
        # Without a height, rich ignores the width of a dumb terminal, and wraps the path of the key file.
        environment = {"CLOISTER_OPERATOR_KEY": "", "CLOISTER_RATE_LIMIT": "", "LINES": "50"}
        environment |= {name: value for name, value in self.exported().items() if name in VARIABLES}
        self.server = self.running.enter_context(
            ServerProcess(environment["CLOISTER_DATA"], environment, terminal=True)
        )
        said = [line for line in first_lines(self.server).splitlines(True) if not line.startswith("{")]
        return "".join(said) + self.server.printed

    def line_of_the_log(self, request: str) -> str:
        """It is written behind the answer."""
        server = self.server
        assert server is not None
        return eventually(lambda: next((line for line in server.complaints.splitlines() if request in line), None))

    def check(self, shown: str, printed: str) -> None:
        wrote, got = plain(shown), plain(printed)
        for one, other in zip(LASTING.findall(wrote), LASTING.findall(got), strict=False):
            if one.startswith("http://"):
                self.real[one] = other
            self.real.setdefault(one, other)
        assert normal(got) == normal(self.meant(wrote))

    def meant(self, text: str) -> str:
        return LASTING.sub(lambda found: self.real.get(found[0], found[0]), text)


def first_lines(server: ServerProcess) -> str:
    """What a server that is ready wrote to standard error. Another thread reads that; the line of the first request is the last."""
    return eventually(lambda: server.complaints if "/readyz" in server.complaints else None)


def transcript(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what it prints; one that ends in a backslash goes on in the next line."""
    before, *parts = COMMAND.split(block)
    assert not before.strip(), before
    return list(zip(parts[0::2], parts[1::2], strict=True))


def plain(text: str) -> str:
    """JSON in one form, whether on one line or on many; other text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    except json.JSONDecodeError:
        return text.strip("\n")


def normal(text: str) -> list[str]:
    for pattern, kind in VARYING:
        text = pattern.sub(kind, text)
    return [line.rstrip() for line in text.splitlines()]


@pytest.fixture
def reader(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Reader]:
    if shutil.which("curl") is None:
        if os.environ.get("CI"):
            pytest.fail("CI needs curl")
        pytest.skip("no curl here")
    reader = Reader(place=tmp_path, database=lambda: postgres_address(request.getfixturevalue("empty_postgres")))
    with reader.running:
        try:
            yield reader
        finally:
            reader.leave()


def test_every_command_of_the_http_page_prints_what_it_shows(reader: Reader) -> None:
    reader.read(HTTP_API.read_text("utf-8"))


def test_every_part_of_the_openai_page_prints_what_it_shows(reader: Reader) -> None:
    reader.read(OPENAI.read_text("utf-8"))


def test_every_part_of_the_anthropic_page_prints_what_it_shows(reader: Reader) -> None:
    """DOOR-3"""
    reader.read((HOW_TO / "anthropic.md").read_text("utf-8"))


def test_every_command_of_the_chat_page_prints_what_it_shows(reader: Reader) -> None:
    reader.read(CHAT.read_text("utf-8"))


def test_every_command_of_the_memories_page_prints_what_it_shows(reader: Reader) -> None:
    """The model stands behind another address here, and has learnt what it says on the page."""
    learnt = completed({"memories": [{"content": "The user lives in Graz.", "importance": 7, "sources": [1]}]})
    nothing = completed({"entities": [], "notes": []})
    with fake_endpoint() as model:
        model.follows(lambda asked: learnt if "memories" in str(asked.body["response_format"]) else nothing)
        reader.model = model.url
        reader.read(MEMORIES.read_text("utf-8"))


def test_every_part_of_the_chatbot_page_prints_what_it_shows(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    reader.read((HOW_TO / "chatbot.md").read_text("utf-8"))


def test_every_command_of_the_erasing_page_prints_what_it_shows(reader: Reader) -> None:
    reader.read((HOW_TO / "erase.md").read_text("utf-8"))


def test_every_part_of_the_filters_page_prints_what_it_shows(reader: Reader) -> None:
    """MEM-14"""
    reader.read((HOW_TO / "filters.md").read_text("utf-8"))


def test_every_command_of_the_archives_page_prints_what_it_shows(reader: Reader) -> None:
    """ORG-11, ORG-12"""
    reader.read((HOW_TO / "archives.md").read_text("utf-8"))


def test_every_command_of_the_backup_page_prints_what_it_shows(reader: Reader) -> None:
    """OPS-6"""
    reader.read((HOW_TO / "backup.md").read_text("utf-8"))


def test_every_command_of_the_moving_page_prints_what_it_shows(reader: Reader) -> None:
    reader.read((HOW_TO / "move.md").read_text("utf-8"))


def test_every_part_of_the_langgraph_page_prints_what_it_shows(reader: Reader) -> None:
    """DOOR-4"""
    reader.read((HOW_TO / "langgraph.md").read_text("utf-8"))


def test_every_part_of_the_integrations_page_prints_what_it_shows(reader: Reader) -> None:
    """DOOR-1 to DOOR-8. The client of mem0 is imported here first, where its telemetry is switched off."""
    import support.clients.mem0_client

    assert support.clients.mem0_client.ClientError
    reader.read((HOW_TO.parent / "integrations.md").read_text("utf-8"))
    reader.names["mem0"].client.close()


def test_the_program_of_the_tracing_page_prints_what_it_shows(tmp_path: Path) -> None:
    """DOOR-7: in a process of its own, since it sets the tracer provider of its process."""
    page = (HOW_TO / "tracing.md").read_text("utf-8")
    (program,), (shown,) = (
        [block for kind, block in BLOCK.findall(page) if kind == each] for each in ("python", "text")
    )
    environment = {**os.environ, "CLOISTER_TRACING": "on"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == shown, done.stderr


def test_every_part_of_the_mem0_page_prints_what_it_shows(reader: Reader) -> None:
    """DOOR-5. The client is imported here first, where its telemetry is switched off."""
    import support.clients.mem0_client

    assert support.clients.mem0_client.ClientError
    reader.read((HOW_TO / "mem0.md").read_text("utf-8"))
    reader.names["client"].client.close()


def test_every_command_of_the_workers_page_prints_what_it_shows(reader: Reader) -> None:
    reader.read((HOW_TO / "workers.md").read_text("utf-8"))


def test_every_command_of_the_embedders_page_prints_what_it_shows(reader: Reader) -> None:
    """The embedder stands behind another address here."""
    vector = {"index": 0, "embedding": [0.6, 0.8]}
    with fake_endpoint() as model:
        model.answers(Answer(body=json.dumps({"data": [vector]}).encode()))
        reader.model = model.url
        reader.read((HOW_TO / "embedders.md").read_text("utf-8"))
        assert [asked.body["input"] for asked in model.asked] == [["We had trout from the lake for dinner."]]


@pytest.mark.parametrize("page", sorted(HOW_TO.glob("*.md")), ids=lambda page: page.name)
def test_every_block_of_a_page_is_run_or_known_to_be_only_shown(page: Path) -> None:
    run = {
        "http-api.md": {"console", "json"},
        # Held against a real stream by `tests/events/test_following.py`.
        "events.md": {"text"},
        "openai.md": {"console", "python", "text"},
        "anthropic.md": {"console", "python", "text"},
        # The program in it is run by `tests/chat/test_ai_sdk.py`.
        "chat.md": {"console", "js"},
        "chatbot.md": {"console", "python", "text"},
        "erase.md": {"console"},
        "archives.md": {"console"},
        "backup.md": {"console"},
        "move.md": {"console"},
        "memories.md": {"console"},
        "workers.md": {"console"},
        "filters.md": {"console", "python", "text"},
        "embedders.md": {"console"},
        # Every configuration in it is tried by `tests/mcp_server/test_documents.py`.
        "mcp.md": {"console", "json", "toml", "markdown"},
        "langgraph.md": {"console", "python", "text"},
        # Its programs are run by `tests/typescript_client/test_documents.py`.
        "typescript.md": {"ts", "text"},
        "tracing.md": {"python", "text"},
        # The program for Node in it is run by `tests/mem0_front/test_typescript_client.py`.
        "mem0.md": {"console", "python", "text", "js"},
    }
    # What installs and configures a whole machine. Its variables, its commands and its backup are looked at below.
    only_shown = {
        "deploy.md": {"console", "ini", "nginx"},
        "containers.md": {"console"},
        # Citus is in no package; the command is tried by `tests/contract/test_distribution.py`.
        "distribute.md": {"console"},
        "workers.md": {"ini"},
        "tracing.md": {"console"},
    }
    # Each of its programs changes what the ones before it made, so they cannot be run again for every block.
    only_shown["correct-memories.md"] = {"python", "text"}
    known = run.get(page.name, set[str]()) | only_shown.get(page.name, set[str]())
    assert {kind for kind, _ in BLOCK.findall(page.read_text("utf-8"))} == known


def test_the_deployment_page_has_every_variable_as_it_is() -> None:
    rows = re.findall(r"^\| `(CLOISTER_\w+)` \| (.*) \|$", DEPLOY.read_text("utf-8"), re.MULTILINE)
    assert dict(rows) == dict(VARIABLES)


@pytest.mark.parametrize("page", sorted(HOW_TO.glob("*.md")), ids=lambda page: page.name)
def test_a_page_names_no_variable_that_is_not_there(page: Path) -> None:
    assert set(re.findall(r"\bCLOISTER_[A-Z_]+\b", page.read_text("utf-8"))) <= {*VARIABLES}


def test_the_deployment_page_names_commands_that_there_are() -> None:
    named = set(re.findall(r"(?:bin/|`)cloister ([a-z]+)", DEPLOY.read_text("utf-8")))
    known = set(re.findall(r"^## `cloister ([a-z]+)", REFERENCE.read_text("utf-8"), re.MULTILINE))
    assert {"serve", "backup"} <= named <= known


def test_a_backup_is_restored_as_the_deployment_page_says(reader: Reader) -> None:
    reader.in_shell('export CLOISTER_DATA="$PWD/data"; cloister sessions create diary')
    reader.in_shell(
        'cloister record diary "Rain all day."; cloister backup copy; mkdir restored; cp copy restored/cloister.db'
    )
    assert "Rain all day." in reader.in_shell("cloister search rain --data restored")
