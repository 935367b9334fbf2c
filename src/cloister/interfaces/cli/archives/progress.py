"""The progress of an export or import, in bytes."""

import sys

from cloister.interfaces.cli.terminal import progress_bar, remark

_MEGABYTE = 1 << 20
# How often progress is printed where there is no terminal to draw a bar on.
_MEGABYTES_A_LINE = 10


class ByteProgress:
    """A bar on a terminal, and a line for every ten megabytes anywhere else; both on stderr."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._bar = progress_bar(doing)
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> "ByteProgress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, done: int, total: int | None) -> None:
        self._bar.update(
            self._task, completed=done // _MEGABYTE, total=None if total is None else -(-total // _MEGABYTE)
        )
        if not sys.stderr.isatty() and done // _MEGABYTE % _MEGABYTES_A_LINE == 0 and done >= _MEGABYTE:
            of_all = "" if total is None else f" of {total // _MEGABYTE:,}"
            remark(f"{self._doing}: {done // _MEGABYTE:,}{of_all} MB")
