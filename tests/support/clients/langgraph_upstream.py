"""A pytest plugin that puts `CloisterStore` where the tests of LangGraph's own SQLite stores import theirs: their files run
unmodified, on ours. With CLOISTER_UPSTREAM_SERVER=1 each store is at a server, under a tenant of its own.

It also runs their asynchronous tests and fixtures, which would need another plugin of theirs."""

import asyncio
import inspect
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from types import ModuleType
from typing import Any

import pytest
from langgraph.store.base import TTLConfig

from cloister import Cloister
from cloister.integrations.langgraph import CloisterStore


@contextmanager
def opened(index: dict[str, Any] | None, ttl: TTLConfig | None) -> Generator[dict[str, Any]]:
    """The arguments of a store on a new directory, or on a new tenant of a server."""
    given = dict(index or {})
    named = {"index": {**given, "fields": given.get("text_fields")} if given else None, "ttl": ttl}
    with tempfile.TemporaryDirectory() as folder, Cloister(folder) as cloister:
        yield {"cloister": cloister, **named}


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


_LOOP = asyncio.new_event_loop()


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
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    _LOOP.run_until_complete(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
