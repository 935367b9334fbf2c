"""A pytest plugin that puts `CloisterStore` where the tests of LangGraph's own SQLite stores import theirs: their files run
unmodified, on ours, each store under a new tenant. With UPSTREAM_STORE=remote the tenants are those of a server.

It also runs their asynchronous tests and fixtures, which would need another plugin of theirs, and lets their tests of expiry wait
by setting the clock."""

import asyncio
import inspect
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from langgraph.store.base import TTLConfig

from cloister import Cloister
from cloister.domain.timestamps import now
from cloister.integrations.langgraph import CloisterStore
from support.clients.upstream import run_coroutine_test
from support.databases.engines import sqlite_engine
from support.servers.http_server import Server, serving

_SERVERS: list[Server] = []
_CLOSING = ExitStack()
_LOOP = asyncio.new_event_loop()


class _Clock:
    """The time, and what their tests have slept."""

    slept = 0.0

    def now(self) -> int:
        return now() + round(self.slept * 1_000_000)

    def sleep(self, seconds: float) -> None:
        self.slept += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.slept += seconds


CLOCK = _Clock()


@contextmanager
def opened(index: dict[str, Any] | None, ttl: TTLConfig | None) -> Generator[dict[str, Any]]:
    """The arguments of a store under a new tenant."""
    server = _SERVERS[0]
    tenant = server.new_tenant()
    given = dict(index or {})
    named = {"index": {**given, "fields": given.get("text_fields")} if given else None, "ttl": ttl}
    if os.environ.get("UPSTREAM_STORE") == "remote":
        with Cloister(server.address, key=tenant.key) as cloister:
            yield {"cloister": cloister, **named}
    else:
        yield {"cloister": Cloister(services=server.services, tenant=tenant.tenant_id), **named}


class SwappedStore(CloisterStore):
    """As `SqliteStore`; their tests use nothing else that ours does not have."""

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, _: str, *, index: dict[str, Any] | None = None, ttl: TTLConfig | None = None
    ) -> Generator["SwappedStore"]:
        with opened(index, ttl) as named:
            store = cls(**named)
            yield store
            store.stop_ttl_sweeper()

    def setup(self) -> None:
        """There is nothing to set up."""


class AsyncSwappedStore(CloisterStore):
    """As `AsyncSqliteStore`, whose set-up and sweeps are awaited."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, _: str, *, index: dict[str, Any] | None = None, ttl: TTLConfig | None = None
    ) -> AsyncGenerator["AsyncSwappedStore"]:
        with opened(index, ttl) as named:
            store = cls(**named)
            yield store
            CloisterStore.stop_ttl_sweeper(store)

    async def setup(self) -> None:
        """There is nothing to set up."""

    async def sweep_ttl(self) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        return await asyncio.to_thread(CloisterStore.sweep_ttl, self)

    async def start_ttl_sweeper(self, *given: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        sweeper = SwappedStore(
            self._cloister, ttl=self.ttl_config
        )  # sweeps the same part, by a method that is not awaited
        self._other = sweeper
        sweeper.start_ttl_sweeper(*given)

    async def stop_ttl_sweeper(self) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._other.stop_ttl_sweeper()


def _module(name: str, **contents: Any) -> None:
    module = ModuleType(name)
    vars(module).update(contents)
    sys.modules[name] = module


def pytest_configure(config: pytest.Config) -> None:
    for mark in ("flaky", "asyncio"):
        config.addinivalue_line("markers", f"{mark}: a mark of their tests")
    internals = ("NS_MATCH_FUNCTION", "BaseSqliteStore", "_escape_glob_literal", "_namespace_match_pattern")
    _module("langgraph.store.sqlite", SqliteStore=SwappedStore, AsyncSqliteStore=AsyncSwappedStore)
    _module("langgraph.store.sqlite.aio", AsyncSqliteStore=AsyncSwappedStore)
    _module("langgraph.store.sqlite.base", SqliteIndexConfig=dict[str, Any], **dict.fromkeys(internals))
    folder = _CLOSING.enter_context(tempfile.TemporaryDirectory())
    engine = sqlite_engine(Path(folder) / "data")
    _CLOSING.enter_context(engine.closing)
    _SERVERS.append(_CLOSING.enter_context(serving(engine.services(clock=CLOCK.now))))


def pytest_unconfigure() -> None:
    _CLOSING.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Their tests of expiry sleep: here they set the clock."""
    for module in {item.getparent(pytest.Module) for item in items}:
        assert module is not None
        if module.name.endswith("test_ttl.py"):
            module.obj.time = SimpleNamespace(sleep=CLOCK.sleep)
            module.obj.asyncio = SimpleNamespace(sleep=CLOCK.sleep_async)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
    if not inspect.isasyncgenfunction(fixturedef.func):
        return None
    generator = fixturedef.func(**{name: request.getfixturevalue(name) for name in fixturedef.argnames})
    value = _LOOP.run_until_complete(anext(generator))
    request.addfinalizer(lambda: _LOOP.run_until_complete(anext(generator, None)))
    fixturedef.cached_result = (value, fixturedef.cache_key(request), None)  # type: ignore[arg-type]
    return value


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return run_coroutine_test(pyfuncitem, _LOOP)
