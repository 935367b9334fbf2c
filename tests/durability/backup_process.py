"""Makes a backup, or restores one, in a fork of this process that kills itself at a step: before progress, an fsync, a new name, a
removal. One number a line on standard input; for each, the steps that were taken are counted on standard output.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cloister.storage.sqlite import backup, restore
from cloister.storage.sqlite.database import open_sqlite

backup._PAGES_A_STEP = 7  # pyright: ignore[reportPrivateUsage]
restore._BLOCK = 40_000  # pyright: ignore[reportPrivateUsage]


class Steps:
    def __init__(self, last: int, counter: int) -> None:
        self._last = last
        self._counter = counter
        self._taken = 0

    def __call__(self, *_: object) -> None:
        if self._taken == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self._taken += 1
        os.write(self._counter, b".")

    def before(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            self()
            return work(*given, **named)

        return run


def run(kind: str, source: Path, target: Path, step: Steps) -> None:
    os.fsync, os.link = step.before(os.fsync), step.before(os.link)
    Path.replace, Path.unlink = step.before(Path.replace), step.before(Path.unlink)
    Path.rename = step.before(Path.rename)
    if kind == "backup":
        database = open_sqlite(source)
        database.maintenance.backup(target, step)
        database.close()
    else:
        restore.restore_directory(source, target, replace=True, progress=step)


def main(kind: str, source: str, target: str) -> None:
    for line in sys.stdin:
        reading, counting = os.pipe()
        if (child := os.fork()) == 0:
            run(kind, Path(source), Path(target), Steps(int(line), counting))
            os._exit(0)
        os.close(counting)
        with os.fdopen(reading, "rb") as steps:
            taken = len(steps.read())
        os.waitpid(child, 0)
        print(taken, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
