"""Every refusal is a problem (RFC 9457): `application/problem+json` with `type`, `title`, `status`, `detail` and a stable `code`,
and for bad input `errors`, which name each field. Nothing is changed by what was refused, and nobody learns more than they may.
"""

import json
import logging
import re
import socket
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import httpx2
import pytest

import cloister
from cloister.domain.errors import CloisterError, StorageTooNew, StorageUnavailable
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.logs import JsonLines
from cloister.interfaces.http.problems import STATUS
from cloister.interfaces.python.errors import KINDS
from support.databases.engines import Engine
from support.servers.http_server import OPERATOR_KEY, Server, Tenant, operations_of, serving
from support.waiting import eventually

LARGEST_BODY = 1 << 20
MESSAGES = "/v1/sessions/roses/messages"
JSON = {"Content-Type": "application/json"}


class Wrong(NamedTuple):
    """A request that is wrong in one way. `field` is the one that the answer must name."""

    about: str
    method: str
    path: str
    body: bytes
    status: int
    code: str
    field: str | None
    headers: Mapping[str, str] = JSON

    def __str__(self) -> str:
        return self.about

    def sent(self, key: str | None) -> dict[str, Any]:
        credential = {} if key is None else {"Authorization": f"Bearer {key}"}
        return {"headers": {**self.headers, **credential}, "content": self.body}


def bad(about: str, path: str, body: Any, field: str | None, method: str = "POST") -> Wrong:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Wrong(about, method, path, content, 422, "invalid_request", field)


def large(about: str, path: str, body: Any, field: str | None) -> Wrong:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Wrong(about, "POST", path, content, 413, "too_large", field)


def say(content: object, **fields: object) -> dict[str, object]:
    return {"role": "user", "content": content, **fields}


