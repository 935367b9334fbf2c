"""Anything in any order, by two Cloisters over the same data, compared after every question with a naive oracle.

Set `CLOISTER_LONG_RUN=20000` for that many steps on each engine instead of about a hundred; `CLOISTER_LONG_RUN_SEED` is the first
seed. SQLite is then in memory, where the system has a directory for that: most of a step would be waiting for a disk.
"""

import os
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from cloister.bootstrap import Services
from cloister.services.memories import extract
from support.databases.engines import Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.isolation.isolation_machine import IsolationMachine
from support.isolation.retention_machine import LONG_AGO, RetentionMachine

LONG_RUN = int(os.environ.get("CLOISTER_LONG_RUN", "0"))
FIRST_SEED = int(os.environ.get("CLOISTER_LONG_RUN_SEED", "1"))
IN_MEMORY = Path("/dev/shm")


def run(machine: type[RetentionMachine], *, examples: int, steps: int, derandomize: bool) -> None:
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


@pytest.fixture
def fast_engine(engine: Engine) -> Generator[Engine]:
    if engine.name != "sqlite" or not LONG_RUN or not IN_MEMORY.is_dir():
        yield engine
        return
    with (
        TemporaryDirectory(dir=IN_MEMORY, prefix="cloister-machine-") as directory,
        opened_engine("sqlite", Path(directory) / "data", no_server) as in_memory,
    ):
        yield in_memory


@contextmanager
def fresh_database() -> Generator[Services]:
    """An empty one of SQLite, whichever engine the machine runs on."""
    with (
        TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None, prefix="cloister-fresh-") as directory,
        opened_engine("sqlite", Path(directory) / "data", no_server) as empty,
    ):
        yield empty.services()


def no_server() -> PostgresServer:
    raise AssertionError("SQLite needs none")


def test_nothing_ever_crosses_and_everything_that_belongs_is_found(
    fast_engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ISO-3 to ISO-6, ISO-10, ISO-12, CTX-1, MEM-3, MEM-8, MEM-9, MEM-18, TAB-7, ORG-5, ORG-11. Windows are short: a few messages
    make notes."""
    monkeypatch.setattr(extract, "RECENT_WINDOW", 4)
    monkeypatch.setattr(extract, "_FEWEST_TO_OBSERVE", 3)
    IsolationMachine.count_from_zero()

    class Machine(RetentionMachine):
        houses = (fast_engine.services(), fast_engine.services())
        past = fast_engine.services(clock=lambda: LONG_AGO)

        def fresh(self) -> AbstractContextManager[Services]:
            return fresh_database()

    if LONG_RUN:
        run_at_length(fast_engine.name, Machine, capsys)
    else:
        run(Machine, examples=4, steps=30, derandomize=True)
    assert IsolationMachine.questions > IsolationMachine.steps > LONG_RUN


def run_at_length(engine: str, machine: type[RetentionMachine], capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()

    class Reporting(machine):
        def teardown(self) -> None:
            super().teardown()
            progress = (
                f"{engine}: {IsolationMachine.steps:,} steps, {IsolationMachine.questions:,} comparisons, "
                f"{time.monotonic() - began:,.0f} s, {time.process_time():,.0f} s of processor time\n"
            )
            with capsys.disabled():
                os.write(2, progress.encode())

    # The first example of each run repeats the simplest step, so there are few runs with many examples.
    for number in count(FIRST_SEED):
        if IsolationMachine.steps > LONG_RUN:
            return
        run(seed(number)(Reporting), examples=60, steps=100, derandomize=False)
