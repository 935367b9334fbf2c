"""The walks of the architecture page are true: a live request calls what a walk names, in the order in which it names it."""

import re
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import cloister
from cloister.worker import Worker
from support.databases.engines import sqlite_engine
from support.servers.http_server import Server, Tenant, serving
from support.waiting import eventually

SOURCE = f"{Path(cloister.__file__).parent}/"
PAGE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text("utf-8")
STEP = re.compile(r"^\d+\. `((?:\w+/)*\w+\.py):([\w.]+)`", re.MULTILINE)
Call = tuple[str, str]


class Trace:
    """The functions of the product that were called while it was on, each where it was called first, in all threads that were
    started after `watch`."""

    def __init__(self) -> None:
        self.first: dict[Call, int] = {}
        self._calls = 0
        self._on = False

    def watch(self) -> None:
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def end(self) -> None:
        threading.setprofile(None)  # pyright: ignore[reportArgumentType]
        sys.setprofile(None)

    def during(self, act: Callable[[], Any], *, until: Callable[[], object]) -> None:
        self.first.clear()
        self._on = True
        try:
            act()
            eventually(until)
        finally:
            self._on = False

    def position(self, file: str, name: str) -> int | None:
        """Where a function, or one that it made, was called first. A method of an interface is that of any implementation."""
        if not file.endswith("/interface.py"):
            made = f"{name}.<locals>."
            return min(
                (
                    at
                    for (there, called), at in self.first.items()
                    if there == file and (called == name or called.startswith(made))
                ),
                default=None,
            )
        folder, method = file.removesuffix("interface.py"), name.rpartition(".")[2]
        called = {call: at for (there, call), at in self.first.items() if there.startswith(folder)}
        alike = [at for call, at in called.items() if call.endswith(name)]  # `ExactIndex.within` for `Index.within`
        return min(alike or [at for call, at in called.items() if call.endswith(f".{method}")], default=None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if self._on and event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            self._calls += 1
            call = (frame.f_code.co_filename.removeprefix(SOURCE), frame.f_code.co_qualname)
            self.first.setdefault(call, self._calls)


def steps(title: str, part: int = 0) -> list[Call]:
    """The steps of a walk, or of one of several under the same title."""
    found: list[list[Call]] = []
    for number, line in enumerate(PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0].splitlines()):
        if step := STEP.match(line):
            if line.startswith("1. "):
                found.append([])
            assert line.startswith(f"{len(found[-1]) + 1}. "), (
                f"{title}, line {number}: the steps are not numbered in order"
            )
            found[-1].append((step[1], step[2]))
    return found[part]


@pytest.fixture
def trace() -> Generator[Trace]:
    made = Trace()
    made.watch()
    yield made
    made.end()


@pytest.fixture
def server(trace: Trace, tmp_path: Path) -> Generator[Server]:
    engine = sqlite_engine(tmp_path / "data")
    with engine.closing, serving(engine.services()) as server:
        yield server


@pytest.fixture
def tenant(server: Server) -> Tenant:
    """With a session that has memories and entities, in a project that another can be moved to."""
    tenant = server.new_tenant()
    tenant.new_session("s")
    tenant.say("s", "My sister Clara works at Siemens.")
    tenant.say("s", "I see.", "assistant")
    tenant.admin.made("/v1/sessions/s/extract", None)
    return tenant


def walked(trace: Trace, tenant: Tenant, walk: list[Call], act: Callable[[], Any]) -> None:
    """Compare a walk with what was called, until its last step was."""
    trace.during(act, until=lambda: trace.position(*walk[-1]) is not None)
    positions = {f"{at}. {file}:{name}": trace.position(file, name) for at, (file, name) in enumerate(walk, 1)}
    assert [step for step, at in positions.items() if at is None] == [], "these were not called"
    assert sorted(positions, key=lambda step: positions[step] or 0) == list(positions)


def test_a_message_over_http_is_recorded_as_the_page_says(trace: Trace, tenant: Tenant) -> None:
    walk = steps("Record a message over HTTP")
    assert len(walk) <= 15
    walked(trace, tenant, walk, lambda: tenant.say("s", "And the beans?"))


def test_a_context_is_built_as_the_page_says(trace: Trace, tenant: Tenant) -> None:
    body = {"session_id": "s", "query": "Where does Clara work?"}
    walked(trace, tenant, steps("Build a context"), lambda: tenant.admin.post("/v1/context", body))


def test_a_chat_message_is_answered_as_the_page_says(trace: Trace, tenant: Tenant) -> None:
    asked = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Where does Clara work?"}]}
    body = {"id": "s", "messages": [asked]}
    walked(trace, tenant, steps("Answer a chat message"), lambda: tenant.admin.post("/v1/chat/stream", body).text)


def test_memories_are_extracted_as_the_page_says(trace: Trace, server: Server, tenant: Tenant) -> None:
    for number in range(2):
        tenant.say("s", f"My brother Xandor{number} works at Zentrix.")
        tenant.say("s", "I see.", "assistant")
    assert server.services is not None
    worker = Worker(server.services)
    try:
        walked(trace, tenant, steps("Extract memories"), worker.start)
    finally:
        worker.stop()


def test_a_session_is_deleted_as_the_page_says(trace: Trace, tenant: Tenant) -> None:
    walked(trace, tenant, steps("Forget, and move", 0), lambda: tenant.admin.delete("/v1/sessions/s"))


def test_a_session_is_moved_as_the_page_says(trace: Trace, tenant: Tenant) -> None:
    body = {"project_id": tenant.new_project("Garden")}
    walked(trace, tenant, steps("Forget, and move", 1), lambda: tenant.admin.patch("/v1/sessions/s", body))
