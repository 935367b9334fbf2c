"""The ways in to one Cloister. A test that takes `memory` goes through all of them; one marked `only` through those that can say
what it says."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

import pytest

from cloister import Cloister
from cloister.bootstrap import wire
from cloister.storage.interface import Database
from command_line import CommandLine
from engines import EMBEDDER, exact_index
from over_commands import OverCommands
from over_http import OverHttp
from servers import Tenant, serving

EMBEDDED = ["embedded-sqlite", "embedded-postgres"]
REMOTE = ["remote-sqlite", "remote-postgres"]
HTTP = ["http-sqlite", "http-postgres"]
COMMANDS = ["commands-directory", "commands-server"]
PROGRAMS = [*EMBEDDED, *HTTP, *REMOTE]
ALL = [*PROGRAMS, *COMMANDS]


def only(ways: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("memory", ways, indirect=True)


@contextmanager
def opened(way: str, database: Database) -> Generator[Cloister]:
    """A new Cloister behind this way in."""
    services = wire(database, index=exact_index(), embedder=EMBEDDER)
    if way in EMBEDDED:
        yield Cloister(services=services)
        return
    with serving(services) as server, _served(way, server.new_tenant()) as memory:
        yield memory


@contextmanager
def _served(way: str, tenant: Tenant) -> Generator[Cloister]:
    if way in REMOTE:
        with Cloister(tenant.address, key=tenant.key) as memory:
            yield memory
    elif way in HTTP:
        yield cast(Cloister, OverHttp(tenant.admin))
    else:
        yield cast(Cloister, OverCommands(CommandLine(data=tenant.address, key=tenant.key)))
