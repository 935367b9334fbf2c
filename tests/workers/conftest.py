"""`place`: a fresh database of each engine, for workers in this process and in others; `endpoint`: a model that is faked at the
network's edge."""

from collections.abc import Generator
from pathlib import Path

import pytest

from cloister.storage.sqlite.database import DATABASE_FILE
from support.databases.engines import postgres_engine, sqlite_engine
from support.servers.fake_endpoint import FakeEndpoint, fake_endpoint
from support.servers.http_server import postgres_address
from support.servers.model_server import model_server, the_model_server
from support.servers.worker_processes import Place, answered

__all__ = ["model_server", "the_model_server"]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Place]:
    if request.param == "sqlite":
        data = tmp_path / "data"
        made = Place(engine=sqlite_engine(data), address=str(data), url=str(data / DATABASE_FILE))
    else:
        url = request.getfixturevalue("migrated_postgres")
        made = Place(engine=postgres_engine(url), address=postgres_address(url), url=url)
    with made.engine.closing:
        yield made


@pytest.fixture
def endpoint() -> Generator[FakeEndpoint]:
    with fake_endpoint() as fake:
        fake.follows(answered)
        yield fake