WRONG = (
    bad("half of a JSON object", MESSAGES, b'{"role": "user", ', "body"),
    bad("nothing", MESSAGES, b"", "body"),
    bad("a list", MESSAGES, [], "body"),
    bad("null", MESSAGES, None, "body"),
    bad("a text", MESSAGES, "hello", "body"),
    bad("bytes that are no UTF-8", MESSAGES, b'{"role": "user", "content": "\xff"}', "body"),
    bad("a missing field", MESSAGES, {"role": "user"}, "content"),
    bad("an unknown field", MESSAGES, say("Water.", contents="Water."), "contents"),
    bad("a field twice", MESSAGES, b'{"role": "user", "content": "A", "content": "A"}', "content"),
    bad("a field twice, once escaped", MESSAGES, b'{"role": "user", "content": "A", "\\u0063ontent": "B"}', "content"),
    bad("a field twice deep inside", MESSAGES,
        b'{"role": "user", "content": "A", "metadata": {"a": [1, {"b": 1, "b": 2}]}}', "metadata.a[1].b"),
    bad("the second of a batch twice", f"{MESSAGES}/batch",
        b'{"messages": [{"role": "user", "content": "A"}, {"role": "user", "role": "user", "content": "B"}]}',
        "messages[1].role"),
    bad("a field twice after a long number", MESSAGES,
        b'{"role": "user", "content": "A", "metadata": {"a": ' + b"9" * 4_000 + b', "b": 1, "b": 1}}', "metadata.b"),
    bad("a number for a text", MESSAGES, say(7), "content"),
    bad("an unknown role", MESSAGES, {"role": "gardener", "content": "Water."}, "role"),
    bad("an empty message", MESSAGES, say(" \n"), "content"),
    bad("NUL", MESSAGES, say("wa\0ter"), "content"),
    bad("a lone surrogate", MESSAGES, b'{"role": "user", "content": "\\ud800"}', None),
    bad("a lone surrogate in a name", MESSAGES, b'{"role": "user", "content": "Water.", "\\udfff": 1}', None),
    bad("deep nesting", MESSAGES, say("Water.", metadata=json.loads('{"a":' * 90 + "1" + "}" * 90)), "metadata"),
    bad("very deep nesting", MESSAGES, b'{"role":"user","content":"Water.","metadata":' + b'{"a":' * 50_000, None),
    bad("nesting without end", MESSAGES, b"[" * 500_000, None),
    bad("a number of 5,000 digits", "/v1/search", b'{"query": "x", "limit": ' + b"9" * 5_000 + b"}", None),
    bad("a number beyond all numbers", "/v1/search", b'{"query": "x", "limit": 1e999}', "limit"),
    bad("a fraction", "/v1/search", {"query": "x", "limit": 1.5}, "limit"),
    bad("not a number", MESSAGES, b'{"role": "user", "content": "Water.", "metadata": {"a": NaN}}', None),
    bad("a time that is none", MESSAGES, say("Water.", created_at="yesterday"), "created_at"),
    bad("a year beyond all years", MESSAGES, say("Water.", created_at="99999-01-01T00:00:00Z"), "created_at"),
    bad("an empty batch", f"{MESSAGES}/batch", {"messages": []}, "messages"),
    bad("the second of a batch", f"{MESSAGES}/batch", {"messages": [say("A"), {"content": "B"}]}, "messages[1].role"),
    bad("its time", f"{MESSAGES}/batch", {"messages": [say("A"), say("B", created_at="?")]}, "messages[1].created_at"),
    bad("a body for who needs none", "/v1/sessions/roses/clear", {"only": "memories"}, "only"),
    bad("another one", "/v1/sessions/roses/extract", {"force": True}, "force"),
    bad("one more", "/v1/chat/roses/stop", {"reason": "enough"}, "reason"),
    bad("a list for nothing", "/v1/sessions/roses/clear", [], "body"),
    bad("half of nothing", "/v1/sessions/roses/clear", b"{", "body"),
    bad("an unknown wait", f"{MESSAGES}?wait=forever", say("Water."), "wait"),
    bad("no external_id at all", "/v1/sessions", {"external_id": ""}, "external_id"),
    bad("an external_id of two lines", "/v1/sessions", {"external_id": "a\nb"}, "external_id"),
    bad("a stamped tag", "/v1/sessions", {"tags": ["project:mine"]}, "tags"),
    bad("a page of nothing", "/v1/sessions?limit=0", b"", "limit", "GET"),
    bad("a page of all", "/v1/sessions?limit=201", b"", "limit", "GET"),
    bad("a page of many", f"{MESSAGES}?limit=many", b"", "limit", "GET"),
    bad("a user of no name", "/v1/sessions?user_id=", b"", "user_id", "GET"),
    bad("no more default", "/org/projects/{project}", {"is_default": False}, "is_default", "PATCH"),
    bad("a floor above one", "/v1/context", {"session_id": "roses", "min_relevance": 1.5}, "min_relevance"),
    bad("a floor below zero", "/v1/search", {"query": "x", "session_id": "roses", "min_relevance": -1}, "min_relevance"),
    bad("a floor in words", "/v1/context", {"session_id": "roses", "min_relevance": "0.5"}, "min_relevance"),
    bad("a floor that is true", "/v1/context", {"session_id": "roses", "min_relevance": True}, "min_relevance"),
    bad("asked at no time", "/v1/context", {"session_id": "roses", "asked_at": "yesterday"}, "asked_at"),
    bad("asked in a year too far", "/v1/search", {"query": "x", "session_id": "roses", "asked_at": "99999-01-01"}, "asked_at"),
    *(
        bad(f"a project's floor of {floor}", "/org/projects/{project}", {"settings": {"min_relevance": floor}},
            "settings.min_relevance", "PATCH")
        for floor in ("0.2", -0.1, 1.1, True)
    ),
    bad("a negative history", "/org/projects/{project}", {"settings": {"history_tokens": -1}}, "settings.history_tokens", "PATCH"),
    bad("unknown settings", "/org/projects/{project}", {"settings": {"isolated": False}}, None, "PATCH"),
    bad("a key that can nothing", "/org/api-keys", {"name": "k", "permissions": []}, "permissions"),
    bad("a key that is over", "/org/api-keys", {"name": "k", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    bad("a key confined to nothing", "/org/api-keys", {"name": "k", "confined": True}, "confined"),
    Wrong("a form", "POST", MESSAGES, b"role=user", 422, "invalid_request", "body", {"Content-Type": "text/plain"}),
    Wrong("no content type", "POST", MESSAGES, b"{}", 422, "invalid_request", "body", {}),
    Wrong("an empty idempotency key", "POST", MESSAGES, json.dumps(say("Water.")).encode(), 422, "invalid_request",
          "idempotency_key", {**JSON, "Idempotency-Key": ""}),
    Wrong("a project id of no form", "PATCH", "/v1/sessions/roses", b'{"project_id": "garden"}', 400,
          "invalid_project_id", "project_id"),
    Wrong("another one", "GET", "/org/projects/proj_12", b"", 400, "invalid_project_id", "project_id"),
    large("a message of 65,537 characters", MESSAGES, say("x" * 65_537), "content"),
    large("a name of 256 characters", "/v1/sessions", {"external_id": "x" * 256}, "external_id"),
    large("metadata of 17,000 characters", "/v1/sessions", {"metadata": {"a": "x" * 17_000}}, "metadata"),
    large("65 tags", "/v1/sessions", {"tags": [str(number) for number in range(65)]}, "tags"),
    large("the second of a batch", f"{MESSAGES}/batch", {"messages": [say("A"), say("x" * 65_537)]},
          "messages[1].content"),
    large("its author", f"{MESSAGES}/batch", {"messages": [say("A"), say("B", author="x" * 256)]},
          "messages[1].author"),
    large("its metadata", f"{MESSAGES}/batch", {"messages": [say("A"), say("B", metadata={"a": "x" * 17_000})]},
          "messages[1].metadata"),
    large("a batch of 1,001", f"{MESSAGES}/batch", {"messages": [say("x")] * 1_001}, "messages"),
    large("a body over a mebibyte", MESSAGES, b" " * (LARGEST_BODY + 1), None),
)  # fmt: skip


@pytest.fixture(scope="module")
def home(server: Server) -> Tenant:
    """All wrong requests go to one tenant: they change nothing."""
    tenant = server.new_tenant()
    tenant.new_session("roses")
    tenant.say("roses", "The roses need water.")
    return tenant


def ask(tenant: Tenant, wrong: Wrong, key: str | None) -> httpx2.Response:
    path = wrong.path.replace("{project}", tenant.default_project_id)
    return tenant.http.request(wrong.method, path, **wrong.sent(key))


def is_problem(answer: httpx2.Response, status: int, code: str, field: str | None = None) -> Any:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told.keys() - {"errors", "kind", "id"} == {"type", "title", "status", "detail", "code"}
    assert ("kind" in told) == ("id" in told)
    assert (told["status"], told["code"]) == (status, code)
    assert all(entry.keys() == {"field", "message"} and entry["message"] for entry in told.get("errors", []))
    for entry in told.get("errors", []):
        assert not entry["message"].startswith(entry["field"]), "the field is named once"
    if field is not None:
        assert field in [entry["field"] for entry in told["errors"]]
    return told


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_wrong_request_is_told_what_is_wrong_and_changes_nothing(home: Tenant, wrong: Wrong) -> None:
    lists = ("/v1/sessions", MESSAGES, "/org/projects", "/org/api-keys")
    before = [home.admin.everything(path) for path in lists]
    is_problem(ask(home, wrong, home.key), wrong.status, wrong.code, wrong.field)
    assert [home.admin.everything(path) for path in lists] == before


@pytest.mark.parametrize("path", ["/v1/sessions/beans/clear", "/v1/sessions/beans/extract", "/v1/chat/beans/stop"])
def test_where_no_body_is_needed_an_empty_one_is_none(home: Tenant, path: str) -> None:
    home.new_session("beans")
    for headers, content in (({}, b""), (JSON, b""), (JSON, b"{}"), (JSON, b" {} ")):
        answer = home.http.post(path, headers={**headers, "Authorization": f"Bearer {home.key}"}, content=content)
        assert answer.status_code == 200, answer.text
    home.admin.delete("/v1/sessions/beans")


def test_every_route_that_reads_json_refuses_a_field_that_is_given_twice(server: Server, home: Tenant) -> None:
    """ISO-4: one of the two values would be ignored. Each route is sent the example of its body with its first field repeated."""
    assert server.services is not None
    app = create_app(server.services)
    asked = 0
    for method, path, operation, _ in operations_of(app):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            continue
        examples: list[Any] = [given["value"] for given in content.get("examples", {}).values()] or [
            content.get("example")
        ]
        body = next((cast(dict[str, Any], given) for given in examples if isinstance(given, dict) and given), None)
        if body is None:
            continue
        name, value = next(iter(body.items()))
        text = f"{{{json.dumps(name)}: {json.dumps(value)}, {json.dumps(body)[1:]}"
        key = OPERATOR_KEY if path.startswith("/operator") else home.key
        answer = home.http.request(
            method, path, headers={**JSON, "Authorization": f"Bearer {key}"}, content=text.encode()
        )
        assert answer.status_code in (400, 422), (method, path, answer.text)
        assert f"{name}: must be given once, and is given 2 times" in answer.text, (method, path, answer.text)
        asked += 1
    assert asked > 20


def test_who_has_no_key_learns_nothing_about_a_body(home: Tenant) -> None:
    """Not whether it could be read, nor which fields there are: only how large a body may be, which holds for all."""
    answers = {
        (answer.status_code, answer.content)
        for wrong in WRONG
        if len(wrong.body) <= LARGEST_BODY
        for answer in (ask(home, wrong, None), ask(home, wrong, home.key[:-1]))
    }
    assert len(answers) == 1
    assert answers.pop()[0] == 401


def test_who_may_only_read_learns_nothing_about_what_could_be_written(home: Tenant) -> None:
    key = home.new_key("read")
    answers = {
        (answer.status_code, answer.content)
        for wrong in WRONG
        if wrong.path.startswith(MESSAGES) and wrong.method == "POST" and len(wrong.body) <= LARGEST_BODY
        for answer in [ask(home, wrong, key)]
    }
    assert len(answers) == 1
    assert answers.pop()[0] == 403


@pytest.mark.parametrize("size", [LARGEST_BODY, LARGEST_BODY + 1])
@pytest.mark.parametrize("announced", [True, False])
def test_a_body_of_a_mebibyte_is_read_and_a_larger_one_is_not(home: Tenant, size: int, announced: bool) -> None:
    """With a Content-Length or in chunks."""
    content = json.dumps(say("Water.")).encode().ljust(size)

    def chunks() -> Generator[bytes]:
        for start in range(0, size, 1 << 16):
            yield content[start : start + (1 << 16)]

    headers = {**JSON, "Authorization": f"Bearer {home.key}"}
    answer = home.http.post(MESSAGES, content=content if announced else chunks(), headers=headers)

    if size > LARGEST_BODY:
        assert "1,048,576" in is_problem(answer, 413, "too_large")["detail"]
    else:
        assert answer.status_code == 201, answer.text


def test_the_largest_message_and_the_largest_batch_are_taken(home: Tenant) -> None:
    home.new_session("large")
    assert home.say("large", "x" * 65_536)["seq"] == 1
    batch = {"messages": [say(f"Row {number}.") for number in range(1_000)]}
    assert home.admin.made("/v1/sessions/large/messages/batch", batch)["data"][-1]["seq"] == 1_001


def test_a_body_wrong_in_many_places_names_some_of_them(home: Tenant) -> None:
    answer = home.admin.post(f"{MESSAGES}/batch", {"messages": [1] * 1_000})
    assert len(is_problem(answer, 422, "invalid_request", "messages[0]")["errors"]) == 100


def test_iso_13_a_body_with_very_many_unknown_fields_names_some_of_them(home: Tenant) -> None:
    answer = home.admin.post(f"{MESSAGES}/batch", {"messages": [{f"{at:x}": 0 for at in range(50_000)}]})
    found = is_problem(answer, 422, "invalid_request", "messages[0].0")["errors"]
    assert found[0] == {"field": "body", "message": "is wrong in 50,002 parts."} and len(found) == 100


def test_iso_13_a_list_that_is_too_long_is_refused_before_its_elements_are_read(home: Tenant) -> None:
    answer = home.admin.post(f"{MESSAGES}/batch", {"messages": [1] * 20_000})
    is_problem(answer, 413, "too_large", "messages")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/sessions", "GET, POST"),
        ("OPTIONS", "/v1/sessions", "GET, POST"),
        ("DELETE", "/v1/context", "POST"),
        ("POST", "/org/projects/proj_1", "GET, PATCH, DELETE"),
        ("PUT", "/v1/sessions/a%2Fb", "GET, PATCH, DELETE"),
        ("POST", "/livez", "GET"),
        ("PROPFIND", "/livez", "GET"),
    ],
)
def test_a_method_that_a_route_does_not_know_is_told_those_it_does(
    server: Server, method: str, path: str, allowed: str
) -> None:
    answer = server.nobody.request(method, path)
    is_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == allowed


