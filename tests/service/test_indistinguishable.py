"""A foreign id, a missing one and one that was deleted are answered alike: status, headers and body, byte for byte but for the id.

A parameter or a field that takes an id and has no probe fails the first test here.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx2
import pytest
from fastapi import FastAPI

from cloister.domain.identifiers import (
    SessionId,
    format_entity_id,
    format_key_id,
    format_memory_id,
    format_message_id,
    format_observation_id,
    format_project_id,
    message_id,
    new_entity_id,
    new_key_id,
    new_memory_id,
    new_observation_id,
    new_project_id,
    new_session_id,
    new_tenant_id,
    parse_tenant_id,
)
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.dispatch.cursors import Listing
from support.databases.engines import Engine
from support.servers.http_server import Caller, Server, Tenant, operations_of

ONE = {"role": "user", "content": "The roses need water."}
TURN = {"session_id": "{id}", "user_message": "Roses?", "ai_response": "They need water."}
ASK = {"id": "never", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Roses?"}]}]}
ID_FIELDS = (
    "session_id",
    "project_id",
    "conversation",
    "previous_response_id",
    "into",
    "message_ids",
    "message_id",
    "messageId",
    "receipt_id",
)
# These differ in every answer, and tell nothing.
RANDOM_HEADERS = ("date", "x-request-id", "request-id")


class Probe(NamedTuple):
    """A request that names something by `{id}` in one place, and by `{own kind}` what is the caller's. `status` is what a caller
    gets, and `confined` what one confined to another project gets."""

    method: str
    path: str
    place: str
    kind: str
    asked: str
    body: Any = None
    confined: int = 404
    status: int = 404

    def ask(self, caller: Caller, name: str, own: "Ids") -> httpx2.Response:
        def meant(text: str) -> str:
            for kind, mine in own._asdict().items():
                text = text.replace(f"{{own {kind}}}", mine)
            return text.replace("{id}", name)

        body = None if self.body is None else json.loads(meant(json.dumps(self.body)))
        headers = {"X-Project-ID": name} if self.place == "header" else None
        return caller.request(self.method, meant(self.asked), json=body, headers=headers)


def in_path(method: str, path: str, kind: str, body: Any = None, confined: int = 404) -> Probe:
    name = path[path.index("{") : path.index("}") + 1]
    return Probe(method, path, f"path {name[1:-1]}", kind, path.replace(name, "{id}"), body, confined)


def in_body(method: str, path: str, field: str, body: Any, *, asked: str | None = None, confined: int = 404) -> Probe:
    return Probe(method, path, f"body {field}", field.removesuffix("_id"), asked or path, body, confined)


def in_query(method: str, path: str, name: str, kind: str, also: str = "") -> Probe:
    asked = path.replace("{external_id}", "own-session").replace("{user_id}", "ada")
    return Probe(method, path, f"query {name}", kind, f"{asked}?{name}={{id}}{also}")


def in_header(method: str, path: str, body: Any = None) -> Probe:
    return Probe(method, path, "header", "project", path, body, confined=403)


def in_items(method: str, path: str, body: Any = None) -> tuple[Probe, Probe]:
    """A path with a session and an item of it: each of them may be another's."""
    whole = f"{path}/items/{{item_id}}"
    session = Probe(method, whole, "path external_id", "session", f"{path}/items/{{own message}}", body)
    item = Probe(method, whole, "path item_id", "message", f"{path}/items/{{id}}", body)
    return (
        session._replace(asked=session.asked.replace("{external_id}", "{id}")),
        item._replace(asked=item.asked.replace("{external_id}", "own-session")),
    )


