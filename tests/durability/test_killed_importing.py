"""An import that is killed in the middle, and repeated, gives what an uninterrupted one gives (ORG-11, ORG-12)."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cloister import Cloister
from support.samples.foreign_exports import write_chatgpt
from support.waiting import eventually

CONVERSATIONS, MESSAGES = 60, 25


def kill_in_the_middle(data: Path, *arguments: str) -> int:
    """Start an import in a process, and kill it when some messages are stored; returns how many were."""
    running = subprocess.Popen(
        [sys.executable, "-m", "cloister", "--data", str(data), "import", *arguments],
        env={**os.environ, "CLOISTER_MODEL_URL": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with Cloister(data) as watching:
            eventually(lambda: watching.usage().messages > 100 or running.poll() is not None, seconds=120)
            running.send_signal(signal.SIGKILL)
            running.wait(30)
            return watching.usage().messages
    finally:
        running.kill()
        running.wait(30)


def said(data: Path) -> list[object]:
    """Every message of every session, with its time and episode, without ids, which are drawn."""
    with Cloister(data) as memory:
        found: list[object] = []
        for number in range(CONVERSATIONS):
            session = memory.session(f"chatgpt:conversation-{number}")
            messages = memory.messages(session.external_id, limit=200)
            found.append((session.title, session.message_count, session.created_at, session.updated_at))
            found += [(each.seq, each.role, each.content, each.created_at, each.metadata) for each in messages]
        return found


@pytest.mark.parametrize("kills", [1, 3])
def test_org_12_conversations_that_were_killed_half_way_are_completed(tmp_path: Path, kills: int) -> None:
    """ORG-12: with the same messages in the same order, none twice and none missing."""
    file = write_chatgpt(tmp_path / "conversations.json", CONVERSATIONS, MESSAGES)
    with Cloister(tmp_path / "whole") as memory:
        memory.import_conversations(file, None, user_id="ann")
    stored = [
        kill_in_the_middle(tmp_path / "killed", str(file), "--project", "none", "--user", "ann") for _ in range(kills)
    ]
    assert 0 < stored[0] <= CONVERSATIONS * MESSAGES
    with Cloister(tmp_path / "killed") as memory:
        again = memory.import_conversations(file, None, user_id="ann")
    assert again.added.messages == CONVERSATIONS * MESSAGES - stored[-1]
    assert said(tmp_path / "killed") == said(tmp_path / "whole")


def test_org_11_an_archive_that_was_killed_half_way_is_completed(tmp_path: Path) -> None:
    """ORG-11: byte for byte."""
    file = write_chatgpt(tmp_path / "conversations.json", CONVERSATIONS, MESSAGES)
    with Cloister(tmp_path / "whole") as memory:
        memory.import_conversations(file, memory.create_project("Chats").project_id, user_id="ann")
        memory.export(tmp_path / "whole.jsonl")
    kill_in_the_middle(tmp_path / "killed", str(tmp_path / "whole.jsonl"))
    with Cloister(tmp_path / "killed") as memory:
        memory.import_archive(tmp_path / "whole.jsonl")
        memory.export(tmp_path / "killed.jsonl")
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
