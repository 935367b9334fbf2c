"""`cloister mcp` at the address of a server: its scope stays what it was when it started (ISO-4, DOOR-1)."""

import pytest
from mcp.shared.exceptions import MCPError

from support.clients.mcp_client import over_stdio
from support.servers.http_server import Server


def test_org_3_the_project_of_a_relay_is_fixed_when_it_starts(sqlite_service: Server) -> None:
    """ORG-3: another default project does not change it, and a deleted one is refused."""
    tenant = sqlite_service.new_tenant()
    beta = tenant.new_project("Beta")
    first = tenant.default_project_id
    with over_stdio("--data", tenant.address, "--key", tenant.new_key("read", "write")) as connected:
        assert tenant.admin.patch(f"/org/projects/{beta}", {"is_default": True}).status_code == 200
        scope = connected.call("remember", contents=["The bike is green."])["scope"]
        assert scope["project"] == first
        assert tenant.admin.delete(f"/org/projects/{first}").status_code == 200
        with pytest.raises(MCPError, match="There is no project"):
            connected.call("remember", contents=["The boat is red."])
    (session,) = tenant.admin.everything("/v1/sessions")
    assert len(tenant.admin.everything(f"/v1/sessions/{session['external_id']}/memories")) == 1
