"""OPS-1: over HTTP and the remote library, a damaged row is an error of its own, and another tenant's damage is not seen."""

import pytest

from cloister import Cloister
from cloister.domain.errors import DamagedRow
from support.databases.engines import Engine
from support.servers.http_server import Server, Tenant


def recorded(tenant: Tenant) -> list[str]:
    """The ids of a message in each of two sessions."""
    with Cloister(tenant.address, key=tenant.key) as memory:
        for session in ("hurt", "whole"):
            memory.create_session(session)
        return [memory.record(session, "user", "Rosemary.").id for session in ("hurt", "whole")]


def test_a_damaged_message_is_answered_with_its_id_and_everything_else_as_ever(
    server: Server, shared_engine: Engine
) -> None:
    ours, theirs = server.new_tenant(), server.new_tenant()
    hurt, _ = recorded(ours)
    recorded(theirs)
    number = int(hurt.removeprefix("msg_"), 16)
    shared_engine.rows(f"UPDATE message SET content = 'garbage' WHERE message_id = {number}")
    answer = ours.admin.get("/v1/sessions/hurt/messages")
    assert (answer.status_code, answer.json()["code"]) == (500, "damaged_row")
    assert hurt in answer.text and "garbage" not in answer.text
    for tenant, session in ((ours, "whole"), (theirs, "hurt"), (theirs, "whole")):
        assert "Rosemary." in tenant.admin.get(f"/v1/sessions/{session}/messages").text
    with Cloister(server.address, key=ours.key) as memory, pytest.raises(DamagedRow, match=hurt):
        memory.messages("hurt")
    shared_engine.rows(f"UPDATE message SET content = 'Rosemary.' WHERE message_id = {number}")
