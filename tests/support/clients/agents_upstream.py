"""A pytest plugin that puts `CloisterSession` where the tests of OpenAI's Agents SDK import `SQLiteSession`: their files run
unmodified, on ours. A database file of theirs is a directory of its own here, or a tenant of a server with
UPSTREAM_SESSION=remote."""

import asyncio
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import agents
import pytest
from agents.memory import sqlite_session

from cloister import Cloister
from cloister.domain.errors import Closed, InvalidRequest
from cloister.integrations.openai_agents import CloisterSession
from support.clients.upstream import run_coroutine_test
from support.databases.engines import sqlite_engine
from support.servers.http_server import Server, Tenant, serving

_SERVERS: list[Server] = []
_TENANTS: dict[str, Tenant] = {}
_CLOSING = ExitStack()
_LOOP = asyncio.new_event_loop()
_IN_MEMORY = ":memory:"


def _opened(database: str) -> Cloister:
    if database == _IN_MEMORY:
        database = tempfile.mkdtemp(dir=_FOLDER)
    if not _SERVERS:
        return Cloister(Path(_FOLDER) / "data" / database.strip("/").replace("/", "-"))
    if database not in _TENANTS:
        _TENANTS[database] = _SERVERS[0].new_tenant()
    return Cloister(_SERVERS[0].address, key=_TENANTS[database].key)


class SwappedSession(CloisterSession):
    """As `SQLiteSession`: their tests close it, and know errors by its names."""

    def __init__(
        self,
        session_id: str,
        db_path: str | Path = _IN_MEMORY,
        sessions_table: str = "",
        messages_table: str = "",
        session_settings: Any = None,
    ) -> None:
        self._opened = _CLOSING.enter_context(_opened(str(db_path)))
        super().__init__(session_id, self._opened, session_settings=session_settings)

    async def add_items(self, items: list[Any], **named: Any) -> None:
        try:
            await super().add_items(items, **named)
        except Closed as error:
            raise RuntimeError("SQLiteSession is closed") from error
        except InvalidRequest as error:
            raise TypeError(str(error)) from error

    def close(self) -> None:
        self._opened.close()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "asyncio: a mark of their tests")
    for module in (agents, agents.memory, sqlite_session):
        module.SQLiteSession = SwappedSession  # type: ignore[misc]
    if os.environ.get("UPSTREAM_SESSION") == "remote":
        engine = sqlite_engine(Path(_FOLDER) / "server")
        _CLOSING.enter_context(engine.closing)
        _SERVERS.append(_CLOSING.enter_context(serving(engine.services())))


def pytest_unconfigure() -> None:
    _CLOSING.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return run_coroutine_test(pyfuncitem, _LOOP)


_FOLDER = _CLOSING.enter_context(tempfile.TemporaryDirectory())
