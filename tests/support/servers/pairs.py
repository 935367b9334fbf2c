"""Servers of one database behind a proxy without stickiness (OPS-4): each request goes to the next of them.

`CLOISTER_PAIR=threads` runs suites against two servers of this process, `CLOISTER_PAIR=processes` against two processes of
`cloister serve`.
"""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

import pytest

from cloister.bootstrap import Services
from support.databases.engines import Engine
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, ServerProcess, new_client, serving, serving_pair
from support.servers.round_robin import round_robin

PAIR = os.environ.get("CLOISTER_PAIR", "")
one_process = pytest.mark.skipif(
    PAIR == "processes", reason="changes something inside the server, or needs the ids of one process"
)


@contextmanager
def serving_as_chosen(
    engine: Engine,
    open_services: Callable[[], Services],
    *,
    model: FakeEndpoint | None = None,
    pair: str = PAIR,
) -> Generator[Server]:
    """One server of this process, or two of the kind that was chosen."""
    if pair == "processes":
        with process_pair(engine, model=model) as (server, _, _):
            yield server
    elif pair == "threads":
        with serving_pair(open_services(), open_services()) as server:
            yield server
    else:
        assert pair == "", "CLOISTER_PAIR is threads, processes or empty"
        with serving(open_services()) as server:
            yield server


@contextmanager
def process_pair(
    engine: Engine, *, model: FakeEndpoint | None = None, environment: Mapping[str, str] | None = None
) -> Generator[tuple[Server, ServerProcess, ServerProcess]]:
    """Two processes, and what is before them. Its services are of a third, which serves nothing: tests look with them at the
    data."""
    chosen = {"CLOISTER_WORKER": "off", **_model(model), **(environment or {})}
    with (
        ServerProcess(engine.address, chosen) as one,
        ServerProcess(engine.address, chosen) as two,
        round_robin([one.address, two.address]) as address,
        new_client(address) as http,
    ):
        yield Server(address=address, http=http, services=engine.services()), one, two


def _model(model: FakeEndpoint | None) -> dict[str, str]:
    return {} if model is None else {"CLOISTER_MODEL_URL": model.url, "CLOISTER_MODEL_NAME": "fake"}
