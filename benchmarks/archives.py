"""Import a made-up ChatGPT export of so many messages, export an archive of it, and import that again: time and memory.

    python benchmarks/archives.py [--messages 100000] [--kills 3]

With `--kills` the import of the archive is also killed (SIGKILL) at so many points, started again, completed, and exported: the
file must be byte for byte the archive that it came from. So is the import of the ChatGPT export, whose messages must then be those
of an import that was not killed: the same words, roles and times in the same conversations, in the same order, under random ids.

Each step runs in a process of its own, so that its peak memory is its own. Memory is flat if it does not grow with the messages.
"""

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from cloister import Cloister, Message, Page

_Item = TypeVar("_Item")
A_CONVERSATION = 50
WORDS = "We talk about the roses of Lisbon, the price of trains to Porto, and whether it rains on Tuesday, part"


_DATA = {
    "import the archive": "copy",
    "import killed": "killed",
    "export killed": "killed",
    "import conversations killed": "conversations killed",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step is not None:
        _run(*given.step)
        return
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        size = _write(Path(folder) / "conversations.json", given.messages)
        print(
            f"made an export of {given.messages:,} messages, {size / 1e6:,.0f} MB, in {time.perf_counter() - began:.1f} s"
        )
        for step in ("preview", "import", "import again", "export", "import the archive"):
            _run_step(step, Path(folder))
        if given.kills:
            _kill(Path(folder), given.messages, given.kills)


def _kill(folder: Path, messages: int, kills: int) -> None:
    """Kill imports of both kinds when a share of the messages is stored, complete the last, and compare what is stored."""
    _kill_imports(folder, "import killed", "killed", messages, kills)
    _run_step("export killed", folder)
    names = ("archive.jsonl", "killed.jsonl")
    _compare([hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names], "archives")
    _kill_imports(folder, "import conversations killed", "conversations killed", messages, kills)
    _compare([_spoken(folder / name) for name in ("data", "conversations killed")], "messages")


def _kill_imports(folder: Path, step: str, data: str, messages: int, kills: int) -> None:
    for number in range(1, kills + 1):
        arguments = [sys.executable, __file__, "--step", step, str(folder)]
        running = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        try:
            with Cloister(folder / data) as watching:
                until = time.monotonic() + 600
                while watching.usage().messages < messages * number // (kills + 1) and time.monotonic() < until:
                    if running.poll() is not None:
                        raise SystemExit("the import ended before it could be killed")
                    time.sleep(0.02)
                running.kill()
                running.wait()
                print(f"killed with {watching.usage().messages:,} messages stored", flush=True)
        finally:
            running.kill()
            running.wait()
    _run_step(step, folder)


def _run_step(step: str, folder: Path) -> None:
    subprocess.run([sys.executable, __file__, "--step", step, str(folder)], check=True)


def _compare(digests: list[str], what: str) -> None:
    print(f"after the kills: {'equal' if len(set(digests)) == 1 else 'DIFFERENT'} {what}", flush=True)
    if len(set(digests)) > 1:
        raise SystemExit(1)


def _spoken(data: Path) -> str:
    """A digest of all messages without their ids, by conversation."""
    digest = hashlib.sha256()
    with Cloister(data) as memory:
        sessions = _of_all_pages(lambda cursor: memory.sessions(limit=200, cursor=cursor))
        for name in sorted(session.external_id for session in sessions):
            for message in _of_all_pages(partial(_messages, memory, name)):
                fields = (name, message.role, message.created_at, message.author, message.content)
                digest.update(json.dumps(fields).encode())
    return digest.hexdigest()


def _messages(memory: Cloister, session: str, cursor: str | None) -> Page[Message]:
    return memory.messages(session, limit=200, cursor=cursor)


def _of_all_pages(list_page: Callable[[str | None], Page[_Item]]) -> Iterator[_Item]:
    page = list_page(None)
    yield from page
    while page.next_cursor is not None:
        page = list_page(page.next_cursor)
        yield from page


def _write(path: Path, messages: int) -> int:
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, text in enumerate(_conversations(messages)):
            file.write(f"{',' if number else ''}{text}")
        file.write("]")
    return path.stat().st_size


def _conversations(messages: int) -> Iterator[str]:
    for number in range(-(-messages // A_CONVERSATION)):
        begun = 1_550_000_000 + 10_000 * number
        nodes: dict[str, object] = {"root": {"id": "root", "parent": None, "message": None}}
        for position in range(min(A_CONVERSATION, messages - number * A_CONVERSATION)):
            nodes[f"n{position}"] = {
                "id": f"n{position}",
                "parent": f"n{position - 1}" if position else "root",
                "message": {
                    "id": f"{number}-{position}",
                    "author": {"role": "assistant" if position % 2 else "user"},
                    "create_time": begun + position,
                    "content": {"content_type": "text", "parts": [f"{WORDS} {number} {position}."]},
                    "recipient": "all",
                },
            }
        last = f"n{len(nodes) - 2}"
        yield json.dumps({"id": f"c{number}", "create_time": begun, "mapping": nodes, "current_node": last})


def _run(step: str, folder: str) -> None:
    export, archive = (Path(folder) / name for name in ("conversations.json", "archive.jsonl"))
    began = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peaks: list[int] = []

    def progress(done: int, total: int | None) -> None:
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    opened = _DATA.get(step, "data")
    with Cloister(Path(folder) / opened) as memory:
        if step == "preview":
            memory.preview_import(export)
        elif step == "export":
            memory.export(archive, progress=progress)
        elif step == "export killed":
            memory.export(Path(folder) / "killed.jsonl", progress=progress)
        elif step in ("import the archive", "import killed"):
            memory.import_archive(archive, progress=progress)
        else:
            memory.import_conversations(export, None, user_id="ann", progress=progress)
        stored = memory.usage().messages
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    half = peaks[len(peaks) // 2] if peaks else peak
    print(
        f"{step}: {seconds:.1f} s, {time.process_time():.1f} s of a processor, {stored:,} messages stored; "
        f"memory {before / 1024:.0f} MB before, {half / 1024:.0f} MB half-way, {peak / 1024:.0f} MB at most",
        flush=True,
    )


if __name__ == "__main__":
    main()
