"""Several processes on one data directory: each sees what the others did at its next read."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from cloister import Cloister

NEIGHBOUR = Path(__file__).with_name("neighbour_process.py")


class Neighbour:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def send(self, **command: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def ask(self, **command: Any) -> Any:
        self.send(**command)
        return self.answer()


@contextmanager
def neighbour(directory: Path) -> Generator[Neighbour]:
    process = subprocess.Popen(
        [sys.executable, NEIGHBOUR, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield Neighbour(process)


def test_what_one_process_writes_moves_or_deletes_the_others_see_at_their_next_read(tmp_path: Path) -> None:
    """ISO-5 across processes."""
    with Cloister(tmp_path) as memory, ExitStack() as stack:
        garden, kitchen = memory.create_project("Garden").project_id, memory.create_project("Kitchen").project_id
        memory.create_session("ask-garden", project_id=garden)
        memory.create_session("ask-kitchen", project_id=kitchen)
        first, second, third = (stack.enter_context(neighbour(tmp_path)) for _ in range(3))

        def recalled(session: str) -> list[str]:
            answers = [each.ask(do="recall", session=session, text="tomatoes") for each in (first, second, third)]
            assert answers[0] == answers[1] == answers[2]
            return answers[0]

        assert recalled("ask-garden") == []
        first.ask(do="create", session="plants", project_id=garden)
        first.ask(do="record", session="plants", text="The tomatoes like the south wall.")
        assert recalled("ask-garden") == ["The tomatoes like the south wall."]
        second.ask(do="record", session="plants", text="More tomatoes in May.")
        assert len(recalled("ask-garden")) == 2
        third.ask(do="move", session="plants", project_id=kitchen)
        assert recalled("ask-garden") == []
        assert len(recalled("ask-kitchen")) == 2
        second.ask(do="delete", session="plants")
        assert recalled("ask-kitchen") == []


def test_opened_twice_in_one_process_it_keeps_its_locks_and_its_log(tmp_path: Path) -> None:
    """To read the file beside SQLite released the locks, so that the next process that looked into it deleted its log."""
    look = "import sqlite3, sys\nfound = sqlite3.connect(sys.argv[1])\nfound.execute('SELECT 1 FROM message')\nfound.close()"
    with Cloister(tmp_path) as first:
        first.create_session("s")
        first.record("s", "user", "Before.")
        with Cloister(tmp_path) as second:
            subprocess.run([sys.executable, "-c", look, tmp_path / "cloister.db"], check=True)
            assert (tmp_path / "cloister.db-wal").exists()
            second.record("s", "user", "By the second.")
        first.record("s", "user", "After.")
    with Cloister(tmp_path) as again:
        assert [message.content for message in again.messages("s")] == ["Before.", "By the second.", "After."]


def test_three_processes_writing_moving_and_deleting_at_once_agree_in_the_end(tmp_path: Path) -> None:
    with Cloister(tmp_path) as memory, ExitStack() as stack:
        project = memory.create_project("Shared").project_id
        memory.create_session("ask", project_id=project)
        neighbours = [stack.enter_context(neighbour(tmp_path)) for _ in range(3)]
        commands: list[dict[str, Any]] = []
        for number, each in enumerate(neighbours):
            commands = [
                {"do": "create", "session": f"stays-{number}", "project_id": project},
                {"do": "record", "session": f"stays-{number}", "text": f"stays {number} #", "times": 40},
                {"do": "create", "session": f"leaves-{number}", "project_id": project},
                {"do": "record", "session": f"leaves-{number}", "text": f"leaves {number} #", "times": 20},
                {"do": "recall", "session": "ask", "text": "stays"},
                {"do": "move", "session": f"leaves-{number}", "project_id": None},
                {"do": "create", "session": f"dies-{number}", "project_id": project},
                {"do": "record", "session": f"dies-{number}", "text": f"dies {number} #", "times": 20},
                {"do": "delete", "session": f"dies-{number}"},
            ]
            for command in commands:
                each.send(**command)
        for each in neighbours:
            for _ in commands:
                each.answer()
        expected = sorted(f"stays {number} {count}" for number in range(3) for count in range(40))
        answers = [each.ask(do="recall", session="ask", text="stays") for each in neighbours]
        assert answers == [expected, expected, expected]
        assert memory.health().problems == ()
