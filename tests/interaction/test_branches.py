"""The branches of a session are listed and chosen through every way in."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from cloister import Cloister, NotFound
from cloister.domain.identifiers import parse_message_id, parse_tenant_id
from cloister.domain.scope import Reach
from support.clients.command_line import CommandLine
from support.clients.entry_points import EMBEDDED, HTTP, REMOTE, through
from support.servers.http_server import Server, Tenant
from support.setups.branches import edit


@contextmanager
def entered(way: str, server: Server, tenant: Tenant) -> Generator[Cloister]:
    if way not in EMBEDDED:
        with through(way, tenant) as memory:
            yield memory
    else:
        yield Cloister(services=server.services, tenant=tenant.tenant_id)


@pytest.mark.parametrize("way", [*EMBEDDED, *HTTP, *REMOTE, "commands-server"])
def test_another_branch_is_listed_and_chosen(way: str, request: pytest.FixtureRequest) -> None:
    """What is on another branch is kept, and recalled only while its branch is the current one."""
    server: Server = request.getfixturevalue("postgres_service" if "postgres" in way else "sqlite_service")
    tenant = server.new_tenant()
    tenant.new_session("s")
    old, _ = [tenant.say("s", "The gate code is 4417."), tenant.say("s", "Noted.", "assistant")]
    assert server.services is not None
    reach = Reach(tenant=parse_tenant_id(tenant.tenant_id))
    edit(server.services, reach, "s", parse_message_id(old["id"]), "The gate code is 9082.", "Noted, too.")
    with entered(way, server, tenant) as memory:

        def shown() -> list[str]:
            return [message.content for message in memory.messages("s")]

        assert shown() == ["The gate code is 9082.", "Noted, too."]
        everything = memory.messages("s", branch="all")
        assert [(message.content, message.parent_id, message.is_current) for message in everything] == [
            ("The gate code is 4417.", None, False),
            ("Noted.", old["id"], False),
            ("The gate code is 9082.", None, True),
            ("Noted, too.", everything[2].id, True),
        ]
        before = memory.session("s")
        assert (before.current_leaf_id, before.is_forked, before.message_count) == (everything[3].id, True, 4)
        chosen = memory.choose_branch("s", old["id"])
        assert (chosen.current_leaf_id, chosen.is_forked) == (everything[1].id, True)
        assert shown() == ["The gate code is 4417.", "Noted."]
        assert "4417" in memory.search("gate code")[0].content
        for missing in ("msg_00000000000000aa", "gate"):
            with pytest.raises(NotFound):
                memory.choose_branch("s", missing)


def test_the_command_says_which_branch_is_the_current_one(sqlite_service: Server) -> None:
    tenant = sqlite_service.new_tenant()
    tenant.new_session("s")
    old = tenant.say("s", "The gate code is 4417.")["id"]
    assert sqlite_service.services is not None
    reach = Reach(tenant=parse_tenant_id(tenant.tenant_id))
    edit(sqlite_service.services, reach, "s", parse_message_id(old), "The gate code is 9082.", "Noted.")
    line = CommandLine(data=tenant.address, key=tenant.key)
    assert "another branch" not in line.run("sessions", "show", "s").stdout
    assert "another branch" in line.run("sessions", "show", "s", "--all-branches").stdout
    assert line.run("sessions", "branch", "s", old).stdout == f"The branch of {old} is now the current one of 's'.\n"
    assert line.run("sessions", "branch", "s", old).stdout == f"{old} is on the current branch of 's' already.\n"
