"""Import a made-up ChatGPT export of so many messages, export an archive of it, and import that again: time and memory.

    python benchmarks/archives.py [--messages 100000]

Each step runs in a process of its own, so that its peak memory is its own. Memory is flat if it does not grow with the messages.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cloister import Cloister

A_CONVERSATION = 50
WORDS = "We talk about the roses of Lisbon, the price of trains to Porto, and whether it rains on Tuesday, part"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
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
            subprocess.run([sys.executable, __file__, "--step", step, folder], check=True)


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
    data, export, archive = (Path(folder) / name for name in ("data", "conversations.json", "archive.jsonl"))
    began = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peaks: list[int] = []

    def progress(done: int, total: int | None) -> None:
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    with Cloister(Path(folder) / "copy" if step == "import the archive" else data) as memory:
        if step == "preview":
            memory.preview_import(export)
        elif step == "export":
            memory.export(archive, progress=progress)
        elif step == "import the archive":
            memory.import_archive(archive, progress=progress)
        else:
            memory.import_conversations(export, None, user_id="ann", progress=progress)
        stored = memory.usage().messages
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    half = peaks[len(peaks) // 2] if peaks else peak
    print(
        f"{step}: {seconds:.1f} s, {stored:,} messages stored; memory {before / 1024:.0f} MB before, {half / 1024:.0f} MB "
        f"half-way, {peak / 1024:.0f} MB at most",
        flush=True,
    )


if __name__ == "__main__":
    main()
