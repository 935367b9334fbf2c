"""`POST /v1/import/file`: a file of another assistant, sent as it is; previewed, and imported into one project (ORG-12)."""

import io
import json
import time
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from cloister.interfaces.http.archive import uploads
from cloister.services.chat.converse import CHECK_SECONDS
from support.servers.http_server import Caller, Server, Tenant

LOG = b"".join(
    json.dumps({"role": role, "content": content, "created_at": "2026-05-01T12:00:00Z"}).encode() + b"\n"
    for role, content in (("user", "The gate code is 4417."), ("assistant", "Noted."))
)
CLAUDE: list[dict[str, Any]] = [
    {
        "uuid": "c1",
        "name": "The gate",
        "created_at": "2026-05-01T12:00:00Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "The gate code is 4417.", "created_at": "2026-05-01T12:00:00Z"}
        ],
    },
    {"uuid": "c2", "name": "Empty", "created_at": "2026-05-01T12:00:00Z", "chat_messages": []},
]


def zipped(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


def damaged(packed: bytes) -> bytes:
    """The same, with some bytes of its content changed."""
    middle = packed.index(b"conversations.json") + len("conversations.json") + 20
    return packed[:middle] + bytes(10) + packed[middle + 10 :]


def sent(caller: Caller, content: bytes, query: str) -> Any:
    headers = {"Content-Type": "application/octet-stream"}
    return caller.request("POST", f"/v1/import/file?{query}", content=content, headers=headers)


def titles(tenant: Tenant, project: str) -> list[str | None]:
    return [session["title"] for session in tenant.admin.everything(f"/v1/sessions?project_id={project}")]


def test_org_12_a_zip_is_previewed_without_a_trace_and_then_imported_once(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    export = zipped("conversations.json", json.dumps(CLAUDE).encode())
    preview = sent(tenant.admin, export, f"project_id={garden}&dry_run=true").json()
    assert (preview["format"], preview["conversations"], preview["messages"]) == ("claude", 1, 1)
    assert preview["skipped"] == {"it has no messages": 1}
    assert titles(tenant, garden) == []
    first = sent(tenant.admin, export, f"project_id={garden}").json()
    assert (first["added"]["sessions"], first["added"]["messages"]) == (1, 1)
    assert first["skipped"] == {"it has no messages": 1}
    assert titles(tenant, garden) == ["The gate"]
    again = sent(tenant.admin, export, f"project_id={garden}").json()
    assert (again["added"]["messages"], again["unchanged"]["messages"]) == (0, 1)


def test_org_12_a_log_is_known_by_the_name_of_its_file(tenant: Tenant) -> None:
    for name in ("gate.jsonl", "../../etc/gate.jsonl", "C:\\logs\\gate.jsonl"):
        answer = sent(tenant.admin, LOG, f"project_id=none&filename={name}&modified_at=2026-05-01T12:00:00Z")
        assert answer.status_code == 200, answer.text
    (session,) = tenant.admin.everything("/v1/sessions?project_id=none")
    assert session["external_id"] == "log:gate"


def test_iso_4_a_file_goes_into_no_project_of_others(server: Server, tenant: Tenant) -> None:
    theirs = server.new_tenant().new_project("Garden")
    missing = "proj_0000000000000001"
    for tried in ("", "&dry_run=true"):
        foreign, none = (sent(tenant.admin, LOG, f"project_id={each}{tried}") for each in (theirs, missing))
        assert (foreign.status_code, none.status_code) == (404, 404)
        assert foreign.text.replace(theirs, missing) == none.text


def test_iso_4_a_confined_key_imports_into_its_own_project_only(tenant: Tenant) -> None:
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    confined = tenant.caller(tenant.new_key("admin", project_id=garden, confined=True))
    for tried in ("", "&dry_run=true"):
        assert sent(confined, LOG, f"project_id={kitchen}{tried}").status_code == 404
        assert sent(confined, LOG, f"project_id=none{tried}").status_code == 422
    assert titles(tenant, kitchen) == []
    assert sent(confined, LOG, f"project_id={garden}").status_code == 200


@pytest.mark.parametrize(
    ("content", "query", "status", "said"),
    [
        (LOG, "", 422, "project_id: is missing"),
        (damaged(zipped("conversations.json", json.dumps(CLAUDE).encode())), "project_id=none", 422, "undamaged"),
        (zipped("conversations.json", b"[" + b"0," * 5_000_000 + b"0]"), "project_id=none", 422, "times its size"),
        (b"", "project_id=none", 422, "no format"),
        (b"\xff\xfe", "project_id=none", 422, "UTF-8"),
        (zipped("readme.txt", b"hello"), "project_id=none", 422, "without conversations.json"),
        (zipped("conversations.json", b"{")[:-30], "project_id=none", 422, "file"),
        (LOG, "project_id=none&format=nonsense", 422, "unknown"),
        (LOG, "project_id=none&filename=a%00b", 422, "filename"),
        (LOG, "project_id=none&modified_at=yesterday", 422, "modified_at"),
        (LOG, "project_id=none&whatever=1", 422, "whatever"),
        (b'{"kind":"header","format":"cloister-archive"}\n', "project_id=none", 422, "import it as a whole"),
    ],
)
def test_org_12_what_cannot_be_imported_says_why(
    tenant: Tenant, content: bytes, query: str, status: int, said: str
) -> None:
    answer = sent(tenant.admin, content, query)
    assert (answer.status_code, said in answer.text) == (status, True), answer.text
    assert tenant.admin.everything("/v1/sessions?project_id=none") == []


def test_org_12_a_file_of_more_than_one_mebibyte_is_read_and_one_that_is_too_large_is_not(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = b"".join(json.dumps({"role": "user", "content": f"{n} " + "x" * 4_000}).encode() + b"\n" for n in range(400))
    assert len(long) > 1 << 20
    assert sent(tenant.admin, long, "project_id=none&dry_run=true").json()["messages"] == 400
    monkeypatch.setattr(uploads, "LARGEST_FILE", 1 << 20)
    answer = sent(tenant.admin, long, "project_id=none&dry_run=true")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_iso_12_a_key_that_is_revoked_while_its_file_arrives_imports_nothing(server: Server, tenant: Tenant) -> None:
    made = tenant.admin.made("/org/api-keys", {"name": "importer", "permissions": ["admin"]})

    def body() -> Iterator[bytes]:
        yield LOG
        assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
        time.sleep(CHECK_SECONDS)
        yield LOG

    headers = {"Content-Type": "application/octet-stream"}
    caller = server.caller(made["key"])
    answer = caller.request("POST", "/v1/import/file?project_id=none", content=body(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), answer.text
    assert tenant.admin.everything("/v1/sessions?project_id=none") == []


def test_a_time_that_no_file_can_have_is_refused(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    refused = sent(tenant.admin, LOG, f"project_id={garden}&modified_at=9999-12-31T00:00:00Z")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "modified_at")
    assert titles(tenant, garden) == []


def test_a_required_parameter_that_is_missing_is_named(tenant: Tenant) -> None:
    for query in ("", "dry_run=true"):
        refused = sent(tenant.admin, LOG, query)
        assert refused.status_code == 422
        (error,) = refused.json()["errors"]
        assert error["field"] == "project_id" and "is missing" in error["message"]


def test_the_memories_of_two_projects_at_once_are_refused(tenant: Tenant) -> None:
    garden, cellar = tenant.new_project("Garden"), tenant.new_project("Cellar")
    path = f"/v1/memories?project_id={cellar}"
    refused = tenant.admin.request("GET", path, headers={"X-Project-ID": garden})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "project_id")
    assert tenant.admin.request("GET", path, headers={"X-Project-ID": cellar}).status_code == 200
