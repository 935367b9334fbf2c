"""A running server whose model is faked at the network's edge, on each engine. Every test makes tenants of its own."""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.clients.anthropic_client import MODEL, AnthropicFront, anthropic_front_over, message
from support.databases.engines import postgres_engine, sqlite_engine
from support.databases.postgres_server import PostgresServer
from support.servers.fake_endpoint import FakeEndpoint, fake_endpoint
from support.servers.model_server import model_server, the_model_server

__all__ = ["model_server", "the_model_server"]


@pytest.fixture(scope="session")
def the_endpoint() -> Generator[FakeEndpoint]:
    with fake_endpoint() as fake:
        fake.models = (MODEL, "org/another-model")
        yield fake


@pytest.fixture(scope="session")
def sqlite_front(folder: Path, the_endpoint: FakeEndpoint) -> Generator[AnthropicFront]:
    engine = sqlite_engine(folder / "anthropic")
    with engine.closing, anthropic_front_over(engine, the_endpoint) as front:
        yield front


@pytest.fixture(scope="session")
def postgres_front(postgres_server: PostgresServer, the_endpoint: FakeEndpoint) -> Generator[AnthropicFront]:
    with postgres_server.migrated_database() as url:
        engine = postgres_engine(url)
        with engine.closing, anthropic_front_over(engine, the_endpoint) as front:
            yield front


@pytest.fixture(params=["sqlite", "postgres"])
def front(request: pytest.FixtureRequest) -> AnthropicFront:
    """The same on each engine; the model says `Understood.` until a test has it say something else."""
    found: AnthropicFront = request.getfixturevalue(f"{request.param}_front")
    found.model.asked.clear()
    found.model.answers(message("Understood."))
    return found


@pytest.fixture
def quick_front(sqlite_front: AnthropicFront) -> AnthropicFront:
    """For what does not depend on the engine."""
    sqlite_front.model.asked.clear()
    sqlite_front.model.answers(message("Understood."))
    return sqlite_front
