"""The ways in to one Cloister. A test that takes `memory` runs through four of them, one marked `every_way` through all eight, and
one marked `only` through those that can say what it says.

The four do not pass through each other, and each layer that the eight are made of is in one of them:

- `embedded-sqlite`: the library in this process, on SQLite;
- `http-postgres`: the HTTP contract spoken by hand, a server, and the library's services on PostgreSQL;
- `remote-sqlite`: the remote library, and the same server on SQLite;
- `commands-directory`: the command line, over the embedded library and SQLite.

The other four join the same layers: `embedded-postgres` is the library of the first on the engine of the second, `http-sqlite` and
`remote-postgres` exchange the engines, and `commands-server` is the command line over the remote library. Only the join can differ
there, which the tests marked `every_way` go through. Engines themselves are compared in `tests/contract`.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

import pytest

from cloister import Cloister
from support.clients.command_line import CommandLine
from support.clients.library_over_commands import OverCommands
from support.clients.library_over_http import OverHttp
from support.servers.http_server import Tenant

EMBEDDED = ["embedded-sqlite", "embedded-postgres"]
REMOTE = ["remote-sqlite", "remote-postgres"]
HTTP = ["http-sqlite", "http-postgres"]
COMMANDS = ["commands-directory", "commands-server"]
PROGRAMS = ["embedded-sqlite", "http-postgres", "remote-sqlite"]
ALL = [*PROGRAMS, "commands-directory"]


def only(ways: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("memory", ways, indirect=True)


every_way = only([*EMBEDDED, *HTTP, *REMOTE, *COMMANDS])


@contextmanager
def through(way: str, tenant: Tenant) -> Generator[Cloister]:
    """This way in to a tenant of a running server."""
    if way in REMOTE:
        with Cloister(tenant.address, key=tenant.key) as memory:
            yield memory
    elif way in HTTP:
        yield cast(Cloister, OverHttp(tenant.admin))
    else:
        yield cast(Cloister, OverCommands(CommandLine(data=tenant.address, key=tenant.key)))
