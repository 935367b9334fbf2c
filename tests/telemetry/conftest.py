"""Servers with tracing, on each engine."""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.databases.engines import Engine, opened_engine
from support.servers.traced_server import Traced, traced_server


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, folder: Path) -> Generator[Engine]:
    with opened_engine(request.param, folder / "traced", lambda: request.getfixturevalue("postgres_server")) as made:
        yield made


@pytest.fixture(scope="session")
def the_traced(engine: Engine) -> Generator[Traced]:
    with traced_server(engine, content=False) as made:
        yield made


@pytest.fixture
def traced(the_traced: Traced) -> Traced:
    the_traced.clear()
    return the_traced


@pytest.fixture(scope="session")
def the_open(engine: Engine) -> Generator[Traced]:
    with traced_server(engine, content=True) as made:
        yield made


@pytest.fixture
def traced_content(the_open: Traced) -> Traced:
    """The same with the operator's consent to content in spans."""
    the_open.clear()
    return the_open