RESPOND = {"input": "Roses?"}
ITEMS = {"items": [ONE]}
PROBES = (
    in_path("GET", "/v1/responses/{response_id}", "response"),
    in_path("DELETE", "/v1/responses/{response_id}", "response"),
    Probe(
        "POST", "/v1/responses", "body conversation", "session", "/v1/responses", {**RESPOND, "conversation": "{id}"}
    ),
    Probe(
        *("POST", "/v1/responses", "body previous_response_id", "response", "/v1/responses"),
        {**RESPOND, "previous_response_id": "{id}"},
    ),
    in_header("POST", "/v1/responses", RESPOND),
    in_path("GET", "/v1/receipts/{receipt_id}", "receipt"),
    in_path("GET", "/v1/sessions/{external_id}/exclusions", "session"),
    Probe(
        *("DELETE", "/v1/sessions/{external_id}/exclusions/{item_id}", "path external_id", "session"),
        "/v1/sessions/{id}/exclusions/{own message}",
    ),
    Probe(
        *("DELETE", "/v1/sessions/{external_id}/exclusions/{item_id}", "path item_id", "message"),
        "/v1/sessions/own-session/exclusions/{id}",
    ),
    in_path("POST", "/v1/sessions/{external_id}/exclusions", "session", {"kind": "message", "id": "{own message}"}),
    Probe(
        *("POST", "/v1/sessions/{external_id}/exclusions", "body id", "message", "/v1/sessions/own-session/exclusions"),
        {"kind": "message", "id": "{id}"},
    ),
    Probe(
        *("POST", "/v1/sessions/{external_id}/exclusions", "body id", "memory", "/v1/sessions/own-session/exclusions"),
        {"kind": "memory", "id": "{id}"},
    ),
    in_path("GET", "/v1/receipts/{receipt_id}/prompt", "receipt"),
    in_body("POST", "/v1/explain", "receipt_id", {"receipt_id": "{id}", "message_id": "{own message}"}),
    in_body("POST", "/v1/explain", "message_id", {"receipt_id": "{own receipt}", "message_id": "{id}"}),
    in_body(
        "POST", "/v1/explain", "session_id", {"session_id": "{id}", "query": "Peas?", "message_id": "{own message}"}
    ),
    in_body("POST", "/v1/explain", "message_id", {"session_id": "own-session", "query": "Peas?", "message_id": "{id}"}),
    in_header("GET", "/v1/receipts/{receipt_id}")._replace(asked="/v1/receipts/{own receipt}"),
    in_header("GET", "/v1/receipts/{receipt_id}/prompt")._replace(asked="/v1/receipts/{own receipt}/prompt"),
    in_header("POST", "/v1/explain", {"receipt_id": "{own receipt}", "message_id": "{own message}"}),
    in_header("POST", "/v1/conversations", ITEMS),
    in_path("GET", "/v1/conversations/{external_id}", "session"),
    in_path("POST", "/v1/conversations/{external_id}", "session", {"metadata": {}}),
    in_path("DELETE", "/v1/conversations/{external_id}", "session"),
    in_path("GET", "/v1/conversations/{external_id}/items", "session"),
    in_path("POST", "/v1/conversations/{external_id}/items", "session", ITEMS),
    in_query("GET", "/v1/conversations/{external_id}/items", "after", "message"),
    *in_items("GET", "/v1/conversations/{external_id}"),
    *in_items("DELETE", "/v1/conversations/{external_id}"),
    in_path("GET", "/v1/sessions/{external_id}/items", "session"),
    in_path("POST", "/v1/sessions/{external_id}/items", "session", ITEMS),
    *in_items("DELETE", "/v1/sessions/{external_id}"),
    in_query("GET", "/v1/sessions/{external_id}/items", "project_id", "project"),
    Probe(
        "POST",
        "/v1/sessions/{external_id}/items",
        "query project_id",
        "project",
        "/v1/sessions/own-session/items?project_id={id}",
        ITEMS,
    ),
    Probe(
        "DELETE",
        "/v1/sessions/{external_id}/items/{item_id}",
        "query project_id",
        "project",
        "/v1/sessions/own-session/items/{own message}?project_id={id}",
    ),
    Probe(
        "POST",
        "/v1/sessions/{external_id}/clear",
        "query project_id",
        "project",
        "/v1/sessions/own-session/clear?project_id={id}",
    ),
    Probe(
        "POST",
        "/v1/sessions/{external_id}/messages",
        "query project_id",
        "project",
        "/v1/sessions/own-session/messages?project_id={id}",
        ONE,
    ),
    Probe(
        "POST",
        "/v1/sessions/{external_id}/messages/batch",
        "query project_id",
        "project",
        "/v1/sessions/own-session/messages/batch?project_id={id}",
        {"messages": [ONE]},
    ),
    Probe("POST", "/v1/episodes", "query project_id", "project", "/v1/episodes?project_id={id}", TURN),
    in_body("POST", "/v1/memory-tool", "project_id", {"project_id": "{id}"}),
    in_path("POST", "/v1/sessions/{external_id}/files", "session", {"command": "clear"}),
    in_path("POST", "/v1/sessions/{external_id}/files/view", "session", {"path": "/memories"}),
    in_path("GET", "/v1/sessions/{external_id}", "session"),
    in_path("PATCH", "/v1/sessions/{external_id}", "session", {"title": "Mine"}),
    in_path("DELETE", "/v1/sessions/{external_id}", "session"),
    in_path("POST", "/v1/sessions/{external_id}/clear", "session"),
    in_path("POST", "/v1/sessions/{external_id}/title", "session", {"replaces": "Mine"}),
    in_path("POST", "/v1/sessions/{external_id}/branch", "session", {"message_id": "{own message}"}),
    in_body(
        "POST",
        "/v1/sessions/{external_id}/branch",
        "message_id",
        {"message_id": "{id}"},
        asked="/v1/sessions/own-session/branch",
    ),
    in_path("POST", "/v1/sessions/{external_id}/messages", "session", ONE),
    in_path("POST", "/v1/sessions/{external_id}/messages/batch", "session", {"messages": [ONE, ONE]}),
    in_path("GET", "/v1/sessions/{external_id}/messages", "session"),
    in_query("GET", "/v1/sessions/{external_id}/messages", "before", "message"),
    in_query("GET", "/v1/sessions/{external_id}/messages", "around", "message"),
    # A list of nothing, without an error: a tab asks so for a session that may not exist.
    in_query("GET", "/v1/sessions", "external_id", "session")._replace(status=200, confined=200),
    in_path("DELETE", "/v1/messages/{message_id}", "message"),
    in_path("GET", "/org/projects/{project_id}", "project"),
    in_path("PATCH", "/org/projects/{project_id}", "project", {"name": "Mine"}),
    in_path("PATCH", "/org/projects/{project_id}", "project", {"is_default": True}, confined=403),
    in_path("PATCH", "/org/projects/{project_id}", "project", {"settings": {"system_prompt": "Mine."}}),
    in_path("DELETE", "/org/projects/{project_id}", "project", confined=403),
    *(
        Probe(
            "DELETE",
            "/org/projects/{project_id}",
            "path project_id",
            "project",
            f"/org/projects/{{id}}?contents=delete{dry_run}",
            confined=403,
        )
        for dry_run in ("", "&dry_run=true")
    ),
    in_path("POST", "/org/projects/{project_id}/retention", "project"),
    Probe(
        "POST",
        "/org/projects/{project_id}/retention",
        "path project_id",
        "project",
        "/org/projects/{id}/retention?dry_run=true&retention_days=30",
    ),
    Probe(
        "PATCH",
        "/org/projects/{project_id}",
        "path project_id",
        "project",
        "/org/projects/{id}?dry_run=true",
        {"settings": {"retention_days": 30}},
    ),
    in_path("GET", "/org/projects/{project_id}/sessions", "project"),
    in_path("DELETE", "/org/api-keys/{key_id}", "key", confined=403),
    in_path("GET", "/v1/sessions/{external_id}/memories", "session"),
    in_path("GET", "/v1/sessions/{external_id}/observations", "session"),
    in_path("POST", "/v1/sessions/{external_id}/extract", "session"),
    in_path("GET", "/v1/memories/{memory_id}", "memory"),
    in_path("PATCH", "/v1/memories/{memory_id}", "memory", {"content": "Mine."}),
    in_path("POST", "/v1/memories/{memory_id}/retract", "memory"),
    in_path("POST", "/v1/memories/{memory_id}/restore", "memory"),
    in_path("GET", "/v1/memories/{memory_id}/history", "memory"),
    in_path("DELETE", "/v1/memories/{memory_id}", "memory"),
    in_path("PATCH", "/v1/entities/{entity_id}", "entity", {"project_id": "{own project}"}),
    in_body(
        "PATCH", "/v1/entities/{entity_id}", "project_id", {"project_id": "{id}"}, asked="/v1/entities/{own entity}"
    ),
    in_path("GET", "/v1/entities/{entity_id}", "entity"),
    in_path("GET", "/v1/entities/{entity_id}/mentions", "entity"),
    in_path("PATCH", "/v1/entities/{entity_id}", "entity", {"name": "Mine"}),
    in_path("DELETE", "/v1/entities/{entity_id}", "entity"),
    in_path("POST", "/v1/entities/{entity_id}/merge", "entity", {"into": "{own entity}"}),
    in_path("POST", "/v1/entities/{entity_id}/split", "entity", {"aliases": ["Annie"]}),
    in_path("POST", "/v1/entities/{entity_id}/restore", "entity"),
    in_body(
        "POST", "/v1/entities/{entity_id}/merge", "into", {"into": "{id}"}, asked="/v1/entities/{own entity}/merge"
    )._replace(kind="entity"),
    in_body(
        "POST",
        "/v1/entities/{entity_id}/split",
        "message_ids",
        {"message_ids": ["{id}"], "name": "Annie"},
        asked="/v1/entities/{own entity}/split",
    )._replace(kind="message"),
    in_body("POST", "/v1/memories", "session_id", {"session_id": "{id}", "contents": ["Roses need water."]}),
    in_query("GET", "/v1/sessions/{external_id}/memories", "after", "memory"),
    in_query("GET", "/v1/users/{user_id}/memories", "after", "memory"),
    in_query("GET", "/v1/sessions/{external_id}/observations", "after", "observation"),
    in_path("GET", "/org/projects/{project_id}/profile", "project"),
    in_query("GET", "/v1/users/{user_id}/profile", "project_id", "project"),
    in_header("GET", "/v1/users/ada/profile"),
    in_query("GET", "/v1/memories", "project_id", "project"),
    in_header("GET", "/v1/memories"),
    in_path("GET", "/org/projects/{project_id}/timeline", "project"),
    in_header("GET", "/v1/users/ada/timeline"),
    in_path("GET", "/org/projects/{project_id}/activity", "project"),
    in_header("GET", "/v1/users/ada/activity"),
    in_query("GET", "/v1/entities", "project_id", "project"),
    in_query("GET", "/v1/entities", "after", "entity", "&project_id={own project}"),
    in_header("GET", "/v1/entities"),
    in_header("GET", "/v1/users/ada/memories"),
    in_header("DELETE", "/v1/users/ada"),
    in_header("POST", "/v1/memories", {"session_id": "own-session", "contents": ["Roses need water."]}),
    in_header("POST", "/v1/sessions/own-session/extract"),
    in_body("POST", "/v1/extract/preview", "project_id", {"messages": [ONE], "project_id": "{id}"}),
    in_header("POST", "/v1/extract/preview", {"messages": [ONE]}),
    in_path("GET", "/v1/chat/{external_id}/stream", "session"),
    in_path("POST", "/v1/chat/{external_id}/stop", "session"),
    in_body("POST", "/v1/chat/stream", "project_id", {**ASK, "project_id": "{id}"}),
    in_header("POST", "/v1/chat/stream", ASK),
    Probe(
        *("POST", "/v1/chat/stream", "body messageId", "message", "/v1/chat/stream"),
        {**ASK, "id": "own-session", "messageId": "{id}"},
    ),
    Probe(
        *("POST", "/v1/chat/stream", "body messageId", "message", "/v1/chat/stream"),
        {**ASK, "id": "own-session", "messageId": "{id}", "trigger": "regenerate-message"},
    ),
    in_header("POST", "/v1/chat/completions", {"messages": [ONE]}),
    in_header("POST", "/anthropic/v1/messages", {"model": "m", "max_tokens": 9, "messages": [ONE]}),
    in_body(
        "POST",
        "/v1/sessions/{external_id}/files/view",
        "project_id",
        {"path": "/memories", "project_id": "{id}"},
        asked="/v1/sessions/own-session/files/view",
    ),
    in_body(
        "POST",
        "/v1/sessions/{external_id}/files",
        "project_id",
        {"command": "clear", "project_id": "{id}"},
        asked="/v1/sessions/own-session/files",
    ),
    in_header("GET", "/v1/models"),
    in_header("GET", "/anthropic/v1/models"),
    in_header("POST", "/v1/embeddings", {"input": "Roses?"}),
    in_body("POST", "/v1/episodes", "session_id", TURN),
    in_body("POST", "/v1/context", "session_id", {"session_id": "{id}", "query": "roses"}),
    in_body("POST", "/v1/search", "session_id", {"session_id": "{id}", "query": "roses"}),
    in_body("POST", "/v1/search", "project_id", {"project_id": "{id}", "query": "roses"}),
    in_body("POST", "/v1/sessions", "project_id", {"external_id": "never", "project_id": "{id}"}),
    in_body(
        "PATCH", "/v1/sessions/{external_id}", "project_id", {"project_id": "{id}"}, asked="/v1/sessions/own-session"
    ),
    in_body("POST", "/org/api-keys", "project_id", {"name": "key", "project_id": "{id}"}, confined=403),
    in_query("GET", "/v1/sessions", "project_id", "project"),
    in_query("GET", "/v1/export", "id", "project", "&scope=project"),
    in_header("GET", "/v1/export?scope=project"),
    in_header("POST", "/v1/import", {"kind": "header"}),
    in_query("POST", "/v1/import/file", "project_id", "project")._replace(body={"role": "user", "content": "Roses."}),
    in_header("POST", "/v1/import/file?project_id=none", {"kind": "header"}),
    in_query("GET", "/v1/sessions/{external_id}/messages", "after", "message"),
    in_header("GET", "/org/projects"),
    in_header("GET", "/v1/sessions"),
    in_header("POST", "/v1/sessions", {"external_id": "never"}),
    in_header("POST", "/v1/search", {"query": "roses"}),
    in_header("PUT", "/langgraph/store/items", {"namespace": ["a"], "key": "k", "value": {}}),
    in_body(
        "POST", "/v1/entries/read", "project_id", {"project_id": "{id}", "operations": [{"op": "list_namespaces"}]}
    ),
    in_body(
        "POST", "/v1/entries/write", "project_id", {"project_id": "{id}", "operations": [{"op": "delete_expired"}]}
    ),
    in_header("GET", "/mem0/v1/ping/"),
    in_header("POST", "/mem0/v3/memories/add/", {"messages": "Roses.", "user_id": "ada", "infer": False}),
    in_header("POST", "/mem0/v3/memories/", {"filters": {"user_id": "ada"}}),
    in_header("POST", "/mem0/v3/memories/search/", {"query": "Roses?", "filters": {"user_id": "ada"}}),
    in_path("GET", "/mem0/v1/memories/{memory_id}/", "memory"),
    in_path("PUT", "/mem0/v1/memories/{memory_id}/", "memory", {"text": "Mine."}),
    in_path("DELETE", "/mem0/v1/memories/{memory_id}/", "memory"),
    in_path("GET", "/mem0/v1/memories/{memory_id}/history/", "memory"),
    in_body("PUT", "/mem0/v1/batch/", "memory_id", {"memories": [{"memory_id": "{id}", "text": "Mine."}]}),
    in_body("DELETE", "/mem0/v1/batch/", "memory_id", {"memories": [{"memory_id": "{id}"}]}),
    in_header("POST", "/v1/search", {"query": "roses", "session_id": "own-session"}),
    in_header("POST", "/v1/context", {"session_id": "own-session"}),
    in_header("POST", "/v1/sessions/own-session/messages", ONE),
    in_header("DELETE", "/v1/sessions/own-session"),
)


