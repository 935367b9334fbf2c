"""The progress of work on a whole database: a bar on a terminal, a few plain lines anywhere else; both on stderr."""

import sys

from cloister.interfaces.cli.terminal import progress_bar, remark

# Where there is no terminal, a line is printed at each tenth of a step.
_LINES_A_STEP = 10


class StepBar:
    """Shows one step after another. `show` has the parameters of a `StepProgress`."""

    def __init__(self) -> None:
        self._bar = progress_bar("{task.description}")
        self._task = self._bar.add_task("", total=None)
        self._doing = ""
        self._tenths = -1

    def __enter__(self) -> "StepBar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, doing: str, done: int, total: int) -> None:
        self._bar.update(self._task, description=doing, completed=done, total=total)
        tenths = _LINES_A_STEP if total <= 0 else _LINES_A_STEP * done // total
        if (doing, tenths) == (self._doing, self._tenths):
            return
        if not sys.stderr.isatty() and tenths:
            remark(f"{doing}: {100 // _LINES_A_STEP * tenths} %")
        self._doing, self._tenths = doing, tenths
