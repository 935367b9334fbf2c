"""Replies without a model: quotations of what is strong, of this conversation too (fault 5)."""

from collections.abc import Generator
from typing import Any

import pytest

from support.clients.chat_client import Told, messages, say
from support.databases.engines import Engine
from support.servers.http_server import Server, Tenant, serving

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"
OPENING = "No model connected. Here is what I remember:"


@pytest.fixture(scope="module")
def bare_server(engine: Engine) -> Generator[Server]:
    with serving(engine.services()) as running:
        yield running


@pytest.fixture
def tenant(bare_server: Server) -> Tenant:
    return bare_server.new_tenant()


def quoted(reply: Told) -> list[str]:
    return [item["content"] for item in reply.context["relevant_history"]]


def given(reply: Told) -> set[str]:
    parts = ("relevant_history", "memories", "entities", "observations")
    return {item["id"] for part in parts for item in reply.context[part]}


def receipt_of(tenant: Tenant, reply: Told) -> Any:
    return tenant.admin.get(f"/v1/receipts/{reply.metadata['receipt_id']}").json()


def test_what_was_said_in_the_same_conversation_is_found(tenant: Tenant) -> None:
    """Fault 5."""
    say(tenant.admin, "monday", GATE)
    reply = say(tenant.admin, "monday", QUESTION)
    assert reply.text.startswith(OPENING) and "user here: The gate code is 4417." in reply.text
    assert quoted(reply) == [GATE]
    (item,) = reply.context["relevant_history"]
    assert (item["session_id"], item["strength"]) == ("monday", "strong")


def test_the_question_that_was_asked_before_does_not_come_before_the_fact(tenant: Tenant) -> None:
    """Fault 5: in other words too, in this and in another conversation."""
    say(tenant.admin, "monday", GATE)
    for session in ("tuesday", "wednesday"):
        say(tenant.admin, session, QUESTION)
        say(tenant.admin, session, "Do you remember what the gate code is?")
        assert quoted(say(tenant.admin, session, QUESTION))[0] == GATE


def test_nothing_related_names_the_project(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    assert say(tenant.admin, "a", QUESTION, project_id=garden).text == "I found nothing related in *Garden*."
    assert say(tenant.admin, "b", QUESTION, project_id=None).text == "I found nothing related in *No project*."
    reply = say(tenant.admin, "a", "Hello, how are you today?", project_id=garden)
    assert reply.text == "I found nothing related in *Garden*." and given(reply) == set()


def test_prf_1_the_reply_the_announced_context_and_the_receipt_are_one_thing(tenant: Tenant) -> None:
    """Fault 4, PRF-1: only what is strong is quoted, and all three have the same items; a pinned memory that does not match has no
    part in it."""
    say(tenant.admin, "monday", GATE)
    say(tenant.admin, "monday", "The gate squeaks when it rains.")
    (pinned,) = tenant.admin.made("/v1/memories", {"session_id": "monday", "contents": ["Rosa keeps bees."]})[
        "appended"
    ]
    tenant.admin.patch(f"/v1/memories/{pinned['id']}", {"pinned": True})
    reply = say(tenant.admin, "tuesday", QUESTION)
    receipt = receipt_of(tenant, reply)
    assert {item["id"] for item in receipt["items"]} == given(reply) != set()
    assert all(item["strength"] == "strong" for item in receipt["items"])
    assert "Rosa" not in reply.text and all(item["content"] in reply.text for item in receipt["items"])


def test_a_memory_is_not_quoted_beside_the_message_it_came_from(tenant: Tenant) -> None:
    """CTX-7."""
    say(tenant.admin, "monday", "I am allergic to hazelnuts.")
    assert tenant.admin.made("/v1/sessions/monday/extract", None)["appended"] == 1
    reply = say(tenant.admin, "tuesday", "What am I allergic to?")
    assert quoted(reply) == ["I am allergic to hazelnuts."] and reply.context["memories"] == []


def test_iso_12_the_name_of_a_project_does_not_leave_it_with_a_session(tenant: Tenant) -> None:
    """ISO-4, ISO-12: nor does anything that was quoted there; and neither reply is recalled or extracted as what was said."""
    garden, cellar = tenant.new_project("Garden"), tenant.new_project("Cellar")
    say(tenant.admin, "monday", QUESTION, project_id=garden)
    say(tenant.admin, "monday", GATE, project_id=garden)
    say(tenant.admin, "asks", QUESTION, project_id=garden)
    for session in ("monday", "asks"):
        assert tenant.admin.patch(f"/v1/sessions/{session}", {"project_id": cellar}).is_success
        there = messages(tenant, session)
        assert not any("Garden" in message["content"] for message in there)
    assert [m["content"] for m in messages(tenant, "asks") if m["role"] == "assistant" and "4417" in m["content"]] == []
    reply = say(tenant.admin, "later", "Did I find nothing related in Garden?", project_id=cellar)
    assert not any("found nothing" in words for words in quoted(reply))