class Ids(NamedTuple):
    """One thing of each kind."""

    session: str
    message: str
    project: str
    key: str
    memory: str
    entity: str
    observation: str
    response: str
    receipt: str


class World(NamedTuple):
    engine: Engine
    ours: Tenant
    theirs: Tenant
    confined: Caller
    """Confined to the garden of ours, where `own-session` is."""
    own: Ids
    foreign: Ids
    neighbouring: Ids
    """In the kitchen of ours: foreign to who is confined to the garden."""
    deleted: Ids

    def state(self) -> list[Any]:
        """Every row that a refused request could have changed."""
        return [self.engine.dump(parse_tenant_id(tenant.tenant_id)) for tenant in (self.ours, self.theirs)]


def fill(tenant: Tenant, session: str, project: str) -> Ids:
    tenant.new_session(session, project_id=project, user_id="ada")
    message = tenant.say(session, "My neighbour Anna plays the cello.")["id"]
    assert tenant.admin.made(f"/v1/sessions/{session}/extract", None) == {"appended": 1, "checked_messages": 1}
    (memory,) = tenant.admin.everything(f"/v1/sessions/{session}/memories")
    (entity,) = tenant.admin.everything("/v1/entities", project_id=project, user_id="ada")
    key = tenant.admin.made("/org/api-keys", {"name": "a key", "project_id": project})["key_id"]
    return Ids(
        session=session,
        message=message,
        project=project,
        key=key,
        memory=memory["id"],
        entity=entity["id"],
        observation=note(tenant, session),
        response=tenant.admin.post("/v1/responses", {"input": "Roses?", "conversation": session}).json()["id"],
        receipt=tenant.admin.everything(f"/v1/sessions/{session}/messages")[-1]["id"].replace("msg_", "rcpt_"),
    )