def test_head_is_refused_without_a_body(server: Server) -> None:
    answer = server.nobody.request("HEAD", "/v1/sessions")
    assert (answer.status_code, answer.headers["allow"], answer.content) == (405, "GET, POST", b"")


@pytest.mark.parametrize(
    "path", ["/nowhere", "/v1", "/v1/sessions/", "//v1/sessions", "/v1%2Fsessions", "/%2e%2e/livez"]
)
def test_an_unknown_route_is_not_found(tenant: Tenant, path: str) -> None:
    is_problem(tenant.http.get(httpx2.URL(tenant.address, raw_path=path.encode())), 404, "not_found")


@pytest.mark.parametrize(
    ("path", "kind", "given"),
    [
        ("/v1/sessions/nobody%2Fs", "session", "nobody/s"),
        ("/v1/sessions/%ff", "session", "\\udcff"),
        ("/org/projects/proj_0000000000000001", "project", "proj_0000000000000001"),
        ("/v1/sessions/roses/messages?after=msg_0000000000000001", "message", "msg_0000000000000001"),
        ("/v1/sessions/roses/memories?after=mem_0000000000000001", "memory", "mem_0000000000000001"),
    ],
)
def test_what_is_not_found_is_named_by_kind_and_id(home: Tenant, path: str, kind: str, given: str) -> None:
    found = is_problem(home.admin.get(path), 404, "not_found")
    assert (found["kind"], found["id"]) == (kind, given)


