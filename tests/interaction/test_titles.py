"""A session is given a title by the model through every way in; without a model, and for what has a title, nothing changes."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from cloister import Cloister, Conflict, ModelUnavailable, NotFound
from support.clients.entry_points import EMBEDDED, HTTP, REMOTE, through
from support.servers.http_server import Server, Tenant


@contextmanager
def entered(way: str, server: Server, tenant: Tenant) -> Generator[Cloister]:
    if way not in EMBEDDED:
        with through(way, tenant) as memory:
            yield memory
    else:
        yield Cloister(services=server.services, tenant=tenant.tenant_id)


@pytest.mark.parametrize("way", [*EMBEDDED, *HTTP, *REMOTE, "commands-server"])
def test_a_title_is_kept_or_made_by_a_model(way: str, request: pytest.FixtureRequest) -> None:
    server: Server = request.getfixturevalue("postgres_service" if "postgres" in way else "sqlite_service")
    tenant = server.new_tenant()
    tenant.new_session("s", title="The garden")
    tenant.say("s", "How do roses grow?")
    with entered(way, server, tenant) as memory:
        assert memory.title_session("s").title == "The garden"
        assert memory.title_session("s", replaces="Another").title == "The garden"
        with pytest.raises(Conflict, match="no finished reply"):
            memory.title_session("s", replaces="The garden")
        tenant.say("s", "Slowly.", "assistant")
        with pytest.raises(ModelUnavailable, match="No model is connected"):
            memory.title_session("s", replaces="The garden")
        with pytest.raises(NotFound):
            memory.title_session("nothing")
        assert memory.session("s").title == "The garden"
