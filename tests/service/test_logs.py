"""What a server says of itself: lines of JSON, numbers, and whether it is well. Never what was said, never a key or a name."""

import json
import re
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from qdrant_client import QdrantClient

from cloister.bootstrap import build_services, wire
from cloister.domain.identifiers import parse_tenant_id
from cloister.domain.scope import Reach
from cloister.index.exact.index import ExactIndex
from cloister.index.qdrant.index import QdrantIndex
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.serve import first_key
from cloister.settings import Settings
from support.databases.engines import EMBEDDER, Engine
from support.samples.other_embedder import OtherEmbedder
from support.servers.http_server import Server, ServerProcess, Tenant, routes_of, serving

MARKER = "petunia"
"""In everything that a caller can make up."""


def test_the_log_holds_requests_and_nothing_of_what_was_said(data: Path, server: Server) -> None:
    settings = Settings(data=str(data))
    services = build_services(settings)
    first_key(services, settings)
    services.close()

    with ServerProcess(data) as process:
        tenant = process.server.new_tenant(f"{MARKER} household")
        admin_key_id = tenant.admin.get("/org/api-keys").json()["data"][0]["key_id"]
        answers = [*conversation(tenant), *mistakes(tenant)]
        assert {answer.status_code for answer in answers} >= {200, 201, 204, 400, 401, 403, 404, 405, 413, 422}
        host, _, port = process.address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as garbage:
            garbage.sendall(f"{MARKER} is not HTTP\r\n\r\n".encode())
            garbage.recv(1_000)
        assert process.stop() == 0

    assert tenant.key not in process.printed + process.complaints
    assert MARKER not in process.printed + process.complaints
    assert "clo_" not in process.printed + process.complaints
    lines = [json.loads(line) for line in process.complaints.splitlines()]
    logged = {line["request_id"]: line for line in lines if line["event"] == "request"}
    for answer in answers:
        line = logged[answer.headers["x-request-id"]]
        assert line["status"] == answer.status_code
        assert line["method"] == answer.request.method
        assert line["level"] == "info"
    assert server.services is not None
    routes = {path for _, path in routes_of(create_app(server.services))}
    assert {line["route"] for line in logged.values()} <= routes | {"unknown"}
    assert {line["key_id"] for line in logged.values() if line["route"] == "/v1/context"} == {admin_key_id}
    # Whether the server has extracted the session before it was asked to, or before it was deleted, is a matter of chance.
    assert {line["event"] for line in lines} - {"extraction"} == {"request", "Invalid HTTP request received."}


def conversation(tenant: Tenant) -> list[httpx2.Response]:
    name = f"{MARKER}-session"
    one = {"role": "user", "content": f"The {MARKER} needs water.", "author": MARKER, "metadata": {MARKER: MARKER}}
    admin = tenant.admin
    session = {"external_id": name, "user_id": MARKER, "title": MARKER, "tags": [MARKER], "metadata": {MARKER: 1}}
    project = admin.post("/org/projects", {"name": f"{MARKER} bed"})
    key = admin.post("/org/api-keys", {"name": MARKER}, headers={"Idempotency-Key": MARKER})
    return [
        project,
        key,
        admin.post("/v1/sessions", session, headers={"Idempotency-Key": MARKER}),
        admin.post(f"/v1/sessions/{name}/messages", one),
        admin.post(f"/v1/sessions/{name}/messages/batch", {"messages": [one, one]}),
        admin.post("/v1/episodes", {"session_id": name, "user_message": MARKER, "ai_response": MARKER}),
        admin.post("/v1/context", {"session_id": name, "query": MARKER}),
        admin.post("/v1/search", {"session_id": name, "query": MARKER}),
        admin.post("/v1/memories", {"session_id": name, "contents": [f"My neighbour plays the {MARKER}."]}),
        admin.get(f"/v1/users/{MARKER}/memories"),
        admin.post(f"/v1/sessions/{name}/extract"),
        admin.get("/v1/entities", headers={"X-Project-ID": project.json()["project_id"]}),
        admin.get(f"/v1/sessions?user_id={MARKER}"),
        admin.get(f"/v1/sessions/{name}"),
        admin.delete(f"/org/api-keys/{key.json()['key_id']}"),
        admin.delete(f"/v1/sessions/{name}"),
    ]


def mistakes(tenant: Tenant) -> list[httpx2.Response]:
    admin = tenant.admin
    return [
        tenant.http.get("/v1/sessions", headers={"Authorization": f"Bearer {MARKER}"}),
        tenant.http.get("/v1/sessions", headers={"Authorization": f"Bearer clo_{MARKER}"}),
        tenant.with_key("read").post("/v1/sessions", {"external_id": MARKER}),
        admin.get("/v1/sessions", headers={"X-Project-ID": MARKER}),
        admin.get(f"/v1/sessions/{MARKER}-unknown"),
        admin.get(f"/{MARKER}"),
        admin.request("PUT", f"/v1/sessions/{MARKER}"),
        admin.post("/v1/sessions", {MARKER: MARKER}),
        admin.post("/v1/sessions", {"external_id": MARKER * 99}),
        admin.get(f"/v1/sessions?cursor={MARKER}"),
        admin.post("/v1/sessions", {"external_id": f"{MARKER}\n"}),
    ]


