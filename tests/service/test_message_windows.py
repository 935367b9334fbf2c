"""Windows of messages over HTTP: cursors in both directions, and the receipts of a page."""

from typing import Any

import pytest

from support.clients.chat_client import asking
from support.servers.http_server import Server, Tenant

COUNT = 7


@pytest.fixture
def tenant(either_server: Server) -> Tenant:
    made = either_server.new_tenant()
    for name in ("talk", "other"):
        made.new_session(name)
        said = [{"role": "user", "content": f"{name} {number}"} for number in range(COUNT)]
        made.admin.made(f"/v1/sessions/{name}/messages/batch", {"messages": said})
    return made


def page(tenant: Tenant, status: int = 200, name: str = "talk", **params: Any) -> Any:
    answer = tenant.admin.get(f"/v1/sessions/{name}/messages", params=params)
    assert answer.status_code == status, answer.text
    return answer.json()


def said(found: Any) -> list[str]:
    return [message["content"].rpartition(" ")[2] for message in found["data"]]


def test_a_conversation_is_read_from_its_end_to_its_beginning_and_back(tenant: Tenant) -> None:
    shown: list[str] = []
    found = page(tenant, before="end", limit=3)
    assert found["next_cursor"] is None and said(found) == ["4", "5", "6"]
    while True:
        shown = [*said(found), *shown]
        if found["previous_cursor"] is None:
            break
        found = page(tenant, cursor=found["previous_cursor"], limit=3)
    assert shown == [str(number) for number in range(COUNT)]
    forward = said(found)
    while found["next_cursor"] is not None:
        found = page(tenant, cursor=found["next_cursor"], limit=3)
        forward += said(found)
    assert forward == shown


def test_a_window_around_a_message_goes_on_in_both_directions(tenant: Tenant) -> None:
    there = [message["id"] for message in page(tenant)["data"]]
    found = page(tenant, around=there[3], limit=3)
    assert said(found) == ["2", "3", "4"]
    assert said(page(tenant, cursor=found["previous_cursor"])) == ["0", "1"]
    assert said(page(tenant, cursor=found["next_cursor"])) == ["5", "6"]
    assert said(page(tenant, before=there[2])) == ["0", "1"]


def test_bad_windows_are_refused(tenant: Tenant) -> None:
    there, others = ([message["id"] for message in page(tenant, name=name)["data"]] for name in ("talk", "other"))
    missing = "msg_0000000000200001"
    for direction in ("around", "before"):
        foreign = page(tenant, 404, **{direction: others[0]})
        assert foreign == page(tenant, 404, **{direction: missing}) | {"detail": foreign["detail"], "id": others[0]}
        assert page(tenant, 404, **{direction: "msg_1"})["code"] == "not_found"
    assert page(tenant, 422, around=there[0], before="end")["errors"][0]["field"] == "around"
    cursor = page(tenant, before="end", limit=2)["previous_cursor"]
    assert page(tenant, 422, name="other", cursor=cursor)["errors"][0]["field"] == "cursor"
    assert page(tenant, 422, cursor=cursor, filter='{"role": "user"}')["errors"][0]["field"] == "cursor"


def test_prf_1_a_page_says_how_much_each_reply_was_given(tenant: Tenant) -> None:
    """PRF-1: in one request, the same numbers as in the receipts, and nothing of other sessions."""
    tenant.new_session("tells")
    tenant.say("tells", "The gate code is 4417.")
    for session in ("asks", "asks too"):
        assert tenant.admin.post("/v1/chat/stream", asking(session, "What is the gate code?")).status_code == 200
    found = page(tenant, name="asks", receipts="true", before="end")
    (summary,) = found["receipts"]
    receipt = tenant.admin.get(f"/v1/receipts/{summary['id']}").json()
    assert summary["message_id"] == found["data"][-1]["id"] == receipt["message_id"]
    strengths = [item["strength"] for item in receipt["items"]]
    assert (summary["given"], summary["strong"], summary["weak"]) == (
        receipt["given"],
        strengths.count("strong"),
        strengths.count("weak"),
    )
    assert summary["given"] >= 1 and summary["placeholders"] is True
    assert page(tenant, name="asks")["receipts"] == []