def note(tenant: Tenant, session: str) -> str:
    """The first note of a session that has grown long enough to have any."""
    said = [{"role": "user", "content": f"In week {week} I planted peas in Lisbon."} for week in range(60)]
    tenant.admin.made(f"/v1/sessions/{session}/messages/batch", {"messages": said})
    tenant.admin.made(f"/v1/sessions/{session}/extract", None)
    return tenant.admin.everything(f"/v1/sessions/{session}/observations")[0]["id"]


def missing() -> Ids:
    return Ids(
        session="missing-session",
        message=format_message_id(message_id(SessionId(new_session_id()), 1)),
        project=format_project_id(new_project_id()),
        key=format_key_id(new_key_id()),
        memory=format_memory_id(new_memory_id()),
        entity=format_entity_id(new_entity_id()),
        observation=format_observation_id(new_observation_id()),
        response=f"resp_{new_observation_id():016x}",
        receipt=f"rcpt_{new_observation_id():016x}",
    )


@pytest.fixture(scope="module")
def world(either_engine: Engine, either_server: Server) -> World:
    ours, theirs = either_server.new_tenant(), either_server.new_tenant()
    garden = ours.new_project("Garden")
    own = fill(ours, "own-session", garden)
    deleted = fill(ours, "deleted-session", ours.new_project("Attic"))
    for path in (
        f"v1/memories/{deleted.memory}",
        f"v1/messages/{deleted.message}",
        f"v1/sessions/{deleted.session}",
        f"org/api-keys/{deleted.key}",
    ):
        assert ours.admin.delete(f"/{path}").status_code in (200, 204)
    assert ours.admin.delete(f"/org/projects/{deleted.project}").status_code == 200
    return World(
        engine=either_engine,
        ours=ours,
        theirs=theirs,
        own=own,
        confined=ours.with_key(project_id=garden, confined=True),
        foreign=fill(theirs, "foreign-session", theirs.new_project("Garden")),
        neighbouring=fill(ours, "kitchen-session", ours.new_project("Kitchen")),
        deleted=deleted,
    )


