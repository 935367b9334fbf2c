"""Export and import over HTTP (ORG-11, ORG-12): streams of JSON lines, for admin keys, within the reach of the key."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, cast

import httpx2
import pytest

from cloister.domain.archive.conversations import ConversationRecord, SpokenRecord, conversation_lines
from cloister.domain.identifiers import parse_project_id, parse_tenant_id
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.interfaces.http.archive.streams import ArchiveStream
from cloister.services.archive.export import Export
from cloister.services.chat.converse import CHECK_SECONDS
from support.servers.http_server import Caller, Server, Tenant

LINES = "application/x-ndjson"


@pytest.fixture
def tenant(server: Server) -> Tenant:
    made = server.new_tenant()
    garden, kitchen = made.new_project("Garden"), made.new_project("Kitchen")
    for name, project, user in (("roses", garden, "ada"), ("beans", garden, "bob"), ("salt", kitchen, "ada")):
        made.new_session(name, project_id=project, user_id=user)
        made.say(name, f"My neighbour likes {name}.")
        made.admin.made(f"/v1/sessions/{name}/extract", None)
    return made


def exported(caller: Caller, **query: str) -> bytes:
    answer = caller.request("GET", "/v1/export", params=query)
    assert (answer.status_code, answer.headers["content-type"]) == (200, LINES), answer.text
    return answer.content


def imported(caller: Caller, content: bytes | Iterator[bytes], media_type: str = LINES) -> httpx2.Response:
    return caller.request("POST", "/v1/import", content=content, headers={"Content-Type": media_type})


def project_of(tenant: Tenant, name: str) -> str:
    return tenant.admin.everything("/org/projects", name=name)[0]["project_id"]


def test_org_11_an_archive_over_http_is_imported_by_another_tenant(server: Server, tenant: Tenant) -> None:
    """ORG-11: whole, and again without a change."""
    archive = exported(tenant.admin)
    other = server.new_tenant()
    first = imported(other.admin, archive)
    assert first.status_code == 200, first.text
    assert first.json()["added"]["messages"] == 3 and first.json()["unchanged"]["messages"] == 0
    again = imported(other.admin, iter([archive[:100], archive[100:]])).json()
    assert again["added"] == dict.fromkeys(again["added"], 0)
    assert again["unchanged"] == first.json()["added"]
    counts = [json.loads(exported(each.admin).splitlines()[-1])["counts"] for each in (tenant, other)]
    assert counts[0] == counts[1]
    found = other.admin.made("/v1/search", {"query": "roses", "session_id": "roses"})
    assert "roses" in json.dumps(found)


def test_org_11_scopes_are_a_tenant_a_project_or_a_user(tenant: Tenant) -> None:
    """ORG-11."""
    garden = project_of(tenant, "Garden")
    assert b"salt" in exported(tenant.admin) and b"salt" in exported(tenant.admin, scope="tenant")
    of_garden = exported(tenant.admin, scope="project", id=garden)
    assert b"roses" in of_garden and b"beans" in of_garden and b"salt" not in of_garden
    of_ada = exported(tenant.admin, scope="user", id="ada")
    assert b"roses" in of_ada and b"salt" in of_ada and b"beans" not in of_ada
    assert json.loads(of_ada.splitlines()[0])["id"] == "ada"
    with_header = tenant.admin.request("GET", "/v1/export?scope=project", headers={"X-Project-ID": garden})
    assert with_header.content == of_garden


@pytest.mark.parametrize(
    "query, status",
    [
        ("scope=all", 422),
        ("scope=project", 400),
        ("scope=user", 422),
        ("scope=tenant&id=x", 422),
        ("scope=project&id=none", 422),
        ("scope=project&id=garden", 400),
        ("scope=project&id=proj_0000000000000001", 404),
        ("scope=user&id=", 422),
        ("scope=tenant&scope=user", 422),
        ("limit=1", 422),
    ],
)
def test_org_11_a_wrong_query_is_refused(tenant: Tenant, query: str, status: int) -> None:
    """ORG-11: and says what to do."""
    answer = tenant.admin.request("GET", f"/v1/export?{query}")
    assert answer.status_code == status, answer.text
    if query == "scope=user&id=":
        assert [each["field"] for each in answer.json()["errors"]] == ["id"]


def test_org_11_keys_export_what_they_reach(tenant: Tenant) -> None:
    """ORG-11, ORG-4, ORG-10: a confined admin key its project, a key that is bound to a user that user, and neither anything else;
    others need the permission admin."""
    garden, kitchen = project_of(tenant, "Garden"), project_of(tenant, "Kitchen")
    confined = tenant.with_key("admin", project_id=garden, confined=True)
    bound = tenant.with_key("read", "write", user_id="ada")
    assert exported(confined, scope="project") == exported(tenant.admin, scope="project", id=garden)
    assert exported(bound, scope="user", id="ada") == exported(tenant.admin, scope="user", id="ada")
    both = tenant.with_key("read", user_id="ada", project_id=garden, confined=True)
    of_both = exported(both, scope="user", id="ada")
    assert b"roses" in of_both and b"salt" not in of_both and b"beans" not in of_both
    for caller, query, status in (
        (both, "scope=user&id=bob", 403),
        (both, "scope=project", 403),
        (both, "scope=tenant", 403),
        (confined, "scope=tenant", 403),
        (confined, "scope=user&id=ada", 403),
        (confined, f"scope=project&id={kitchen}", 404),
        (bound, "scope=tenant", 403),
        (bound, "scope=user&id=bob", 403),
        (bound, f"scope=project&id={garden}", 403),
        (tenant.with_key("read", "write"), "scope=user&id=ada", 403),
        (tenant.with_key("write", user_id="ada"), "scope=user&id=ada", 403),
    ):
        assert caller.request("GET", f"/v1/export?{query}").status_code == status
    whole = exported(tenant.admin)
    assert imported(confined, whole).status_code == 403
    assert imported(bound, exported(bound, scope="user", id="ada")).status_code == 403
    assert imported(confined, exported(confined, scope="project")).status_code == 200


def test_org_11_a_damaged_archive_is_refused_with_what_was_done(server: Server, tenant: Tenant) -> None:
    """ORG-11: the rest follows with a repeated import."""
    archive = exported(tenant.admin)
    other = server.new_tenant()
    lines = archive.splitlines(keepends=True)
    cut = imported(other.admin, b"".join(lines[:-1]))
    assert (cut.status_code, cut.json()["code"]) == (422, "invalid_request")
    assert "cut off" in cut.json()["detail"] and "repeated import" in cut.json()["detail"]
    altered = imported(other.admin, archive.replace(b"likes roses", b"likes Roses"))
    assert altered.status_code == 422 and "differ" in altered.json()["detail"]
    assert imported(other.admin, archive).status_code == 200


@pytest.mark.parametrize(
    "content, media_type",
    [
        (b"", LINES),
        (b"\n", LINES),
        (b"[]\n", LINES),
        (b'{"kind":"header"}\n', LINES),
        (b"\xff\xfe\n", LINES),
        (b'{"a":1,"a":2}\n', LINES),
        (b"{" * 100_000 + b"\n", LINES),
        (b"{}", "application/json"),
        (b"{}", "text/plain"),
    ],
)
def test_org_11_what_is_no_archive_is_refused(tenant: Tenant, content: bytes, media_type: str) -> None:
    """ORG-11: as 422, whatever it is."""
    answer = imported(tenant.admin, content, media_type)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), answer.text


def test_org_11_a_line_is_bounded_and_a_body_is_not(server: Server, tenant: Tenant) -> None:
    """ORG-11: a body of more than 1 MiB is imported, a line of more than 2 MiB is refused."""
    tenant.new_session("long")
    words = "word " * 12_000
    for _ in range(20):
        tenant.say("long", words)
    archive = exported(tenant.admin)
    assert len(archive) > 1 << 20
    assert imported(server.new_tenant().admin, archive).status_code == 200
    answer = imported(
        server.new_tenant().admin, archive.splitlines(keepends=True)[0] + b'{"kind":"' + b"x" * (1 << 21) + b'"}\n'
    )
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_org_11_other_routes_keep_their_limit(tenant: Tenant) -> None:
    """ORG-11: only the import reads a long body."""
    answer = tenant.admin.request(
        "POST", "/v1/import/x", content=b"x" * (1 << 21) + b"x", headers={"Content-Type": LINES}
    )
    assert answer.status_code == 413


def test_org_11_a_quota_stops_an_import(server: Server, tenant: Tenant) -> None:
    """ORG-11, ORG-7: with 429, and what fits stays."""
    assert server.services is not None
    other = server.new_tenant()
    reach = Reach(tenant=parse_tenant_id(other.tenant_id))
    server.services.projects.set_limits(reach, Limits(messages=2))
    answer = imported(other.admin, exported(tenant.admin))
    assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
    assert other.admin.get("/org/usage").json()["messages"] == 2


class Guard:
    """Admits so many chunks."""

    def __init__(self, chunks: int) -> None:
        self._left = chunks

    def __enter__(self) -> "Guard":
        return self

    def __exit__(self, *_: object) -> None: ...

    async def admits(self) -> bool:
        self._left -= 1
        return self._left >= 0


@pytest.mark.parametrize("admitted", [0, 1, 2, 100])
def test_org_11_an_export_breaks_off_when_its_caller_may_no_longer_read(admitted: int) -> None:
    """ORG-11, ORG-8: after a revocation no chunk follows, nor the end of the answer; the snapshot and the limit are released."""
    ended: list[str] = []

    def lines() -> Iterator[bytes]:
        try:
            for _ in range(4):
                yield b"x" * 65_536
        finally:
            ended.append("snapshot")

    limit = ExitStack()
    limit.callback(ended.append, "limit")
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    stream = ArchiveStream(lines(), cast(Any, Guard(admitted)), limit, "x.jsonl")
    asyncio.run(stream({}, cast(Any, None), send))
    assert sum(bool(message.get("body")) for message in sent) == min(admitted, 4)
    assert (sent[-1].get("more_body") is None and sent[-1]["type"] == "http.response.body") == (admitted == 100)
    assert ended == ["snapshot", "limit"]


def test_iso_12_a_revoked_key_imports_no_more(server: Server, tenant: Tenant) -> None:
    """ISO-12, ORG-8: what arrives after the revocation is not stored, though the request began before it."""
    archive = exported(tenant.admin).splitlines(keepends=True)
    other = server.new_tenant()
    made = other.admin.made("/org/api-keys", {"name": "importer", "permissions": ["admin"]})
    first = next(at for at, line in enumerate(archive) if b'"kind":"message"' in line) + 1

    def body() -> Iterator[bytes]:
        yield b"".join(archive[:first])
        assert other.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
        time.sleep(CHECK_SECONDS)
        yield b"".join(archive[first:])

    answer = imported(server.caller(made["key"]), body())
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), answer.text
    assert other.admin.get("/org/usage").json()["messages"] <= 1
    assert imported(other.admin, b"".join(archive)).status_code == 200


def test_iso_12_a_revoked_key_exports_no_more(server: Server, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """ISO-12, ORG-8: the archive breaks off, without its last line. The server reads on only after the revocation."""
    tenant.new_session("long")
    for _ in range(4):
        tenant.say("long", "word " * 12_000)
    made = tenant.admin.made("/org/api-keys", {"name": "exporter", "permissions": ["admin"]})
    read, revoked = Export.lines, threading.Event()

    def slow(*given: Any) -> Iterator[bytes]:
        size = 0
        for line in read(*given):
            size += len(line)
            yield line
            if size > 2 * 65_536:
                assert revoked.wait(30)

    monkeypatch.setattr(Export, "lines", slow)
    received = b""
    with httpx2.stream(
        "GET", f"{server.address}/v1/export", headers={"Authorization": f"Bearer {made['key']}"}, timeout=30
    ) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx2.RemoteProtocolError):
            for chunk in answer.iter_bytes():
                received += chunk
                if not revoked.is_set():
                    assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
                    time.sleep(CHECK_SECONDS)
                    revoked.set()
    assert received
    assert b'"kind":"end"' not in received
    assert received.count(b'"kind":"message"') < exported(tenant.admin).count(b'"kind":"message"')


def test_iso_12_every_long_answer_is_checked_again_within_two_seconds() -> None:
    """ISO-12: by one clock; each kind of stream has its own test with a real revocation."""
    assert 0 < CHECK_SECONDS < 2


def test_org_12_conversations_are_imported_over_http(tenant: Tenant) -> None:
    """ORG-12."""
    records: list[Any] = [
        ConversationRecord(external_id="log:x", user_id=None, title="T", created_at=1, updated_at=1),
        SpokenRecord(source_id="1", role="user", author=None, content="Tulips in Haarlem.", created_at=1),
    ]
    project = parse_project_id(project_of(tenant, "Garden"))
    body = b"".join(conversation_lines(records, project=project, user="ada", created_by="test"))
    assert imported(tenant.admin, body).json()["added"]["messages"] == 1
    assert imported(tenant.admin, body).json()["added"]["messages"] == 0
    assert tenant.admin.get("/v1/sessions/log:x").json()["user_id"] == "ada"
