"""DOOR-7: what spans say of recording, recalling, extracting, forgetting and asking a model, over HTTP and in the worker."""

import threading

from opentelemetry.trace import SpanKind, StatusCode

from support.clients.chat_client import asking
from support.servers.fake_endpoint import refusal
from support.servers.http_server import Tenant
from support.servers.traced_server import (
    MODEL,
    REMOTE_SPAN,
    REMOTE_TRACE,
    TRACEPARENT,
    Traced,
    answer,
    attributes,
    everything,
    id_of,
    parent_of,
    trace_of,
)

SESSION = "external-name-of-the-session"


def talked(tenant: Tenant, **headers: str) -> None:
    tenant.new_session(SESSION)
    for content, role in (("I keep bees in Turin.", "user"), ("How nice.", "assistant")) * 2:
        body = {"role": role, "content": content}
        tenant.admin.made(f"/v1/sessions/{SESSION}/messages", body, headers=headers)


def test_door_7_a_message_is_recorded_in_a_span_of_the_request_that_sent_it(traced: Traced) -> None:
    """DOOR-7: the caller's trace context is read, also where several requests are stored with one write."""
    tenant = traced.new_tenant()
    talked(tenant, traceparent=TRACEPARENT)
    requests = {id_of(span): span for span in traced.some("POST /v1/sessions/{external_id}/messages", 4)}
    spans = traced.some("create_memory", 4)
    for span in spans:
        assert span.kind == SpanKind.INTERNAL and trace_of(span) == REMOTE_TRACE
        request = requests.pop(parent_of(span) or "")
        assert request.kind == SpanKind.SERVER and parent_of(request) == REMOTE_SPAN
        assert attributes(request)["http.response.status_code"] == 201
        known = attributes(span)
        assert known["gen_ai.operation.name"] == "create_memory" and known["gen_ai.provider.name"] == "cloister"
        assert known["gen_ai.memory.record.count"] == 1
        assert known["gen_ai.memory.store.id"] == tenant.default_project_id
        assert str(known["gen_ai.memory.record.id"]).startswith("msg_")
    assert not requests


