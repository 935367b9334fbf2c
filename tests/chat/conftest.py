"""A server whose model is a fake endpoint, on each engine; each test makes tenants of its own."""

from collections.abc import Generator
from pathlib import Path

import pytest

from cloister.bootstrap import Services
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.databases.engines import Engine, opened_engine
from support.servers.fake_endpoint import FakeEndpoint, fake_endpoint
from support.servers.http_server import Server, Tenant, serving
from support.servers.model_server import model_server, the_model_server
from support.servers.pairs import PAIR, serving_as_chosen

__all__ = ["model_server", "the_model_server"]


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
    with opened_engine(request.param, folder / "chat", lambda: request.getfixturevalue("postgres_server")) as made:
        yield made


@pytest.fixture(scope="session")
def server(engine: Engine, the_model: FakeEndpoint) -> Generator[Server]:
    """On PostgreSQL two servers behind a proxy without stickiness (OPS-4)."""
    pair = PAIR or ("threads" if engine.name == "postgres" else "")
    with serving_as_chosen(engine, lambda: chatting(engine, the_model), model=the_model, pair=pair) as running:
        yield running


@pytest.fixture(scope="session")
def lone_server(engine: Engine, the_model: FakeEndpoint) -> Generator[Server]:
    with serving(chatting(engine, the_model)) as running:
        yield running


@pytest.fixture(scope="session")
def elsewhere(engine: Engine, the_model: FakeEndpoint) -> Generator[Server]:
    """Another server of the same data, which has nothing to do with the first one but the database."""
    with serving(chatting(engine, the_model)) as running:
        yield running


@pytest.fixture
def tenant(server: Server) -> Tenant:
    return server.new_tenant()
