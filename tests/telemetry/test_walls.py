"""DOOR-7, ISO-4: no span has content, names of users or external ids unless the operator asks, nor anything of another tenant."""

import json

import jsonschema
import pytest

from support.clients.chat_client import asking
from support.servers.http_server import Tenant
from support.servers.traced_server import MODEL, TRACEPARENT, Traced, attributes, everything, trace_of

SESSION, OTHER = "session-of-marguerite", "second-of-marguerite"
USER = "user-marguerite"
AUTHOR = "Marguerite Duras"
WORDS = ("saffron", "lighthouse", "Understood")
# `gen_ai.memory.records` in its two forms. In open-telemetry/semantic-conventions (commit 57a823f) `content` is a string, and
# may be missing; open-telemetry/semantic-conventions-genai, which replaces it, requires a `content` of any type (commit 2c8f13c).
# In neither is a property null: one that is not known is left out.
_OTHERS = {"id": {"type": "string"}, "score": {"type": "number"}, "metadata": {"type": "object"}}
RECORDS_SCHEMAS = [
    {"type": "array", "items": {"type": "object", "properties": {"content": {"type": "string"}, **_OTHERS}}},
    {"type": "array", "items": {"type": "object", "properties": {"content": {}, **_OTHERS}, "required": ["content"]}},
]


def use_everything(traced: Traced, tenant: Tenant, secret: str, **headers: str) -> list[str]:
    """Record, recall, search, chat, extract and forget; returns the ids of the tenant that answers named."""
    ids = [tenant.tenant_id, tenant.default_project_id]
    caller = tenant.caller(tenant.key, **headers)
    for name in (SESSION, OTHER):
        caller.made("/v1/sessions", {"external_id": name, "user_id": USER, "title": AUTHOR})
    for content, role in (
        (f"I hid the saffron in the {secret}.", "user"),
        ("Noted, by the lighthouse.", "assistant"),
    ) * 2:
        body = {"role": role, "content": content, "author": AUTHOR if role == "user" else None}
        ids.append(caller.made(f"/v1/sessions/{SESSION}/messages", body)["id"])
    caller.made("/v1/memories", {"session_id": SESSION, "contents": [f"Saffron is in the {secret}."]})
    ids += [memory["id"] for memory in caller.get(f"/v1/sessions/{SESSION}/memories").json()["data"]]
    assert caller.patch(f"/v1/memories/{ids[-1]}", {"content": f"The saffron is in the {secret}."}).status_code == 200
    caller.made("/v1/search", {"query": f"saffron {secret}", "session_id": OTHER})
    caller.made("/v1/context", {"query": f"Where is the saffron, in the {secret}?", "session_id": OTHER})
    assert caller.post("/v1/chat/stream", asking(OTHER, f"Is it in the {secret}?")).status_code == 200
    assert caller.post("/v1/context", {"query": secret, "session_id": f"{SESSION}-missing"}).status_code == 404
    assert caller.get(f"/v1/sessions/{SESSION}-missing").status_code == 404
    traced.extract()
    assert caller.delete(f"/v1/memories/{ids[-1]}").status_code == 200
    assert caller.delete(f"/v1/sessions/{SESSION}").status_code == 200
    traced.one("DELETE /v1/sessions/{external_id}")
    return ids


def test_door_7_spans_have_no_words_no_users_and_no_external_ids(traced: Traced) -> None:
    """DOOR-7: not in names, attributes, events, links or statuses."""
    traced.extract()  # what other tests left
    tenant = traced.new_tenant()
    use_everything(traced, tenant, "granary", traceparent=TRACEPARENT, baggage=f"user={USER},session={SESSION}")
    names = {span.name for span in traced.spans()}
    operations = {"create_memory", "search_memory", "update_memory", "upsert_memory", "delete_memory"}
    assert {*operations, f"chat {MODEL}"} <= names
    for span in traced.spans():
        sent = everything(span)
        for hidden in (*WORDS, "granary", SESSION, OTHER, USER, AUTHOR, tenant.key, "baggage"):
            assert hidden not in sent, span.name


def test_door_7_no_span_of_one_tenant_has_an_id_or_a_word_of_another(traced_content: Traced) -> None:
    """DOOR-7, ISO-4: two tenants with the same names, users and trace, with content in spans. Baggage that names the other tenant
    changes nothing."""
    traced_content.extract()  # what other tests left
    first, second = traced_content.new_tenant(), traced_content.new_tenant()
    ids: dict[str, list[str]] = {}
    sent: dict[str, str] = {}
    for tenant, secret, foreign in ((first, "granary", second), (second, "cellar", first)):
        traced_content.clear()
        baggage = f"tenant_id={foreign.tenant_id},project_id={foreign.default_project_id},user_id={USER}"
        ids[secret] = use_everything(traced_content, tenant, secret, traceparent=TRACEPARENT, baggage=baggage)
        sent[secret] = "".join(map(everything, traced_content.spans()))
        stores = {attributes(span).get("gen_ai.memory.store.id") for span in traced_content.spans()}
        assert stores - {None} == {tenant.default_project_id}
    for secret, other in (("granary", "cellar"), ("cellar", "granary")):
        assert secret in sent[secret] and other not in sent[secret]
        assert not [identity for identity in ids[other] if identity in sent[secret]]


def test_door_7_with_consent_spans_have_the_question_and_the_records(traced_content: Traced) -> None:
    """DOOR-7: `gen_ai.memory.query.text`, and `gen_ai.memory.records` by the published schema."""
    tenant = traced_content.new_tenant()
    use_everything(traced_content, tenant, "granary")
    asked = {attributes(span)["gen_ai.memory.query.text"]: span for span in traced_content.spans("search_memory")}
    search, recall = asked["saffron granary"], asked["Where is the saffron, in the granary?"]
    for span in traced_content.spans():
        text = attributes(span).get("gen_ai.memory.records")
        for schema in [] if text is None else RECORDS_SCHEMAS:
            jsonschema.validate(json.loads(str(text)), schema)
    (changed,) = traced_content.spans("update_memory")
    for span in (search, recall, changed, *traced_content.spans("create_memory")):
        assert "gen_ai.memory.records" in attributes(span)
    found = json.loads(str(attributes(search)["gen_ai.memory.records"]))
    assert any("granary" in record["content"] and record["id"] and record["score"] > 0 for record in found)
    everywhere = "".join(map(everything, traced_content.spans()))
    for hidden in (SESSION, OTHER, USER, AUTHOR):
        assert hidden not in everywhere, hidden


def test_door_7_long_texts_are_cut(traced_content: Traced) -> None:
    """DOOR-7, ISO-13: what a span has of a text is bounded, however long the text."""
    tenant = traced_content.new_tenant()
    tenant.new_session(SESSION)
    tenant.say(SESSION, "saffron " * 8_000)
    (span,) = traced_content.spans("create_memory")
    assert len(everything(span)) < 5_000


@pytest.mark.parametrize("name", ["baggage", "b3", "x-b3-traceid", "uber-trace-id"])
def test_door_7_nothing_but_the_w3c_trace_context_is_read(traced: Traced, name: str) -> None:
    """DOOR-7: other headers do not reach a span, whatever they say."""
    tenant = traced.new_tenant()
    assert tenant.admin.get("/v1/sessions", headers={name: f"{TRACEPARENT}=1"}).status_code == 200
    span = traced.one("GET /v1/sessions")
    assert span.parent is None and trace_of(span) not in TRACEPARENT