def test_every_kind_that_can_be_missing_has_its_name_in_problems() -> None:
    """By the source: what raises `NotFound`, and what reads ids."""
    sources = (path.read_text("utf-8") for path in Path(cloister.__file__).parent.rglob("*.py"))
    raised = {kind for text in sources for kind in re.findall(r'(?:NotFound\(|_known\("[a-z]+_", )"([^"]+)"', text)}
    assert raised == KINDS.keys()


@pytest.mark.parametrize("header", ["X-Project-ID", "Authorization"])
def test_a_header_that_comes_twice_is_refused(tenant: Tenant, header: str) -> None:
    headers = [("Authorization", f"Bearer {tenant.key}"), ("X-Project-ID", tenant.default_project_id)]
    twice = next(pair for pair in headers if pair[0] == header)
    answer = tenant.http.get("/v1/sessions", headers=[*headers, twice])
    if header == "Authorization":
        is_problem(answer, 401, "unauthenticated")
    else:
        is_problem(answer, 400, "invalid_project_id", "project_id")


@pytest.mark.parametrize("error", [RuntimeError("rose-petal"), KeyError("rose-petal"), StorageTooNew("rose-petal")])
def test_a_crash_says_nothing_of_the_inside(
    server: Server, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    assert server.services is not None

    def crash(*_: object) -> None:
        raise error from ValueError("rose-petal too")

    monkeypatch.setattr(server.services.sessions, "get", crash)
    with caplog.at_level(logging.INFO, "cloister.http"):
        answer = tenant.admin.get("/v1/sessions/rose-garden")
        line = eventually(lambda: logged(caplog, answer.headers["x-request-id"]))

    is_problem(answer, 500, "internal_error")
    assert "rose" not in answer.text
    assert "rose" not in line
    told = json.loads(line)
    assert (told["status"], told["level"]) == (500, "error")
    assert [type(error).__name__, "ValueError"] == [entry for entry in told["error"] if not entry.startswith(" ")]


def test_what_the_database_says_is_for_its_owner(
    server: Server, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert server.services is not None

    def refuse(*_: object) -> None:
        raise StorageUnavailable("PostgreSQL at 10.0.0.7 cannot be reached.")

    monkeypatch.setattr(server.services.sessions, "get", refuse)
    with caplog.at_level(logging.INFO, "cloister.http"):
        answer = tenant.admin.get("/v1/sessions/roses")
        line = eventually(lambda: logged(caplog, answer.headers["x-request-id"]))
    assert is_problem(answer, 503, "storage_unavailable")["detail"] == StorageUnavailable.__doc__
    assert json.loads(line)["error"][0] == "StorageUnavailable"


def test_what_is_not_supported_is_no_error_of_the_server(
    server: Server, tenant: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "cloister.http"):
        answer = tenant.admin.get("/mem0/v1/exports/")
        line = eventually(lambda: logged(caplog, answer.headers["x-request-id"]))
    assert answer.status_code == 501
    assert (json.loads(line)["level"], "error" in json.loads(line)) == ("info", False)
    body = {"messages": [{"role": "user", "content": "x"}], "user_id": "ada", "org_id": "another"}
    with caplog.at_level(logging.INFO, "cloister.http"):
        answer = tenant.admin.post("/mem0/v3/memories/add/", body)
        line = eventually(lambda: logged(caplog, answer.headers["x-request-id"]))
    assert answer.status_code == 501
    assert (json.loads(line)["level"], "error" in json.loads(line)) == ("info", False)


@pytest.mark.parametrize(
    ("message", "given", "shown"),
    [
        ("Failed, code: %s, reason: %s", (503, "rose-petal"), "Failed, code: 503, reason: …"),
        ("Failed, code: %s, reason: %s", (None, "rose-petal"), "Failed, code: None, reason: …"),
        ("Failed in %.1fs", (0.25,), "Failed in 0.2s"),
        ("Failed after %d tries", ("rose-petal",), "Failed after %d tries"),
        ("Failed by 100%", (), "Failed by 100%"),
    ],
)
def test_lines_of_other_libraries_show_only_numbers(message: str, given: tuple[object, ...], shown: str) -> None:
    record = logging.LogRecord("opentelemetry", logging.ERROR, "", 0, message, given, None)
    line = JsonLines().format(record)
    assert json.loads(line)["event"] == shown and "rose" not in line


def logged(caplog: pytest.LogCaptureFixture, request_id: str) -> str | None:
    """The line of a request, which is written when its answer is already on its way."""
    lines = [JsonLines().format(record) for record in caplog.records]
    return next((line for line in lines if request_id in line), None)


def test_a_caller_who_leaves_in_the_middle_is_not_a_crash(engine: Engine) -> None:
    with serving(engine.services()) as server:
        host, _, port = server.address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as leaving:
            leaving.sendall(b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        counted = 'cloister_http_requests_total{method="POST",route="/v1/sessions",status="499"} 1.0'
        eventually(lambda: counted in server.nobody.get("/metrics").text)


def test_every_error_on_purpose_has_a_status_of_its_own_or_is_a_crash() -> None:
    """`code` is stable: what is raised on purpose is told under its own code, and all else as `internal_error`."""

    def kinds(kind: type[CloisterError]) -> list[type[CloisterError]]:
        return [kind, *(inner for below in kind.__subclasses__() for inner in kinds(below))]

    # Only routes for mem0's clients raise `not_supported`, and they answer it themselves: `tests/mem0_front` has it.
    untold = {kind.code for kind in kinds(CloisterError)} - STATUS.keys()
    assert untold == {"error", "not_supported", "server_error", "storage_too_new"}
