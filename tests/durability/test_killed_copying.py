"""OPS-8: a copy that is killed in the middle, and repeated, gives what an uninterrupted one gives, in both directions."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from cloister import Cloister
from support.clients.command_line import CommandLine
from support.samples.foreign_exports import write_chatgpt
from support.servers.http_server import postgres_address
from support.waiting import eventually

CONVERSATIONS, MESSAGES = 60, 25


def kill_in_the_middle(source: str, target: str) -> int:
    """Start a copy in a process, and kill it when some messages are stored; returns how many were."""
    with Cloister(target) as watching:
        running = subprocess.Popen(
            [sys.executable, "-m", "cloister", "copy", source, target],
            env={**os.environ, "CLOISTER_MODEL_URL": ""},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            eventually(lambda: watching.usage().messages > 100 or running.poll() is not None, seconds=120)
            running.send_signal(signal.SIGKILL)
            running.wait(30)
            return watching.usage().messages
        finally:
            running.kill()
            running.wait(30)


def exported(data: str | Path, file: Path) -> bytes:
    with Cloister(data) as memory:
        memory.export(file)
    return file.read_bytes()


def test_ops_8_a_copy_that_was_killed_half_way_is_completed(tmp_path: Path, migrated_postgres: str) -> None:
    """OPS-8: byte for byte, to PostgreSQL and back; the source is read by others meanwhile."""
    file = write_chatgpt(tmp_path / "conversations.json", CONVERSATIONS, MESSAGES)
    with Cloister(tmp_path / "first") as memory:
        memory.import_conversations(file, memory.create_project("Chats").project_id, user_id="ann")
    whole = exported(tmp_path / "first", tmp_path / "first.jsonl")
    terminal = CommandLine(data=str(tmp_path / "unused"))
    url = postgres_address(migrated_postgres)
    legs = [(str(tmp_path / "first"), url), (url, str(tmp_path / "back"))]
    for number, (source, target) in enumerate(legs):
        stored = kill_in_the_middle(source, target)
        assert 0 < stored <= CONVERSATIONS * MESSAGES
        (again,) = terminal.json("copy", source, target)["tenants"]
        assert again["added"]["messages"] + again["unchanged"]["messages"] == CONVERSATIONS * MESSAGES
        assert again["unchanged"]["messages"] == stored
        assert again["is_same"]
        assert exported(target, tmp_path / f"leg{number}.jsonl") == whole
