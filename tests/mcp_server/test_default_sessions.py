"""The session of a connection that names none: nobody else can guess it, take it, or keep its user from writing (ISO-4, DOOR-1)."""

from cloister.domain.identifiers import ProjectId, parse_tenant_id
from cloister.domain.scope import Reach
from cloister.services.conversations.default_sessions import DefaultSessions
from support.clients.mcp_client import over_http
from support.servers.http_server import Server, Tenant


def test_iso_4_a_default_session_that_another_user_has_taken_does_not_stop_its_user(tenant: Tenant) -> None:
    """ISO-4, ORG-10: even if its name became known before the first write."""
    garden = tenant.new_project("Garden")
    bob, carol = (
        tenant.new_key("read", "write", project_id=garden, confined=True, user_id=user) for user in ("bob", "carol")
    )
    with over_http(tenant.address, carol) as hers:
        name = hers.call("get_context")["scope"]["session"]
        with over_http(tenant.address, bob, {"X-Session-ID": name}) as his:
            his.call("remember", contents=["The boat is red."])
        stored = hers.call("remember", contents=["The bike is green."])
        assert stored["scope"]["session"] != name
        assert [memory["content"] for memory in hers.call("list_memories")["memories"]] == ["The bike is green."]
        hers.call("record_exchange", user_message="The gate squeaks.", ai_response="Noted.")
        assert "gate squeaks" in hers.call("get_context", query="What squeaks?")["context"]
    with over_http(tenant.address, carol) as again:
        assert again.call("get_context")["scope"] == stored["scope"]


def test_org_5_writes_go_on_after_the_default_session_was_moved(tenant: Tenant) -> None:
    """ORG-5: to a new default session of the same scope; and what was moved is no longer recalled here."""
    kitchen = tenant.new_project("Kitchen")
    with over_http(tenant.address, tenant.key, {"X-User-ID": "ada"}) as connected:
        names: list[str] = []
        for fact in ("The bike is green.", "The boat is red.", "The barn is blue."):
            names.append(connected.call("remember", contents=[fact])["scope"]["session"])
            assert [memory["content"] for memory in connected.call("list_memories")["memories"]] == [fact]
            assert tenant.admin.patch(f"/v1/sessions/{names[-1]}", {"project_id": kitchen}).status_code == 200
        assert len(set(names)) == 3


def test_iso_4_the_name_depends_on_a_secret_of_the_tenant(server: Server) -> None:
    """ISO-4: ids and users alone do not say it; and it is the same after a restart."""
    services = server.services
    assert services is not None
    tenants = [parse_tenant_id(server.new_tenant().tenant_id) for _ in range(2)]
    reaches = [Reach(tenant=tenant, user=user) for tenant in tenants for user in ("ada", "bob", None)]
    projects = [ProjectId(1), ProjectId(2)]
    names = [services.mcp_sessions.name(reach, project) for reach in reaches for project in projects]
    assert len(set(names)) == len(names)
    restarted = DefaultSessions(database=services.database, prefix="mcp-")
    assert [restarted.name(reach, project) for reach in reaches for project in projects] == names
