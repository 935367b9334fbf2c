"""A session that can be created can be addressed: whatever its outside id holds, percent-encoded it is one segment of a path."""

import httpx2
import pytest

from support.samples.odd_names import NAMES
from support.servers.http_server import Tenant, segment


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_session_is_addressed_by_its_name(tenant: Tenant, name: str) -> None:
    tenant.new_session("plain" if name != "plain" else "other", title="Another")
    assert tenant.new_session(name, title="This one")["external_id"] == name
    path = f"/v1/sessions/{segment(name)}"

    assert tenant.admin.get(path).json()["title"] == "This one"
    assert tenant.admin.patch(path, {"tags": ["roses"]}).json()["tags"] == ["roses"]
    said = tenant.admin.made(f"{path}/messages", {"role": "user", "content": "The roses need water."})
    assert (said["session_id"], said["context"]["session_id"]) == (name, name)
    batch = {"messages": [{"role": "assistant", "content": "I shall see to it."}]}
    assert tenant.admin.made(f"{path}/messages/batch", batch)["data"][0]["seq"] == 2
    assert [entry["seq"] for entry in tenant.admin.everything(f"{path}/messages")] == [1, 2]
    turn = {"session_id": name, "user_message": "And the beans?", "ai_response": "Those too."}
    assert tenant.admin.made("/v1/episodes", turn)["session_id"] == name
    assert tenant.admin.made("/v1/context", {"session_id": name})["session_id"] == name
    assert tenant.admin.made("/v1/search", {"session_id": name, "query": "roses"})["data"][0]["session_id"] == name
    assert name in [session["external_id"] for session in tenant.admin.everything("/v1/sessions")]
    assert tenant.admin.post(f"{path}/clear").json()["messages"] == 4
    assert tenant.admin.delete(path).status_code == 200
    assert tenant.admin.get(path).status_code == 404


def test_names_that_look_alike_in_a_path_are_different_sessions(tenant: Tenant) -> None:
    names = ("a/messages", "a", "a%2Fmessages", "a%252Fmessages", "A", "ä", "a\u0308")
    for name in names:
        tenant.new_session(name, title=f"<{name}>")
    titles = [tenant.admin.get(f"/v1/sessions/{segment(name)}").json()["title"] for name in names]
    assert titles == [f"<{name}>" for name in names]
    nothing: dict[str, object] = {"data": [], "next_cursor": None, "previous_cursor": None, "receipts": []}
    assert tenant.admin.get("/v1/sessions/a/messages").json() == nothing


@pytest.mark.parametrize("encoded", ["%FF", "%C3", "%ED%A0%80", "a%00b", "%00", "%0A", "x" * 5_000])
def test_what_nothing_can_be_called_finds_nothing(tenant: Tenant, encoded: str) -> None:
    """Nor is it taken for something else: bytes that are no UTF-8 are not the replacement character."""
    tenant.new_session("\ufffd")
    for method in ("GET", "DELETE"):
        answer: httpx2.Response = tenant.admin.request(method, f"/v1/sessions/{encoded}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    body = {"role": "user", "content": "Is anybody there?"}
    assert tenant.admin.post(f"/v1/sessions/{encoded}/messages", body).status_code == 404


def test_letters_may_come_encoded_and_in_either_case(tenant: Tenant) -> None:
    tenant.new_session("rosé/1")
    for path in ("/v1/sessions/ros%C3%A9%2F1", "/v1/sessions/ros%c3%a9%2f1", "/%761/sessions/%72os%c3%a9%2F1"):
        assert tenant.admin.get(path).json()["external_id"] == "rosé/1"
