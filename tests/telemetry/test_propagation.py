"""DOOR-7: the trace context of an application reaches the server through the library and through MCP, and an embedder's server. No
other header of tracing is sent, and none while tracing is off."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry import baggage
from opentelemetry import context as traces
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanKind

from cloister import AsyncCloister, Cloister
from cloister.models.openai.embeddings import OpenAiEmbedder
from cloister.models.openai.endpoint import Endpoint
from support.clients.mcp_client import over_http, over_stdio
from support.servers.fake_endpoint import Answer
from support.servers.traced_server import (
    REMOTE_TRACE,
    TRACEPARENT,
    Traced,
    answer,
    attributes,
    id_of,
    parent_of,
    trace_of,
)

SESSION = "session-of-the-application"
_TRACER = TracerProvider(shutdown_on_exit=False).get_tracer("application")


def test_door_7_the_remote_library_sends_the_trace_of_its_caller(
    traced: Traced, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """DOOR-7: reads, writes, downloads and uploads, also from the asynchronous library; baggage stays behind."""
    monkeypatch.setenv("CLOISTER_TRACING", "on")
    tenant = traced.new_tenant()
    token = traces.attach(baggage.set_baggage("user", "marguerite"))
    try:
        with (
            _TRACER.start_as_current_span("application") as span,
            Cloister(tenant.address, key=tenant.key) as memory,
        ):
            memory.create_session(SESSION)
            memory.record(SESSION, "user", "I keep bees.")
            memory.search("bees", session_id=SESSION)
            memory.export(tmp_path / "archive.jsonl")
            memory.import_archive(tmp_path / "archive.jsonl")

            async def asynchronously() -> None:
                async with AsyncCloister(tenant.address, key=tenant.key) as other:
                    await other.session(SESSION)

            asyncio.run(asynchronously())
    finally:
        traces.detach(token)
    trace_id = f"{span.get_span_context().trace_id:032x}"
    requests = [made for made in traced.spans() if made.kind == SpanKind.SERVER]
    assert len(requests) >= 6
    assert {trace_of(made) for made in traced.spans()} == {trace_id}
    assert {parent_of(made) for made in requests} == {f"{span.get_span_context().span_id:016x}"}


def test_door_7_nothing_is_sent_while_tracing_is_off(traced: Traced) -> None:
    """DOOR-7: whatever the application traces by itself."""
    tenant = traced.new_tenant()
    with _TRACER.start_as_current_span("application"), Cloister(tenant.address, key=tenant.key) as memory:
        memory.create_session(SESSION)
    assert traced.one("POST /v1/sessions").parent is None


def test_door_7_the_remote_library_imports_nothing_of_opentelemetry_while_it_is_off(traced: Traced) -> None:
    """DOOR-7: and only its API while it is on."""
    tenant = traced.new_tenant()
    program = (
        "import sys; from cloister import Cloister\n"
        f"with Cloister({tenant.address!r}, key={tenant.key!r}) as memory: memory.sessions()\n"
        "names = [name for name in sys.modules if 'telemetry' in name]\n"
        "print(len(names), len([name for name in names if name.startswith('opentelemetry.sdk')]))"
    )
    for tracing, wanted in (("off", "0 0"), ("on", " 0")):
        command = [sys.executable, "-c", program]
        run = subprocess.run(
            command, capture_output=True, text=True, check=True, env={"CLOISTER_TRACING": tracing, "PATH": ""}
        )
        assert run.stdout.strip().endswith(wanted), run.stdout


@pytest.mark.parametrize("through", ["http", "relay"])
def test_door_7_mcp_reads_the_trace_of_a_request_and_the_relay_sends_it_on(traced: Traced, through: str) -> None:
    """DOOR-7: the client of the SDK puts the trace context into `_meta`, not into headers."""
    tenant = traced.new_tenant()
    key = tenant.new_key("read", "write")
    tracing = {"CLOISTER_TRACING": "on", "OTEL_TRACES_EXPORTER": "none"}
    opened = (
        over_http(tenant.address, key)
        if through == "http"
        else over_stdio("--data", tenant.address, "--key", key, environment=tracing)
    )
    with opened as connected, _TRACER.start_as_current_span("application") as span:
        connected.call("remember", contents=["I keep bees."])
    trace_id = f"{span.get_span_context().trace_id:032x}"
    (added,) = traced.spans("create_memory")
    assert trace_of(added) == trace_id
    if through == "relay":
        requests = [made for made in traced.spans("POST /mcp") if trace_of(made) == trace_id]
        assert parent_of(added) in [id_of(made) for made in requests]


def test_door_7_an_embedders_server_gets_the_trace_of_the_call(traced: Traced) -> None:
    """DOOR-7: a span of the conventions for embeddings, without the text."""

    def vectors(asked: object) -> Answer:
        return Answer(body=json.dumps({"data": [{"index": 0, "embedding": [0.6, 0.8]}]}).encode())

    traced.model.follows(vectors)
    embedder = OpenAiEmbedder(Endpoint(url=traced.model.url, model="small", tries=1, tracer=traced.tracer))
    try:
        with traced.tracer.request("GET", {"traceparent": TRACEPARENT}):
            embedder.embed_query("Where is the saffron?")
    finally:
        embedder.close()
        traced.model.follows(answer)
    span = traced.one("embeddings small")
    assert span.kind == SpanKind.CLIENT and trace_of(span) == REMOTE_TRACE
    known = attributes(span)
    assert known["gen_ai.operation.name"] == "embeddings" and known["gen_ai.request.model"] == "small"
    assert known["server.port"] == int(traced.model.url.split(":")[-1].split("/")[0])
    (asked,) = traced.model.asked
    assert asked.headers["traceparent"] == f"00-{REMOTE_TRACE}-{id_of(span)}-01"
    assert "saffron" not in span.to_json()
