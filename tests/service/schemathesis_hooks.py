"""What no schema can say, told to Schemathesis before each of its requests. Every check stays on.

Schemathesis loads this by its path. `CLOISTER_SCHEMATHESIS` says what the run stands on: its own key and project, sessions with
messages, and cursors that were given out.
"""

import json
import os
import secrets
from collections.abc import MutableMapping
from itertools import count
from typing import Any, cast

import schemathesis

Fields = dict[str, Any]
_GROUND: Fields = json.loads(os.environ.get("CLOISTER_SCHEMATHESIS", "{}"))
_numbers = count(1)
_READ_FIELDS = {
    *(
        "items",
        "input",
        "messages",
        "model",
        "instructions",
        "stream",
        "stream_options",
        "store",
        "metadata",
        "n",
        "user",
    ),
    *("encoding_format", "dimensions"),
}


_LONGEST_LIST = 1_000
_EXPLAINED = {"session_id": "any", "query": "What was said?"}


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def before_load_schema(_: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Lists of ten thousand entries are not tried: making one too long takes minutes. Bodies that are longer than any list may be
    are tried by `tests/unit/test_body_structures.py`."""
    _leave_out_long_lists(raw_schema)


def _leave_out_long_lists(node: object) -> None:
    if isinstance(node, dict):
        fields = cast(dict[str, Any], node)
        if isinstance(most := fields.get("maxItems"), int) and most > _LONGEST_LIST:
            del fields["maxItems"]
        for value in fields.values():
            _leave_out_long_lists(value)
    elif isinstance(node, list):
        for value in cast(list[Any], node):
            _leave_out_long_lists(value)


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def before_call(_: schemathesis.HookContext, case: Any, **__: Any) -> None:
    path, query, headers, body = map(_fields, (case.path_parameters, case.query, case.headers, case.body))
    _use_each_idempotency_key_once(headers)
    if case.operation.path == "/v1/sessions/{external_id}/title" and path.get("external_id") in _GROUND["sessions"]:
        path["external_id"] = "missing"  # without a model, a session that is there is answered with 503
    if case.method == "DELETE":
        _keep_what_the_run_stands_on(path)
    if not case.meta:
        return
    if not case.meta.generation.mode.is_positive:
        wrong = {place.value for place, part in case.meta.components.items() if part.mode.is_negative}
        # A header is looked at first: a wrong one would hide what is wrong behind it.
        if "X-Project-ID" in headers and wrong - {"header"}:
            headers["X-Project-ID"] = _GROUND["project_id"]
        return
    _name_a_project_that_is_there(headers)
    _expire_in_the_future(body)
    _want_no_other_dimensions(body)
    _say_something(body)
    _filter_within_bounds(query, body)
    _try_one_thing(query, body)
    if case.operation.path == "/v1/memories/{memory_id}" and not body:
        body["pinned"] = True  # a change has to name something
    if case.operation.path == "/v1/explain":
        body.pop("receipt_id", None)  # there are two forms, and each excludes the other
        body.update({name: value for name, value in _EXPLAINED.items() if not isinstance(body.get(name), str)})
    _change_an_entity_in_one_way(case.operation.path, body)
    _send_items_of_known_kinds(case.operation.path, headers, body)
    _run_known_operations(case.operation.path, body)
    _send_known_commands(case.operation.path, query, headers, body)
    _name_no_project_of_all(case.operation.path, query, headers)
    _choose_no_model(case.operation.path, body)
    _ask_for_one_window(query)
    if case.meta.phase.name.value != "stateful" and case.method != "DELETE":
        _name_what_is_there(path, query, body)
    if case.operation.path == "/v1/sessions/{external_id}/title":
        path["external_id"] = "no-such-session"  # one with a reply is named by a model, and there is none here
    _name_one_project(case.operation.path, query, headers)
    _go_on_where_a_page_ended(query, case.operation.path.format(**path))
    _ask_for_one_list(case.operation.path, query, body)


def _fields(given: object) -> Fields:
    return cast(Fields, given) if isinstance(given, MutableMapping) else {}


def _use_each_idempotency_key_once(headers: Fields) -> None:
    """A key that comes again with another request is refused with 422, however well formed both are."""
    given = headers.get("Idempotency-Key")
    if isinstance(given, str) and given.strip() and len(given) <= 255:
        headers["Idempotency-Key"] = f"{secrets.token_hex(8)} {given}"[:255]


def _keep_what_the_run_stands_on(path: Fields) -> None:
    """Without its own key, project and sessions the run would see little else than 401 and 404."""
    for name, given in path.items():
        if given in (_GROUND["key_id"], _GROUND["project_id"], *_GROUND["sessions"]):
            path[name] = f"{given[:-1]}0"


def _name_a_project_that_is_there(headers: Fields) -> None:
    """Mostly: any other is not found, whatever the request. (Coverage can make no header with an underscore: it sends 0.)"""
    if "X-Project-ID" in headers and (headers["X-Project-ID"] == "0" or next(_numbers) % 4):
        headers["X-Project-ID"] = _GROUND["project_id"]


def _name_what_is_there(path: Fields, query: Fields, body: Fields) -> None:
    """Mostly: what is made up is well formed, and not found."""
    session = _GROUND["sessions"][next(_numbers) % len(_GROUND["sessions"])]
    project = _GROUND["project_id"]
    for fields, known in (
        (path, {"external_id": session, "project_id": project}),
        (query, {"project_id": project}),
        (body, {"session_id": session, "project_id": project}),
    ):
        for name, value in known.items():
            if isinstance(fields.get(name), str) and next(_numbers) % 4:
                fields[name] = value


def _name_one_project(path: str, query: Fields, headers: Fields) -> None:
    """A list of another project than that of the header is refused."""
    if path == "/v1/memories" and "project_id" in query:
        headers.pop("X-Project-ID", None)


def _go_on_where_a_page_ended(query: Fields, path: str) -> None:
    """A cursor is good when it was given out for this very list; its form alone is not enough. Of other lists the first page is
    asked for."""
    if "cursor" in query:
        del query["cursor"]
        if path in _GROUND["cursors"] and not {"name", "filter", "status"} & set(query):
            query["cursor"] = _GROUND["cursors"][path]


def _expire_in_the_future(body: Fields) -> None:
    """A key that has already expired is refused."""
    if isinstance(given := body.get("expires_at"), str):
        body["expires_at"] = f"9{given[1:]}"


def _say_something(body: Fields) -> None:
    """Only the user's last message is read, and it must say something."""
    messages = cast(list[object] | None, body.get("messages"))
    if isinstance(messages, list) and any("parts" in _fields(message) for message in messages):
        messages.append({"role": "user", "parts": [{"type": "text", "text": "What did we plant?"}]})


def _filter_within_bounds(query: Fields, body: Fields) -> None:
    """A filter in a query is JSON text, and the filters inside a filter are any objects to the schema."""
    if "filter" in query:
        query["filter"] = '{"not": {"role": "tool"}}'
    given = _fields(body.get("filter"))
    for word in {"and", "or", "not"} & set(given):
        given[word] = {"kind": "memory"} if word == "not" else [{"role": "user"}, {"not": {"kind": "entity"}}]


def _try_one_thing(query: Fields, body: Fields) -> None:
    """A number of days is only tried, and not together with another change of who recalls what."""
    if "retention_days" in query:
        query["dry_run"] = "true"
    if "dry_run" in query and "retention_days" in _fields(body.get("settings")):
        body.pop("member_visibility", None)


def _choose_no_model(path: str, body: Fields) -> None:
    """No model is connected to the server of this run, so a session cannot choose one."""
    if path.startswith("/v1/sessions"):
        body.pop("model", None)


def _ask_for_one_window(query: Fields) -> None:
    """A page of messages is before one, around one, or after one."""
    for name in [name for name in ("before", "around", "after") if name in query][1:]:
        del query[name]


def _ask_for_one_list(path: str, query: Fields, body: Fields) -> None:
    """Memories are of one user or of all; a cursor is of the plain list of messages; the items of a conversation are a list."""
    if "users" in query:
        query.pop("user_id", None)
    if "cursor" in query and path.endswith("/messages"):
        for name in ("before", "around", "after", "branch"):
            query.pop(name, None)
    if path == "/v1/conversations" and not isinstance(body.get("items", []), list):
        del body["items"]


def _change_an_entity_in_one_way(path: str, body: Fields) -> None:
    """An entity is moved, or else corrected; what is split off are aliases, or else messages under a name."""
    if path == "/v1/entities/{entity_id}":
        for name in [name for name, value in body.items() if value is None]:
            del body[name]
        if body.get("project_id") is None:
            body.pop("user_id", None)
            body["type"] = "place"
        else:
            for name in ("name", "type", "notes", "aliases"):
                body.pop(name, None)
    if path == "/v1/entities/{entity_id}/split":
        body.clear()
        body["aliases"] = ["Annie"]


def _run_known_operations(path: str, body: Fields) -> None:
    """An operation on entries is any object to the schema."""
    if path.startswith("/v1/entries/"):
        address = {"namespace": ["trips", "lisbon"], "key": f"hotel {next(_numbers) % 9}"}
        reads: list[Fields] = [
            {"op": "get", **address},
            {"op": "search", "namespace_prefix": ["trips"], "query": "Alfama", "filter": {"stars": {"$gt": 3}}},
            {"op": "list_namespaces", "max_depth": 1},
        ]
        put: Fields = {"op": "put", **address, "value": {"name": "Alfama", "stars": 4}, "ttl": 5}
        writes: list[Fields] = [put, {"op": "delete", **address}, {"op": "delete_expired"}]
        body["operations"] = reads if path.endswith("/read") else [*reads, writes[next(_numbers) % 3]]


def _send_items_of_known_kinds(path: str, headers: Fields, body: Fields) -> None:
    """An item is any object to the schema, and so are bodies of OpenAI's clients, which may have more fields than are read. What
    names a session or a user twice has to name the same."""
    if not path.endswith("/items") and not path.startswith(
        ("/v1/conversations", "/v1/responses", "/v1/chat/completions", "/v1/embeddings")
    ):
        return
    for name in {*body} - _READ_FIELDS:
        del body[name]
    for name in ("items", "input"):
        if isinstance(body.get(name), list) and path != "/v1/embeddings":
            body[name] = [
                {"type": "message", "role": "user", "content": "The ferry leaves at ten past."},
                {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}"},
            ]
    if "metadata" in body:
        body["metadata"] = {"channel": "web"}
    headers.pop("X-Session-ID", None)
    headers.pop("X-Model-Key", None)


def _send_known_commands(path: str, query: Fields, headers: Fields, body: Fields) -> None:
    """Each command on a file has fields of its own, and a version of Anthropic's interface is a date."""
    if path == "/v1/sessions/{external_id}/files":
        body.clear()
        body.update({"command": "create", "path": "/memories/ferry.txt", "file_text": "At ten past."})
    if path == "/anthropic/v1/messages":
        headers.pop("anthropic-version", None)
        headers.pop("X-Session-ID", None)
        for name in {*body} - {"model", "max_tokens", "messages", "system", "stream"}:
            del body[name]
    if path == "/anthropic/v1/messages/count_tokens":
        for name in {*body} - {"model", "messages", "system"}:
            del body[name]
    if path.startswith("/anthropic/v1/m"):
        headers.pop("anthropic-version", None)
        headers.pop("X-Model-Key", None)
    if "after_id" in query:
        query.pop("before_id", None)  # each excludes the other


def _name_no_project_of_all(path: str, query: Fields, headers: Fields) -> None:
    """What is for all projects is refused for one, and needs no id."""
    if path == "/v1/export" and query.get("scope", "tenant") == "tenant":
        query.pop("id", None)
    if path == "/v1/export" and query.get("scope") == "user":
        query.setdefault("id", "ada")
    if path == "/v1/export" and query.get("scope") == "project":
        query["id"] = _GROUND["project_id"]
    if path == "/org/retention" or (path == "/v1/export" and query.get("scope") != "project"):
        headers.pop("X-Project-ID", None)


def _want_no_other_dimensions(body: Fields) -> None:
    """Which embedder answers is a matter of settings."""
    if "dimensions" in body:
        body["dimensions"] = None