def test_every_place_of_an_id_has_its_probe(server: Server) -> None:
    assert server.services is not None
    assert places_of_ids(create_app(server.services)) == {
        (probe.method, probe.path, probe.place)
        for probe in PROBES
        # The routes for mem0's clients are not in the document in which these are looked up.
        if probe.place != "header" and not probe.path.startswith("/mem0/")
    }


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: f"{probe.method} {probe.asked} {probe.place}")
def test_a_foreign_id_reads_as_a_missing_one(world: World, probe: Probe) -> None:
    """ISO-4."""
    before = world.state()
    foreign, none, gone = (
        shown(probe, world, world.ours.admin, ids, probe.status) for ids in (world.foreign, missing(), world.deleted)
    )
    assert foreign == none == gone
    assert world.state() == before


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: f"{probe.method} {probe.asked} {probe.place}")
def test_a_confined_caller_cannot_tell_another_project_from_none(world: World, probe: Probe) -> None:
    """ISO-4, ORG-4."""
    before = world.state()
    foreign, none, gone, next_door = (
        shown(probe, world, world.confined, ids, probe.confined)
        for ids in (world.foreign, missing(), world.deleted, world.neighbouring)
    )
    assert foreign == none == gone == next_door
    assert world.state() == before


def shown(probe: Probe, world: World, caller: Caller, ids: Ids, status: int) -> tuple[Mapping[str, str], bytes]:
    name: str = getattr(ids, probe.kind)
    answer = probe.ask(caller, name, world.own)
    assert answer.status_code == status, answer.text
    headers = {header: value for header, value in answer.headers.items() if header not in RANDOM_HEADERS}
    # Anthropic's format repeats the id of the request in the body.
    request_id = answer.headers["x-request-id"].encode()
    return headers, answer.content.replace(name.encode(), b"{id}").replace(request_id, b"{request}")


