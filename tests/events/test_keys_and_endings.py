"""A stream ends soon after its key does, and at once when the server stops."""

import json
import signal
from pathlib import Path

import pytest

from cloister.domain.timestamps import iso, now
from support.clients.event_streams import Stream, following
from support.databases.engines import Engine
from support.servers.http_server import Server, ServerProcess, Tenant, serving
from support.servers.pairs import one_process

SECOND = 1_000_000


@pytest.mark.parametrize("confined", [False, True])
def test_org_8_a_revoked_key_hears_no_more(tenant: Tenant, confined: bool) -> None:
    project = tenant.new_project()
    made = tenant.admin.made(
        "/org/api-keys", {"name": "reader", "permissions": ["read"], "project_id": project, "confined": confined}
    )
    with following(tenant, made["key"]) as stream, following(tenant) as other:
        tenant.new_session("roses", project_id=project)
        stream.until_kind("session.created")
        assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
        stream.until_ended()
        tenant.new_session("fence", project_id=project)
        other.up_to("fence")
        assert b"fence" not in stream.raw
        assert (
            tenant.caller(made["key"]).get("/v1/events", headers={"Last-Event-ID": stream.last_id}).status_code == 401
        )


def test_org_8_a_key_that_expires_hears_no_more(engine: Engine) -> None:
    ahead = 0
    services = engine.services(clock=lambda: now() + ahead)
    with serving(services) as server:
        tenant = server.new_tenant()
        key = tenant.new_key("read", expires_at=iso(now() + 3_600 * SECOND))
        with following(tenant, key) as stream:
            tenant.new_session("roses")
            stream.until_kind("session.created")
            ahead = 7_200 * SECOND
            stream.until_ended()


def test_a_project_named_in_the_header_that_is_deleted_ends_the_stream(tenant: Tenant) -> None:
    project = tenant.new_project()
    headers = {"X-Project-ID": project}
    with Stream(tenant.address, tenant.key, headers) as stream:
        stream.until_kind("ready")
        assert tenant.admin.delete(f"/org/projects/{project}").status_code == 200
        stream.until_ended()


def test_streams_do_not_hold_up_a_server_that_stops(engine: Engine) -> None:
    services = engine.services()
    with serving(services) as server:
        tenant = server.new_tenant()
        streams = [following(tenant) for _ in range(5)]
    for stream in streams:
        stream.until_ended()
        stream.close()


def test_sigterm_ends_streams_and_the_process(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as process:
        tenant = process.server.new_tenant()
        with following(tenant) as stream:
            process.process.send_signal(signal.SIGTERM)
            stream.until_ended()
            assert process.wait() == 0
        assert "Traceback" not in process.complaints
        logged = [json.loads(line) for line in process.complaints.splitlines() if line.startswith("{")]
        assert [line["status"] for line in logged if line.get("route") == "/v1/events"] == [200]


@one_process
def test_a_reader_who_goes_away_leaves_nothing_behind(server: Server, tenant: Tenant) -> None:
    assert server.services is not None
    running = "cloister_http_requests_running"
    for _ in range(3):
        streams = [following(tenant) for _ in range(10)]
        for stream in streams:
            stream.close()
    tenant.new_session("fence")
    with tenant.client() as client:
        for _ in range(1_000):
            (line,) = [line for line in client.get("/metrics").text.splitlines() if line.startswith(f"{running} ")]
            if line == f"{running} 1.0":
                return
    raise AssertionError("streams that nobody reads go on")
