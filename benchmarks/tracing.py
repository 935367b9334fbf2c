"""What tracing costs while it is off: the processor time of the span that a record, a context or a search makes, against the same
block without a span.

    python benchmarks/tracing.py
"""

import time
from collections.abc import Callable

from cloister.domain.identifiers import TenantId
from cloister.domain.tracing.interface import NO_TRACING

_TURNS, _RUNS = 100_000, 5
_TENANT = TenantId(1)


def without() -> None:
    for _ in range(_TURNS):
        pass


def with_span() -> None:
    for _ in range(_TURNS):
        with NO_TRACING.memory("create_memory", _TENANT) as span:
            span.store(None)
            span.result(1)


def least(work: Callable[[], None]) -> float:
    """The least processor time of several runs, because other programs may run at the same time."""
    taken: list[float] = []
    for _ in range(_RUNS):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


if __name__ == "__main__":
    print(f"{(least(with_span) - least(without)) / _TURNS * 1e9:,.0f} ns for each operation while tracing is off")