@pytest.mark.parametrize("path", ["/v1/sessions", "/org/projects", "/org/api-keys"])
def test_a_cursor_of_another_tenant_is_as_one_of_nobody(world: World, path: str) -> None:
    cursor = world.theirs.admin.get(f"{path}?limit=1").json()["next_cursor"]
    if cursor is None:
        world.theirs.new_session("second-session")
        cursor = world.theirs.admin.get(f"{path}?limit=1").json()["next_cursor"]
    made_up = Listing("sessions", new_tenant_id()).encode(1_777_714_200_000_000, new_project_id())

    answers = [world.ours.admin.get(path, params={"cursor": given}) for given in (cursor, made_up)]

    assert answers[0].status_code == 422
    assert same(*answers)


def test_a_cursor_made_up_of_another_tenants_message_opens_nothing(world: World) -> None:
    """By who knows how a cursor is made, and for whom."""
    listing = Listing("messages", parse_tenant_id(world.ours.tenant_id), "own-session")
    answers = [
        world.ours.admin.get("/v1/sessions/own-session/messages", params={"cursor": listing.encode(int(name[4:], 16))})
        for name in (world.foreign.message, missing().message)
    ]
    assert answers[0].status_code == 422
    assert same(*answers)


def same(first: httpx2.Response, second: httpx2.Response) -> bool:
    def told(answer: httpx2.Response) -> Any:
        headers = {header: value for header, value in answer.headers.items() if header not in RANDOM_HEADERS}
        return answer.status_code, headers, answer.content

    return told(first) == told(second)


