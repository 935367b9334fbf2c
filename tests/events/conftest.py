"""`server`: a running server on each engine, whose tests make tenants of their own."""

from collections.abc import Generator

import pytest

from support.databases.engines import Engine
from support.servers.http_server import Server, Tenant
from support.servers.pairs import serving_as_chosen


@pytest.fixture(scope="module")
def server(shared_engine: Engine) -> Generator[Server]:
    with serving_as_chosen(shared_engine, shared_engine.services) as running:
        yield running


@pytest.fixture
def tenant(server: Server) -> Tenant:
    return server.new_tenant()