def test_door_7_requests_that_are_stored_together_have_parents_of_their_own(traced: Traced) -> None:
    """DOOR-7: the batch of an embedded database mixes requests, and no traces."""
    tenant = traced.new_tenant()
    tenant.new_session(SESSION)
    traced.clear()

    def record(number: int) -> None:
        body = {"role": "user", "content": f"message {number}"}
        with tenant.client(traceparent=f"00-{number:032x}-{REMOTE_SPAN}-01") as client:
            assert client.post(f"/v1/sessions/{SESSION}/messages", json=body).status_code == 201

    threads = [threading.Thread(target=record, args=[number]) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    requests = {id_of(span): trace_of(span) for span in traced.some("POST /v1/sessions/{external_id}/messages", 8)}
    spans = traced.spans("create_memory")
    assert sorted(map(trace_of, spans)) == [f"{number:032x}" for number in range(1, 9)]
    assert all(requests[parent_of(span) or ""] == trace_of(span) for span in spans)


def test_door_7_contexts_and_searches_are_spans_of_their_requests(traced: Traced) -> None:
    """DOOR-7: both are `search_memory`, with the number of records and the store."""
    tenant = traced.new_tenant()
    talked(tenant)
    tenant.new_session("another")
    traced.clear()
    headers = {"traceparent": TRACEPARENT}
    found = tenant.admin.made("/v1/search", {"query": "Who keeps bees?", "session_id": "another"}, headers=headers)
    context = tenant.admin.made("/v1/context", {"query": "Who keeps bees?", "session_id": "another"}, headers=headers)
    assert found["data"] and context["relevant_history"]
    search, recall = traced.spans("search_memory")
    assert attributes(search)["gen_ai.memory.record.count"] == len(found["data"])
    assert attributes(recall)["gen_ai.memory.record.count"] == len(context["relevant_history"])
    for span, route in ((search, "POST /v1/search"), (recall, "POST /v1/context")):
        assert attributes(span)["gen_ai.memory.store.id"] == tenant.default_project_id
        assert parent_of(span) == id_of(traced.one(route)) and trace_of(span) == REMOTE_TRACE


def test_door_7_a_chat_is_one_trace_down_to_the_models_server(traced: Traced) -> None:
    """DOOR-7: question, recall, model call and reply; the model's server gets the trace context of the call's span."""
    tenant = traced.new_tenant()
    body = asking(SESSION, "I keep bees in Turin.")
    response = tenant.admin.post("/v1/chat/stream", body, headers={"traceparent": TRACEPARENT})
    assert response.status_code == 200 and "text-delta" in response.text
    call = traced.one(f"chat {MODEL}")
    assert {trace_of(span) for span in traced.spans()} == {REMOTE_TRACE}
    assert [span.name for span in traced.spans()].count("create_memory") == 2
    assert traced.one("search_memory")
    assert call.kind == SpanKind.CLIENT
    known = attributes(call)
    assert known["gen_ai.operation.name"] == "chat" and known["gen_ai.request.model"] == MODEL
    assert known["gen_ai.response.finish_reasons"] == ("stop",) and known["server.address"] == "127.0.0.1"
    (asked,) = [asked for asked in traced.model.asked if asked.path.endswith("/chat/completions")]
    assert asked.headers["traceparent"] == f"00-{REMOTE_TRACE}-{id_of(call)}-01"
    assert parent_of(call) == id_of(traced.one("POST /v1/chat/stream"))


def test_door_7_the_extraction_is_linked_to_the_request_that_caused_it(traced: Traced) -> None:
    """DOOR-7: a trace of its own, with a link, and with the model calls below it."""
    traced.extract()
    tenant = traced.new_tenant()
    talked(tenant, traceparent=TRACEPARENT)
    last = traced.spans("create_memory")[-1]
    traced.extract()
    extraction = traced.one("upsert_memory")
    assert extraction.parent is None and trace_of(extraction) != REMOTE_TRACE
    (link,) = extraction.links
    assert f"{link.context.trace_id:032x}" == REMOTE_TRACE and f"{link.context.span_id:016x}" == id_of(last)
    assert attributes(extraction)["gen_ai.memory.store.id"] == tenant.default_project_id
    calls = traced.spans(f"chat {MODEL}")
    assert calls and {parent_of(call) for call in calls} == {id_of(extraction)}
    sent = {
        asked.headers["traceparent"].split("-")[2] for asked in traced.model.asked if "traceparent" in asked.headers
    }
    assert sent == {id_of(call) for call in calls}


def test_door_7_an_extraction_that_fails_says_so_without_the_text_of_the_error(traced: Traced) -> None:
    """DOOR-7: `error.type` is the code of the error."""
    traced.extract()
    tenant = traced.new_tenant()
    talked(tenant)
    traced.model.answers(refusal(400, f"the server repeats what it was sent: {SESSION}"))
    try:
        traced.extract()
    finally:
        traced.model.follows(answer)
    extraction = traced.one("upsert_memory")
    assert SESSION not in "".join(map(everything, traced.spans()))
    assert attributes(extraction)["error.type"] == "model_unavailable"
    assert extraction.status.status_code == StatusCode.ERROR and extraction.status.description is None
    assert {attributes(call)["error.type"] for call in traced.spans(f"chat {MODEL}")} == {"model_unavailable"}
    assert not extraction.events
    # It would be retried during another test.
    assert tenant.admin.delete(f"/v1/sessions/{SESSION}").status_code == 200


def test_door_7_forgetting_is_a_span(traced: Traced) -> None:
    """DOOR-7: of a message, of what is in a session, and of the session."""
    tenant = traced.new_tenant()
    talked(tenant)
    first = tenant.admin.get(f"/v1/sessions/{SESSION}/messages").json()["data"][0]["id"]
    traced.clear()
    gone = tenant.admin.delete(f"/v1/messages/{first}")
    assert gone.status_code == 200
    assert gone.json()["certificate"]["removed"] == {"messages": [first]}
    assert tenant.admin.post(f"/v1/sessions/{SESSION}/clear").status_code == 200
    assert tenant.admin.delete(f"/v1/sessions/{SESSION}").status_code == 200
    spans = [attributes(span) for span in traced.spans("delete_memory")]
    assert [span["gen_ai.memory.record.count"] for span in spans] == [1, 3, 0]
    assert [span.get("gen_ai.memory.record.id") for span in spans] == [first, None, None]


def test_door_7_memories_that_people_add_change_and_forget_are_spans(traced: Traced) -> None:
    """DOOR-7: `create_memory`, `update_memory` and `delete_memory`, with the id of the memory where the caller named one. The
    count is of what was to be added, duplicates included, and of what went."""
    tenant = traced.new_tenant()
    talked(tenant)
    tenant.new_session("another")
    traced.clear()
    headers = {"traceparent": TRACEPARENT}
    body = {"session_id": SESSION, "contents": ["My boat is red.", "My boat is red.", "My bike is green."]}
    added = tenant.admin.made("/v1/memories", body, headers=headers)
    assert added["duplicates"] == 1
    tenant.admin.made("/v1/memories", {"session_id": "another", "contents": ["My boat is red."]})
    boat, bike = [memory["id"] for memory in added["appended"]]
    assert tenant.admin.patch(f"/v1/memories/{bike}", {"content": "My bike is blue."}).status_code == 200
    assert tenant.admin.delete(f"/v1/memories/{boat}?dry_run=true").status_code == 200
    assert tenant.admin.delete(f"/v1/memories/{boat}").status_code == 200
    assert tenant.admin.delete(f"/v1/memories/{boat}").status_code == 404
    first, second = traced.some("create_memory", 2)
    assert parent_of(first) == id_of(traced.spans("POST /v1/memories")[0]) and trace_of(first) == REMOTE_TRACE
    assert [attributes(span)["gen_ai.memory.record.count"] for span in (first, second)] == [3, 1]
    assert "gen_ai.memory.record.id" not in attributes(first)
    assert str(attributes(second)["gen_ai.memory.record.id"]).startswith("mem_")
    changed = attributes(traced.one("update_memory"))
    assert (changed["gen_ai.memory.record.id"], changed["gen_ai.memory.record.count"]) == (bike, 1)
    tried, gone, missing = map(attributes, traced.some("delete_memory", 3))
    assert [span["gen_ai.memory.record.count"] for span in (tried, gone)] == [0, 1]
    assert {span["gen_ai.memory.record.id"] for span in (tried, gone)} == {boat}
    assert missing["error.type"] == "not_found" and "gen_ai.memory.store.id" not in missing
    for span in (attributes(first), attributes(second), changed, gone):
        assert span["gen_ai.memory.store.id"] == tenant.default_project_id


def test_door_7_an_unknown_session_and_a_foreign_one_make_the_same_span(traced: Traced) -> None:
    """DOOR-7, ISO-4: the code of the error, not its text, which quotes what the caller sent."""
    tenant, other = traced.new_tenant(), traced.new_tenant()
    talked(other)
    traced.clear()
    for name in (SESSION, "nowhere"):
        response = tenant.admin.post("/v1/context", {"session_id": name, "query": "bees"})
        assert response.status_code == 404
        response = tenant.admin.post(f"/v1/sessions/{name}/messages", {"role": "user", "content": "bees"})
        assert response.status_code == 404
    spans = traced.spans("search_memory") + traced.spans("create_memory")
    assert len(spans) == 4
    for span in spans:
        assert attributes(span)["error.type"] == "not_found" and not span.events
        assert span.status.status_code == StatusCode.ERROR and span.status.description is None
        assert SESSION not in everything(span) and "nowhere" not in everything(span)
        assert "gen_ai.memory.store.id" not in attributes(span)


def test_door_7_hostile_trace_headers_are_ignored(traced: Traced) -> None:
    """DOOR-7: what is no trace context begins a trace of its own; the request is answered."""
    tenant = traced.new_tenant()
    tenant.new_session(SESSION)
    for given in ("", "00-zz-zz-01", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "f" * 5_000, TRACEPARENT + "\t-x"):
        traced.clear()
        response = tenant.admin.post(
            "/v1/context", {"session_id": SESSION}, headers={"traceparent": given, "tracestate": "a=" + "b," * 900}
        )
        assert response.status_code == 200
        assert traced.one("POST /v1/context").parent is None