def places_of_ids(app: FastAPI) -> set[tuple[str, str, str]]:
    """Every parameter and field of a body by which a request names something that may be another's. A `user_id` names nothing:
    every user is one's own; nor does a model (`model_id`, `after_id`, `before_id`), or a `last_event_id`, which is sealed for its
    tenant (`tests/events`); a `tenant_id` only to the operator (`test_operator`)."""
    found: set[tuple[str, str, str]] = set()
    for method, path, operation, parameters in operations_of(app):
        for parameter in parameters:
            if parameter["name"] in ("after", "before", "around", "id") or (
                parameter["name"].endswith("_id")
                and parameter["name"]
                not in ("user_id", "last_event_id", "tenant_id", "model_id", "after_id", "before_id")
            ):
                found.add((method, path, f"{parameter['in']} {parameter['name']}"))
        for content in operation.get("requestBody", {}).get("content", {}).values():
            if "$ref" not in content["schema"]:
                continue  # lines of an archive: see `test_archive_isolation`
            name = content["schema"]["$ref"].rpartition("/")[2]
            fields = app.openapi()["components"]["schemas"][name]["properties"]
            named = (*ID_FIELDS, "id") if path.endswith("/exclusions") else ID_FIELDS
            found |= {(method, path, f"body {field}") for field in fields if field in named}
    return found
