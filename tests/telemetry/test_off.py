"""DOOR-7: tracing is off unless it is asked for, and then costs nothing: nothing of OpenTelemetry is imported."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cloister.domain.errors import InvalidRequest
from cloister.settings import TracingSettings, read_settings
from cloister.telemetry.provider import close_in_time

_USED = """
import sys
from cloister import Cloister
with Cloister(sys.argv[1]) as memory:
    memory.create_session("s")
    memory.record("s", "user", "I keep bees.")
    memory.record("s", "assistant", "How nice.")
    memory.context("s", query="bees")
    memory.search("bees", session_id="s")
    memory.extract("s")
    memory.delete_session("s")
print(*sorted(name for name in sys.modules if "telemetry" in name))
import fastapi
known = set(sys.modules)
from cloister.bootstrap import build_services
from cloister.interfaces.http.app import create_app
from cloister.settings import read_settings
services = build_services(read_settings(sys.argv[1], {}))
create_app(services)
services.close()
print(*sorted(name for name in set(sys.modules) - known if "telemetry" in name))
print(*sorted(name for name in sys.modules if name.startswith("opentelemetry.sdk")))
"""
_WITH_A_PROVIDER = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
from cloister.bootstrap import build_services
from cloister.interfaces.http.app import create_app
from cloister.settings import read_settings
from starlette.testclient import TestClient
from cloister import Cloister
def key(services):
    return Cloister(services=services).create_key("key").key
for tracing in ("off", "on"):
    services = build_services(read_settings(sys.argv[1], {"CLOISTER_TRACING": tracing}))
    with TestClient(create_app(services), base_url="http://127.0.0.1") as client:
        client.get("/v1/sessions/external-name?after=secret")
        headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {key(services)}"}
        for method, params in (
            ("tools/call", {"name": "forget", "arguments": {"memory_id": "external-name"}}),
            ("resources/read", {"uri": "cloister://sessions/external-name"}),
        ):
            asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = client.post("/mcp", json=asked, headers=headers)
            assert answer.status_code == 200 and "external-name" in answer.text, answer.text
    services.close()
    print(tracing, *(span.to_json(indent=None) for span in exporter.get_finished_spans()))
"""


def _output(program: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-X", "importtime", "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_door_7_nothing_of_opentelemetry_is_imported_while_it_is_off(tmp_path: Path) -> None:
    """DOOR-7: the library imports nothing of it. The server imports no more than FastAPI, which imports the API of OpenTelemetry
    itself: the SDK, and what makes spans here, stay out."""
    library, server, sdk = _output(_USED, str(tmp_path / "data"))
    assert (library, server, sdk) == ("", "", "")


def test_door_7_an_application_with_a_provider_gets_no_paths_and_no_queries(tmp_path: Path) -> None:
    """DOOR-7: FastAPI's own spans have both, and so external ids, and those of the MCP SDK have the texts of errors; they are
    switched off. With tracing on, the spans go to the provider that the process has."""
    off, on = _output(_WITH_A_PROVIDER, str(tmp_path / "data"))
    assert off == "off"
    assert '"GET /v1/sessions/{external_id}"' in on and '"POST /mcp"' in on and '"delete_memory"' not in on
    assert "external-name" not in on and "secret" not in on


def test_door_7_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """DOOR-7: the setting without the extra says what to install."""
    from cloister.telemetry.provider import open_tracer

    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InvalidRequest, match=r"cloister\[otel\]"):
        open_tracer(content=False, exporter="none")


def test_door_7_the_settings_are_narrow() -> None:
    """DOOR-7: an unknown value is refused, and content is never traced by accident."""
    assert read_settings("d", {}).tracing == TracingSettings()
    assert read_settings("d", {"OTEL_TRACES_EXPORTER": "zipkin"}).tracing == TracingSettings()
    on = {"CLOISTER_TRACING": "on"}
    assert read_settings("d", on).tracing == TracingSettings(on=True)
    generic = {**on, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
    assert not read_settings("d", generic).tracing.content
    assert read_settings("d", {**on, "CLOISTER_TRACING_CONTENT": "on"}).tracing.content
    for wrong in (
        {"CLOISTER_TRACING": "yes"},
        {"CLOISTER_TRACING_CONTENT": "on"},
        {**on, "OTEL_TRACES_EXPORTER": "zipkin"},
        {**on, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
        {**on, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"},
    ):
        with pytest.raises(InvalidRequest):
            read_settings("d", wrong)


def test_door_7_a_collector_that_hangs_does_not_keep_the_process() -> None:
    """DOOR-7: closing waits so long at most; what is sent in time is waited for."""
    sent, goes_on = threading.Event(), threading.Event()
    close_in_time(sent.set)
    assert sent.is_set()
    began = time.monotonic()
    close_in_time(goes_on.wait, seconds=0.05)
    assert not goes_on.is_set() and time.monotonic() - began < 5
    goes_on.set()
