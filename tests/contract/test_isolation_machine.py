"""Anything in any order, by two Cloisters over the same data, compared after every question with a naive oracle.

Set `CLOISTER_LONG_RUN=20000` for that many steps on each engine instead of about a hundred.
"""

import os
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from cloister.services.memories import extract
from support.databases.engines import Engine
from support.isolation.archive_machine import ArchiveMachine


def run(machine: type[ArchiveMachine], *, examples: int, steps: int, derandomize: bool) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=derandomize,
            deadline=None,
            database=None,
            # Shrinking takes minutes, and removes little: steps depend on those before them.
            phases=(Phase.generate,),
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        ),
    )


def test_nothing_ever_crosses_and_everything_that_belongs_is_found(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ISO-3 to ISO-6, ISO-10, ISO-12, CTX-1, MEM-3, MEM-8, MEM-9, TAB-7, ORG-5, ORG-11. Windows are short: a few messages make
    notes."""
    monkeypatch.setattr(extract, "RECENT_WINDOW", 4)
    monkeypatch.setattr(extract, "_FEWEST_TO_OBSERVE", 3)

    class Machine(ArchiveMachine):
        houses = (engine.services(), engine.services())

    wanted = int(os.environ.get("CLOISTER_LONG_RUN", "0"))
    if not wanted:
        run(Machine, examples=4, steps=30, derandomize=True)
        assert Machine.questions > 0
        return
    seeds = count(1)
    while Machine.steps < wanted:
        run(seed(next(seeds))(Machine), examples=10, steps=100, derandomize=False)
        with capsys.disabled():
            os.write(2, f"{engine.name}: {Machine.steps} steps, {Machine.questions} comparisons\n".encode())
