"""A server whose model is a fake endpoint, on each engine; each test makes tenants of its own."""

from collections.abc import Generator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cloister.bootstrap import Services
from cloister.models.chat_model import OpenAiChatModel
from cloister.models.endpoint import Endpoint
from engines import Engine, postgres_engine, sqlite_engine
from fake_endpoint import FakeEndpoint, fake_endpoint
from model_server import model_server, the_model_server
from postgres_server import PostgresServer
from servers import Server, Tenant, serving

__all__ = ["model_server", "the_model_server"]

_numbers = count(1)


@pytest.fixture(scope="session")
def folder() -> Generator[Path]:
    memory = Path("/dev/shm")
    with TemporaryDirectory(prefix="cloister-chat-", dir=memory if memory.is_dir() else None) as made:
        yield Path(made)


@pytest.fixture
def data(folder: Path) -> Path:
    """A directory that is not there yet."""
    return folder / f"data-{next(_numbers)}"


@pytest.fixture(scope="session")
def the_model() -> Generator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def model(the_model: FakeEndpoint) -> FakeEndpoint:
    """What the server's model answers is for the test to say."""
    the_model.asked.clear()
    return the_model


def chatting(engine: Engine, model: FakeEndpoint) -> Services:
    return engine.services(chat_model=OpenAiChatModel(Endpoint(url=model.url, model="fake", tries=1)))


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, folder: Path) -> Generator[Engine]:
    if request.param == "sqlite":
        made = sqlite_engine(folder / "shared")
        with made.closing:
            yield made
        return
    databases: PostgresServer = request.getfixturevalue("postgres_server")
    with databases.migrated_database() as url:
        made = postgres_engine(url)
        with made.closing:
            yield made


@pytest.fixture(scope="session")
def server(engine: Engine, the_model: FakeEndpoint) -> Generator[Server]:
    with serving(chatting(engine, the_model)) as running:
        yield running


@pytest.fixture
def tenant(server: Server) -> Tenant:
    return server.new_tenant()
