"""A message or item that names a scope is refused: it would be recorded in the scope of its request (ISO-4)."""

from typing import Any

import pytest

from support.servers.http_server import Tenant

SAID = {"role": "user", "content": "The roses need water."}
PART = {"role": "user", "parts": [{"type": "text", "text": "The roses need water."}]}


def requests(session: str, fields: dict[str, Any]) -> list[tuple[str, dict[str, Any], str]]:
    """Each request that takes objects in the form of another client, with the path of the field in its error."""
    said = {**SAID, **fields}
    anthropic = {"model": "m", "max_tokens": 9, "messages": [said]}
    return [
        ("/v1/chat/completions", {"model": "m", "messages": [said]}, "messages[0]."),
        ("/v1/chat/stream", {"id": session, "messages": [{**PART, **fields}]}, "messages[0]."),
        ("/anthropic/v1/messages", anthropic, "messages[0]."),
        ("/v1/responses", {"model": "m", "input": [said]}, "input[0]."),
        ("/v1/responses", {"model": "m", "input": "x", "conversation": {"id": session, **fields}}, ""),
        ("/v1/conversations", {"items": [said]}, "items[0]."),
        (f"/v1/conversations/{session}/items", {"items": [said]}, "items[0]."),
        (f"/v1/sessions/{session}/items", {"items": [said]}, "items[0]."),
    ]


@pytest.mark.parametrize("field", ["user_id", "project_id", "session_id"])
def test_iso_4_a_message_that_names_a_scope_is_refused(tenant: Tenant, field: str) -> None:
    """ISO-4, HTTP-6: and nothing is stored; null names nothing."""
    tenant.new_session("roses", user_id="ada")
    before = tenant.admin.get("/v1/sessions").json()
    for path, body, prefix in requests("roses", {field: "bob"}):
        answer = tenant.admin.post(path, body)
        assert answer.status_code in (400, 422), (path, answer.text)
        assert f"{prefix}{field}" in answer.text, (path, answer.text)
    assert tenant.admin.get("/v1/sessions").json() == before
    for path, body, _ in requests("roses", {field: None}):
        if "conversation" in body:
            continue  # an object of Cloister's own: it refuses the field itself
        assert tenant.admin.post(path, body, headers={"X-User-ID": "ada"}).is_success, path


def test_other_fields_of_a_clients_messages_are_accepted(tenant: Tenant) -> None:
    """Clients send some that are not known here, such as the `id` of a UI message."""
    tenant.new_session("roses")
    for path, body, _ in requests("roses", {"id": "roses", "x_of_a_client": 1}):
        if "conversation" not in body:
            assert tenant.admin.post(path, body).is_success, path
