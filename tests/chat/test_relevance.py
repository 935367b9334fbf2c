"""Replies keep to the floor of relevance, with a model and without one (CTX-6)."""

from collections.abc import Generator

import pytest

from support.clients.chat_client import asking, messages, said, say, shown, words
from support.databases.engines import Engine
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, Tenant, serving

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"
TALK = (
    GATE,
    "My neighbour Anna plays the cello on Sundays.",
    "The train to Graz leaves at seven in the morning.",
    "We are going to paint the fence in spring.",
)
OFF_TOPIC = "How do I translate a poem by Goethe?"


@pytest.fixture(scope="module")
def without_model(engine: Engine) -> Generator[Server]:
    """A server whose replies only show what is remembered."""
    with serving(engine.services()) as running:
        yield running


def tell(tenant: Tenant) -> None:
    tenant.new_session("tells")
    for text in TALK:
        tenant.say("tells", text)


def test_ctx_6_a_reply_is_given_what_reaches_the_floor_of_its_project(tenant: Tenant, model: FakeEndpoint) -> None:
    tell(tenant)
    model.answers(words("4417."))
    reply = say(tenant.admin, "asks", QUESTION)
    assert GATE in reply.recalled and GATE in shown(model.asked[-1].body)
    model.answers(words("I do not know that."))
    off_topic = say(tenant.admin, "asks about something else", OFF_TOPIC)
    assert off_topic.recalled == set()
    assert not any(text in shown(model.asked[-1].body) for text in TALK)
    model.answers(words("Hello!"))
    assert say(tenant.admin, "greets", "Hello, how are you today?").recalled == set()


def test_ctx_6_a_request_sets_the_floor_of_its_reply(tenant: Tenant, model: FakeEndpoint) -> None:
    tell(tenant)
    model.answers(words("Yes."))
    assert say(tenant.admin, "everything", OFF_TOPIC, min_relevance=0).recalled >= set(TALK)
    assert say(tenant.admin, "nothing", QUESTION, min_relevance=1).recalled == set()
    again = asking("nothing", QUESTION, trigger="regenerate-message", min_relevance=0)
    assert tenant.admin.post("/v1/chat/stream", again).status_code == 200
    assert GATE in shown(model.asked[-1].body)


@pytest.mark.parametrize("given", [-0.1, 1.5, "0.5", True])
def test_ctx_6_a_floor_out_of_range_is_refused_and_records_nothing(
    tenant: Tenant, model: FakeEndpoint, given: object
) -> None:
    refused = tenant.admin.post("/v1/chat/stream", asking("new", QUESTION, min_relevance=given))
    assert refused.status_code == 422 and "min_relevance" in refused.text
    assert tenant.admin.get("/v1/sessions/new").status_code == 404
    assert model.asked == []


def test_ctx_6_a_reply_without_a_model_keeps_to_the_floor_too(without_model: Server) -> None:
    tenant = without_model.new_tenant()
    tell(tenant)
    reply = say(tenant.admin, "asks", QUESTION)
    assert GATE in reply.recalled and GATE in reply.text
    silent = say(tenant.admin, "asks about something else", OFF_TOPIC)
    assert silent.recalled == set()
    assert not any(text in silent.text for text in TALK)
    everything = say(tenant.admin, "asks for everything", OFF_TOPIC, min_relevance=0)
    assert everything.recalled >= set(TALK)
    assert [role for role, *_ in said(tenant, "asks")] == ["user", "assistant"]
    assert len(messages(tenant, "asks for everything")) == 2
