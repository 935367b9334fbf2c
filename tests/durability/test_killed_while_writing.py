"""Nothing acknowledged is lost when the process dies in the middle of a write."""

import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from cloister import Cloister, Message

WRITER = Path(__file__).with_name("writer_process.py")


@pytest.mark.parametrize("acknowledged", [50, 400])
def test_every_acknowledged_message_survives_a_kill_in_order_and_can_be_found(
    tmp_path: Path, acknowledged: int
) -> None:
    with Cloister(tmp_path) as memory:
        for number in range(4):
            memory.create_session(f"session-{number}")
    told = write_until_killed(tmp_path, acknowledged)

    with Cloister(tmp_path) as memory:
        for session, lines in told.items():
            stored = [(message.id, message.content.split()[2]) for message in everything(memory, session)]
            assert [message for message, _ in stored] == sorted(message for message, _ in stored)
            assert set(lines) <= set(stored)
            assert memory.session(session).message_count == len(stored)
        for session, lines in told.items():
            for message, marker in lines[-3:]:
                assert marker in memory.search(f"parcel {marker}", limit=1)[0].content, (session, message)
        assert memory.health().problems == ()


def write_until_killed(directory: Path, acknowledged: int) -> dict[str, list[tuple[str, str]]]:
    """What the writer said was durable, by session, before it was killed."""
    process = subprocess.Popen([sys.executable, WRITER, directory], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(acknowledged)]
    process.send_signal(signal.SIGKILL)
    lines += process.stdout.read().splitlines()
    process.wait()
    process.stdout.close()
    told: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for words in (line.split() for line in lines):
        if len(words) == 3:
            told[words[0]].append((words[1], words[2]))
    return told


def everything(memory: Cloister, session: str) -> Iterator[Message]:
    after = None
    while page := memory.messages(session, limit=200, after=after):
        yield from page
        after = page[-1].id
