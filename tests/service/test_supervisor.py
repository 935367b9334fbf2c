"""The supervisor of `cloister serve --processes N`, with processes that do not end when they are asked to."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from cloister.interfaces.http import supervisor
from cloister.interfaces.http.supervisor import Supervisor
from cloister.interfaces.stop_signals import stop_signals
from support.waiting import eventually

STUBBORN = """#!/bin/sh
trap '' TERM
echo $$ >> {started}
echo ready
exec sleep 600
"""


@pytest.fixture
def _signals() -> Generator[None]:
    before = {number: signal.getsignal(number) for number in (*stop_signals(), signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_signals")
def test_a_process_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OPS-4: a replacement of all processes, and the end of the server, come to an end."""
    started = tmp_path / "started"
    program = tmp_path / "stubborn"
    program.write_text(STUBBORN.format(started=started))
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(supervisor, "_SECONDS_TO_END", 0.5, raising=False)

    def numbers() -> list[int]:
        return [int(line) for line in started.read_text().split()]

    def control() -> None:
        try:
            first = numbers()
            os.kill(os.getpid(), signal.SIGHUP)
            eventually(lambda: len(numbers()) == 4 and not any(map(is_running, first)), seconds=30)
        except BaseException as error:  # noqa: BLE001 - reported by the test
            problems.append(error)
            for number in numbers():
                os.kill(number, signal.SIGKILL)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    problems: list[BaseException] = []
    controlling = threading.Thread(target=control)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Supervisor(listening, os.environ, 2).run(controlling.start)
    controlling.join(30)
    assert problems == []
    assert not any(map(is_running, numbers()))


@pytest.mark.usefixtures("_signals")
@pytest.mark.parametrize("never", ["starts", "ends"])
def test_a_server_that_is_stopped_waits_for_no_replacement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never: str
) -> None:
    """OPS-4: the new process never answers, or the old one never ends, and the supervisor is asked to stop."""
    started, program = tmp_path / "started", tmp_path / "program"
    program.write_text(STUBBORN.format(started=started))
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))

    def numbers() -> list[int]:
        return [int(line) for line in started.read_text().split()]

    def control() -> None:
        if never == "starts":
            program.write_text(STUBBORN.format(started=started).replace("echo ready", ""))
        os.kill(os.getpid(), signal.SIGHUP)
        eventually(lambda: len(numbers()) == 2)
        monkeypatch.setattr(supervisor, "_SECONDS_TO_END", 0.1)  # of what ends with the supervisor
        os.kill(os.getpid(), signal.SIGTERM)

    controlling = threading.Thread(target=control)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Supervisor(listening, os.environ, 1).run(controlling.start)
    controlling.join(30)
    assert not any(map(is_running, numbers()))


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
