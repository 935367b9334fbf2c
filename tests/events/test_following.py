"""What is told: each change once, after it can be read, in order, and never in the words that were said."""

import json
import re
from pathlib import Path
from typing import Any, get_args

from cloister.domain.events import Kind
from support.clients.event_streams import following
from support.servers.http_server import Server, Tenant

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "events.md").read_text("utf-8")
SECRET = "The safe is behind the painting."


def test_what_happens_to_a_session_is_told_in_order(tenant: Tenant) -> None:
    project = tenant.default_project_id
    with following(tenant) as stream:
        tenant.new_session("roses", user_id="ada", title=SECRET, tags=["hidden"], metadata={"note": SECRET})
        said = tenant.say("roses", SECRET)
        batch = tenant.admin.made(
            "/v1/sessions/roses/messages/batch", {"messages": [{"role": "user", "content": SECRET}] * 3}
        )["data"]
        episode = tenant.admin.made(
            "/v1/episodes", {"session_id": "roses", "user_message": SECRET, "ai_response": SECRET}
        )
        tenant.admin.patch("/v1/sessions/roses", {"title": "Other"})
        tenant.admin.delete(f"/v1/messages/{said['id']}")
        tenant.admin.post("/v1/sessions/roses/clear")
        tenant.admin.delete("/v1/sessions/roses")
        tenant.new_session("fence")
        events = stream.before("fence")
        assert [(told.kind, told.data.get("message_ids")) for told in events] == [
            ("session.created", None),
            ("message.added", [said["id"]]),
            ("message.added", [each["id"] for each in batch]),
            ("message.added", episode["message_ids"]),
            ("session.changed", None),
            ("session.changed", None),
            ("session.changed", None),
            ("session.deleted", None),
        ]
        for told in events:
            assert (told.session, told.data["user_id"], told.data["project_id"]) == ("roses", "ada", project)
            assert told.data["created_at"].endswith("Z")
        for word in (b"safe", b"hidden", b"note", b"Other"):
            assert word not in stream.raw


def test_what_is_told_can_be_read(tenant: Tenant) -> None:
    tenant.new_session("roses")
    with following(tenant) as stream:
        for number in range(1, 20):
            tenant.say("roses", "More water.")
            told = stream.until_kind("message.added", number=number)
            messages = tenant.admin.everything("/v1/sessions/roses/messages")
            assert told.data["message_ids"] == [messages[-1]["id"]]


def test_what_was_refused_or_asked_again_is_not_told(tenant: Tenant) -> None:
    reader = tenant.with_key("read")
    with following(tenant) as stream:
        once = {"Idempotency-Key": "once"}
        for _ in range(3):
            tenant.admin.post("/v1/sessions", {"external_id": "roses"}, headers=once)
            tenant.admin.post("/v1/sessions", {"external_id": "roses"})
            tenant.admin.post("/v1/sessions/roses/messages", {"role": "user", "content": "Water."}, headers=once)
            tenant.admin.post("/v1/sessions/roses/messages", {"role": "nobody", "content": "Water."})
            tenant.admin.post("/v1/sessions/beans/messages", {"role": "user", "content": "Water."})
            reader.post("/v1/sessions", {"external_id": "beans"})
            reader.delete("/v1/sessions/roses")
        tenant.new_session("fence")
        assert stream.up_to("fence") == [("session.created", "roses"), ("message.added", "roses")]


def test_a_turn_is_told_with_its_messages(tenant: Tenant) -> None:
    ask: Any = {"id": "roses", "messages": [{"role": "user", "parts": [{"type": "text", "text": SECRET}]}]}
    with following(tenant) as stream:
        assert tenant.admin.post("/v1/chat/stream", ask).status_code == 200
        finished = stream.until_kind("turn.finished")
        assert [told.kind for told in stream.events] == [
            "session.created",
            "turn.started",
            "message.added",
            "message.added",
            "turn.finished",
        ]
        assert finished.data["status"] == "completed"
        assert b"safe" not in stream.raw


def test_a_stream_says_how_it_is_to_be_treated(server: Server, tenant: Tenant) -> None:
    with tenant.client() as client, client.stream("GET", "/v1/events") as answer:
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-accel-buffering"] == "no"
        lines = answer.iter_lines()
        assert [next(lines) for _ in range(2)] == ["retry: 2000", ""]
        assert next(lines).startswith("id: ")
        assert [next(lines) for _ in range(3)] == ["event: ready", 'data: {"type": "ready"}', ""]


def test_the_page_shows_events_as_they_are(tenant: Tenant) -> None:
    shown = [json.loads(data) for data in re.findall(r"^data: (.*)$", PAGE, re.MULTILINE)]
    assert {each["type"] for each in shown} == {"ready", "message.added"}
    tenant.new_session("roses", user_id="ada")
    with following(tenant) as stream:
        tenant.say("roses", "Water.")
        real = stream.until_kind("message.added").data
    assert list(real) == list(shown[1])
    assert {key: type(value) for key, value in real.items()} == {key: type(value) for key, value in shown[1].items()}


def test_the_page_names_every_event() -> None:
    rows = " ".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))
    assert set(re.findall(r"`([a-z.]+)`", rows)) == {*get_args(Kind), "ready"}


def test_new_memories_are_told_as_a_change_of_their_session(tenant: Tenant) -> None:
    """Fault 17: who shows a count of memories reads it again. A repeated request tells nothing."""
    tenant.new_session("roses")
    path = f"/org/projects/{tenant.default_project_id}"
    with following(tenant) as stream:
        once = {"Idempotency-Key": "once"}
        for _ in range(2):
            tenant.admin.post("/v1/memories", {"session_id": "roses", "contents": ["Roses are red."]}, headers=once)
        tenant.say("roses", "My neighbour Anna plays the cello.")
        assert tenant.admin.made("/v1/sessions/roses/extract", None)["appended"] == 1
        stream.until_kind("session.changed", number=2)
        assert [told.kind for told in stream.events] == ["session.changed", "message.added", "session.changed"]
        assert tenant.admin.get(path).json()["memory_count"] == 2
        assert tenant.admin.get("/v1/sessions/roses").json()["memory_count"] == 2