@pytest.mark.parametrize("given", ["abc", "A-b_c.1", "x" * 64])
def test_a_sane_request_id_is_given_back(server: Server, given: str) -> None:
    for path in ("/livez", "/nowhere", "/v1/sessions"):
        assert server.nobody.get(path, headers={"X-Request-ID": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a/b", "ü", '{"a":1}', "a;b", "a,b"])
def test_another_one_is_replaced(server: Server, given: str) -> None:
    answer = server.http.get("/livez", headers=[(b"x-request-id", given.encode())])
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"])


def test_metrics_count_by_route_and_name_nobody(engine: Engine) -> None:
    """ISO-4. What the index found outside the pool is counted there, and is zero when all is well."""
    services = engine.services()
    with serving(services) as server:
        tenant = server.new_tenant(f"{MARKER} household")
        conversation(tenant)
        mistakes(tenant)
        samples = scraped(server)
        known = {path for _, path in routes_of(create_app(services))} | {"unknown"}
        for labels, _ in (entry for entries in samples.values() for entry in entries):
            assert labels.keys() <= {"method", "route", "status", "le", "result", "kind", "queue"}
            assert labels.get("route", "unknown") in known
            assert labels.get("method", "GET") in ("GET", "POST", "PUT", "PATCH", "DELETE")
            assert labels.get("status", "200").isdecimal()
            assert labels.get("result", "lost") in ("succeeded", "failed", "lost")
            assert labels.get("queue", "reads") in ("reads", "appends", "calls")
            kinds = ("messages", "memories", "observations", "files", "entities", "receipts")
            assert labels.get("kind", "messages") in kinds
        assert count_of(samples, method="POST", route="/v1/context", status="200") == 1
        assert count_of(samples, method="GET", route="unknown", status="404") == 1
        assert samples["cloister_index_foreign_hits_total"] == [({}, 0.0)]
        assert samples["cloister_wal_bytes"][0][1] > 0, "OPS-2"
        services.recall.foreign_hits += 5
        assert scraped(server)["cloister_index_foreign_hits_total"] == [({}, 5.0)]


def scraped(server: Server) -> dict[str, list[tuple[dict[str, str], float]]]:
    text = server.nobody.get("/metrics").text
    assert MARKER not in text
    found: dict[str, list[Any]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def count_of(samples: dict[str, list[tuple[dict[str, str], float]]], **wanted: str) -> float:
    return sum(value for labels, value in samples["cloister_http_requests_total"] if labels == wanted)


def test_ops_1_readyz_and_metrics_say_how_much_is_stale(engine: Engine) -> None:
    """After an upgrade, until it is rebuilt; the field is absent where nothing is."""
    with serving(engine.services()) as server:
        tenant = server.new_tenant()
        tenant.new_session("s")
        for number in range(3):
            tenant.say("s", f"The bell number {number} rings at noon.")
        assert "stale" not in server.nobody.get("/readyz").json()
        assert scraped(server)["cloister_index_stale"] == [({}, 0.0)]
    embedder = OtherEmbedder()
    index = ExactIndex(embedder.embed_query, embedder.dimension, 100_000_000)
    services = wire(engine.database(), index=index, embedder=embedder)
    with serving(services) as server:
        assert server.nobody.get("/readyz").json()["stale"] == 3
        assert scraped(server)["cloister_index_stale"] == [({}, 3.0)]
        services.reindex.run()
        assert "stale" not in server.nobody.get("/readyz").json()
        assert scraped(server)["cloister_index_stale"] == [({}, 0.0)]


def test_answers_say_how_much_an_index_outside_does_not_have_yet(engine: Engine) -> None:
    """Contexts and searches, of their own pool only; the field is absent once the index has all."""
    index = QdrantIndex(QdrantClient(":memory:"), EMBEDDER)
    services = wire(engine.database(), index=index, embedder=EMBEDDER)
    with serving(services) as server:
        tenant = server.new_tenant()
        garden = tenant.new_project("Garden")
        tenant.new_session("s", project_id=garden)
        tenant.new_session("elsewhere", project_id=tenant.new_project("Kitchen"))
        for number in range(3):
            tenant.say("s", f"The bell number {number} rings at noon.")

        def stale(session: str) -> tuple[int | None, int | None]:
            asked = {"session_id": session, "query": "bell"}
            context = tenant.admin.post("/v1/context", json=asked).json()
            return context.get("stale"), tenant.admin.post("/v1/search", json=asked).json().get("stale")

        assert (stale("s"), stale("elsewhere")) == ((3, 3), (None, None))
        services.queue.drain()
        assert stale("s") == (None, None)
        tenant.say("s", "My neighbour Anna plays the cello.")
        services.extraction.extract_now(Reach(tenant=parse_tenant_id(tenant.tenant_id)), "s")
        assert stale("s") == (2, 2), "a message and an entity"
        services.queue.drain()
        assert stale("s") == (None, None)


def test_a_server_says_whether_it_is_alive_and_ready(engine: Engine) -> None:
    """Ready means that the database can be used; without it the process is still alive, and says no word of the inside."""
    services = engine.services()
    with serving(services) as server:
        tenant = server.new_tenant()
        assert server.nobody.get("/livez").json() == {"status": "alive"}
        ready = server.nobody.get("/readyz").json()
        assert (ready["status"], ready["waiting"]) == ("ready", 0)
        assert ready["schema_version"] > 0

        services.close()

        answer = server.nobody.get("/readyz")
        assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
        assert answer.headers["content-type"] == "application/problem+json"
        assert server.nobody.get("/livez").status_code == 200
        asked = tenant.admin.get("/v1/sessions")
        assert (asked.status_code, asked.json()["code"]) == (503, "closed")
