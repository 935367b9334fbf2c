"""The ways in to one Cloister. A test that takes `memory` goes through all of them; one marked `only` through those that can say
what it says."""

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
PROGRAMS = [*EMBEDDED, *HTTP, *REMOTE]
ALL = [*PROGRAMS, *COMMANDS]


def only(ways: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("memory", ways, indirect=True)


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
