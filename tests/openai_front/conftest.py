"""A running server whose model is faked at the network's edge, on each engine. Every test makes tenants of its own."""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.clients.openai_client import MODEL, Front, front_over
from support.databases.engines import Engine, postgres_engine, sqlite_engine
from support.databases.postgres_server import PostgresServer
from support.servers.fake_endpoint import FakeEndpoint, completion, fake_endpoint
from support.servers.model_server import model_server, the_model_server

__all__ = ["model_server", "the_model_server"]


@pytest.fixture(scope="session")
def the_endpoint() -> Generator[FakeEndpoint]:
    with fake_endpoint() as fake:
        fake.models = (MODEL, "org/another-model")
        yield fake


@pytest.fixture(scope="session")
def sqlite_front(folder: Path, the_endpoint: FakeEndpoint) -> Generator[Front]:
    engine = sqlite_engine(folder / "front")
    with engine.closing, front_over(engine, the_endpoint) as front:
        yield front


@pytest.fixture(scope="session")
def postgres_front(postgres_server: PostgresServer, the_endpoint: FakeEndpoint) -> Generator[Front]:
    with postgres_server.migrated_database() as url:
        engine = postgres_engine(url)
        with engine.closing, front_over(engine, the_endpoint) as front:
            yield front


@pytest.fixture(params=["sqlite", "postgres"])
def front(request: pytest.FixtureRequest) -> Front:
    """The same on each engine; the model says `Understood.` until a test has it say something else."""
    found: Front = request.getfixturevalue(f"{request.param}_front")
    found.model.asked.clear()
    found.model.answers(completion("Understood."))
    return found


@pytest.fixture
def engine(tmp_path: Path) -> Generator[Engine]:
    made = sqlite_engine(tmp_path / "data")
    with made.closing:
        yield made
