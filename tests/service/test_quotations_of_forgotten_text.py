"""MEM-9 over HTTP: what was forgotten is in no reply that quoted it, and in no context."""

import pytest

from support.servers.http_server import Tenant

SECRET = "The attic code is ATTIC-31."


@pytest.mark.parametrize("forgotten", ["user", "session", "contents", "message"])
def test_mem_9_what_is_forgotten_is_in_no_reply_that_quoted_it(tenant: Tenant, forgotten: str) -> None:
    team = tenant.new_project("Team", member_visibility="shared")
    for name, user in (("told", "ann"), ("asks", "bob")):
        tenant.new_session(name, project_id=team, user_id=user)
    tenant.say("told", SECRET)
    body = {
        "id": "asks",
        "messages": [{"id": "1", "role": "user", "parts": [{"type": "text", "text": "The attic code?"}]}],
    }
    assert "ATTIC-31" in tenant.admin.post("/v1/chat/stream", body).text
    assert "ATTIC-31" in tenant.admin.get("/v1/sessions/asks/messages").text
    (told,) = tenant.admin.get("/v1/sessions/told/messages").json()["data"]
    paths = {"user": "/v1/users/ann", "session": "/v1/sessions/told", "message": f"/v1/messages/{told['id']}"}
    clear = "/v1/sessions/told/clear"
    answer = tenant.admin.post(clear) if forgotten == "contents" else tenant.admin.delete(paths[forgotten])
    assert answer.status_code in (200, 204), answer.text
    assert "forgotten since" in tenant.admin.get("/v1/sessions/asks/messages").text
    for later in (
        tenant.admin.get("/v1/sessions/asks/messages"),
        tenant.admin.post("/v1/context", {"session_id": "asks", "query": "The attic code?"}),
        tenant.admin.post("/v1/chat/stream", body),
    ):
        assert later.status_code == 200, later.text
        assert "ATTIC-31" not in later.text
