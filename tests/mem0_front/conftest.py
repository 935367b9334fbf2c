"""A running server on each engine, a new tenant of it for each test, and clients of mem0."""

from collections.abc import Callable, Generator
from typing import Any

import pytest

from support.clients.mem0_client import Connections
from support.servers.front_fixtures import postgres_service, server, sqlite_service, tenant

__all__ = ["postgres_service", "server", "sqlite_service", "tenant"]


@pytest.fixture(scope="session")
def memory_client() -> Generator[Callable[..., Any]]:
    """Makes clients: `memory_client(address, key, **headers)`."""
    connections = Connections()
    yield connections.client
    connections.close()
