"""Every route, asked by every kind of caller: the exact status, and nothing changed for who is refused.

A row aims at what lies in the garden, a project of the first tenant. A route without a row fails the first test here.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import pytest
from fastapi import FastAPI

from cloister.bootstrap import Services
from cloister.domain.context import RecallTerms
from cloister.domain.conversation import Draft, Message
from cloister.domain.extraction import ExtractedEntity
from cloister.domain.identifiers import (
    EntityId,
    KeyId,
    MessageId,
    ProjectId,
    ReceiptId,
    format_entity_id,
    format_key_id,
    format_memory_id,
    format_message_id,
    format_project_id,
)
from cloister.domain.keys import key_text, new_secret, parse_key
from cloister.domain.receipts.receipt import Receipt, Sent
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.dispatch.callers import need_of
from cloister.interfaces.http.mcp.errors import PATH as MCP
from cloister.interfaces.http.mem0.errors import is_mem0
from cloister.interfaces.http.openapi.error_formats import error_format
from cloister.services.chat.responses import format_response_id
from cloister.services.conversations.sessions import SessionFields
from cloister.services.lease import new_lease_number
from cloister.services.tenancy.api_keys import ApiKeys, KeyFields
from cloister.storage.interface import Transaction
from cloister.storage.stores.items import ResponseRow, ResponseStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.tenants import ProjectStore
from support.databases.engines import Engine
from support.servers.http_server import EVERYTHING, OPERATOR_KEY, Caller, Server, routes_of, serving

SESSION, USER = "in the garden", "ada"
DAY = 24 * 3_600 * 1_000_000
REFUSALS = {
    400: "project_required",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    422: "invalid_request",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class House:
    """A tenant with a garden and a kitchen; in the garden is a session with a message, and with a fact that was extracted."""

    services: Services
    reach: Reach
    garden: ProjectId
    kitchen: ProjectId
    message: str
    memory: str
    entity: str
    """Anna, who is also called Annie: a merge that can be undone."""
    other_entity: str
    response: str
    spare_key: KeyId

    @property
    def names(self) -> dict[str, str]:
        """What stands for the placeholders of a row."""
        return {
            "project_id": format_project_id(self.garden),
            "kitchen": format_project_id(self.kitchen),
            "external_id": SESSION,
            "user_id": USER,
            "message_id": self.message,
            "memory_id": self.memory,
            "entity_id": self.entity,
            "item_id": self.message,
            "response_id": self.response,
            "receipt_id": self.response.replace("resp_", "rcpt_"),
            "model_id": "recall-only",
            "other_entity": self.other_entity,
            "key_id": format_key_id(self.spare_key),
            "type": "run",
            "name": SESSION,
        }

    def key(self, *permissions: str, **fields: Any) -> str:
        made = KeyFields(name="caller", permissions=permissions or EVERYTHING, **fields)
        return self.services.api_keys.create(self.reach, made).text


def settle(services: Services, session: str = SESSION) -> House:
    tenant, _ = services.projects.create_tenant("Household")
    reach = Reach(tenant=tenant)
    garden = services.projects.create_project(reach, "Garden").id
    kitchen = services.projects.create_project(reach, "Kitchen").id
    services.sessions.create(reach, SessionFields(external_id=session, project=garden, user_id=USER))
    said = services.record.messages(
        reach,
        session,
        [
            Draft(role="user", content="The roses need water."),
            Draft(role="user", content="My neighbour Anna plays the cello."),
        ],
    )
    services.extraction.extract_now(reach, session)
    (memory,) = services.memories.of_session(reach, session, limit=9)
    (entity,) = services.entities.page(reach, garden, user_id=USER, limit=9)
    annie, berta = named(services, reach, garden, said.messages[0], "Annie", "Berta")
    services.entity_changes.merge(reach, annie, entity.id)
    return House(
        services=services,
        reach=reach,
        garden=garden,
        kitchen=kitchen,
        message=format_message_id(said.messages[0].id),
        memory=format_memory_id(memory.memory.id),
        entity=format_entity_id(entity.id),
        response=add_response(services, reach, session, said.messages[0].id),
        other_entity=format_entity_id(berta),
        spare_key=services.api_keys.create(reach, KeyFields(name="spare")).key.id,
    )


def add_response(services: Services, reach: Reach, session: str, question: MessageId) -> str:
    """A stored response of the session, to its first message and without output."""
    number = new_lease_number()
    body: dict[str, object] = {
        "echo": {},
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "finish_reason": "stop",
        "usage": None,
        "output": [],
        "messages": [],
    }
    row = ResponseRow(
        session=session,
        question=question,
        reply=None,
        owns_messages=False,
        body=json.dumps(body),
    )
    stored = services.sessions.get(reach, session)
    terms = RecallTerms(
        pool=stored.pool, version=1, project=stored.project, user=USER, asked_at=1, floor=0.2, question="Roses?"
    )
    sent = Sent(prompt="default", template=None, placeholders=(), parts=())
    receipt = Receipt(kind="context", created_at=1, terms=terms, items=(), left_out={}, tokens=0, sent=sent)

    def work(transaction: Transaction) -> None:
        ResponseStore(transaction).add(number, stored.id, row)
        ReceiptStore(transaction).add(ReceiptId(number), receipt, session=stored.id, question=question)

    services.database.write(reach, work)
    return format_response_id(number)


def named(services: Services, reach: Reach, garden: ProjectId, message: Message, *names: str) -> list[EntityId]:
    """The entities of these names, which the message is said to mention."""
    found = [ExtractedEntity(name=name, type="person", notes="", sources=(message.id,)) for name in names]

    def work(transaction: Transaction) -> None:
        project = ProjectStore(transaction).get(garden)
        services.entities.mention(transaction, project, USER, message.session, found)

    services.database.write(reach, work)
    there = {one.name: one.id for one in services.entities.page(reach, garden, user_id=USER, limit=9)}
    return [there[name] for name in names]


def misspelt(house: House) -> str:
    return house.key()[:-1] + "_"


def unknown(house: House) -> str:
    """Of the right form, of the right tenant, and of nobody."""
    return key_text(house.reach.tenant, KeyId(now()), new_secret())


def guessed(house: House) -> str:
    """The name of a key that there is, with another secret."""
    known = parse_key(house.key())
    assert known is not None
    return key_text(known.tenant, known.key, new_secret())


def revoked(house: House) -> str:
    """Beside another: the last admin key of a tenant cannot be revoked."""
    text = house.key()
    house.key()
    parsed = parse_key(text)
    assert parsed is not None
    house.services.api_keys.revoke(house.reach, parsed.key)
    return text


def expired(house: House) -> str:
    yesterday = ApiKeys(house.services.database, house.services.projects, lambda: now() - DAY)
    return yesterday.create(house.reach, KeyFields(name="caller", expires_at=now() - DAY // 2)).text


# Who calls, by the key that they hold. Those before the reader have none that opens anything.
CALLERS: dict[str, Callable[[House], str | None]] = {
    "none": lambda house: None,
    "misspelt": misspelt,
    "unknown": unknown,
    "guessed": guessed,
    "revoked": revoked,
    "expired": expired,
    "operator": lambda house: OPERATOR_KEY,
    "reader": lambda house: house.key("read"),
    "writer": lambda house: house.key("write"),
    "admin": lambda house: house.key("admin"),
    "stranger": lambda house: settle(house.services, "in a garden far away").key(),
    "pinned elsewhere": lambda house: house.key(project=house.kitchen),
    "confined here": lambda house: house.key(project=house.garden, confined=True),
    "confined elsewhere": lambda house: house.key(project=house.kitchen, confined=True),
}
KEYLESS = list(CALLERS)[: list(CALLERS).index("reader")]
KEYED = list(CALLERS)[len(KEYLESS) :]


class Row(NamedTuple):
    """`statuses` are those of the callers from the reader on, in their order. The ids in `path` are those of the house."""

    method: str
    path: str
    statuses: str
    body: Any = None
    in_garden: bool = False
    """Whether the garden is named in X-Project-ID."""

    def sent(self, house: House) -> Any:
        """The body, with the ids of the house."""
        if self.body is None:
            return None
        return {
            field: value.format(**house.names) if isinstance(value, str) else value
            for field, value in self.body.items()
        }


ONE = {"role": "user", "content": "And the beans."}
TURN = {"session_id": SESSION, "user_message": "And the beans?", "ai_response": "Those too."}
ASK = {"id": SESSION, "messages": [{"role": "user", "parts": [{"type": "text", "text": "And the beans?"}]}]}
RESPOND = {"input": "And the beans?"}
ITEMS = {"items": [ONE, {"type": "function_call", "call_id": "c", "name": "water", "arguments": "{}"}]}
ADD = {"messages": "My cousin Ines lives in Porto.", "agent_id": "guide"}
OF_GUIDE = {"filters": {"agent_id": "guide"}}
MISSING = {"memory_id": "mem_0000000000000001"}
ENTRY = {"namespace": ["notes"], "key": "beans", "value": {"text": "Beans need water."}}
LISTING = {"operations": [{"op": "list_namespaces"}]}
PUT = {"operations": [{"op": "put", **ENTRY}]}
COMPLETE = {"messages": [{"role": "user", "content": "And the beans?"}]}
CREATE = {**COMPLETE, "model": "m", "max_tokens": 100}
COUNT = {**COMPLETE, "model": "m"}
CREATE_FILE = {"command": "create", "path": "/memories/beans.txt", "file_text": "Those too."}
MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ROWS = (
    #                                                         reader, writer, admin,
    #                                                         stranger, pinned elsewhere, confined here, confined elsewhere
    Row("GET", "/org/projects", "200 403 200 200 200 200 200"),
    Row("POST", "/org/projects", "403 403 201 201 201 403 403", {"name": "Cellar"}),
    Row("GET", "/org/projects/{project_id}", "200 403 200 404 200 200 404"),
    Row("PATCH", "/org/projects/{project_id}", "403 403 200 404 200 200 404", {"name": "Orchard"}),
    Row("PATCH", "/org/projects/{project_id}", "403 403 200 404 200 403 403", {"is_default": True}),
    Row("DELETE", "/org/projects/{project_id}", "403 403 200 404 200 403 403"),
    Row("DELETE", "/org/projects/{project_id}?contents=delete", "403 403 200 404 200 403 403"),
    Row("DELETE", "/org/projects/{project_id}?contents=delete&dry_run=true", "403 403 200 404 200 403 403"),
    Row("GET", "/org/projects/{project_id}/sessions", "200 403 200 404 200 200 404"),
    Row("GET", "/org/api-keys", "403 403 200 200 200 403 403"),
    Row("POST", "/org/api-keys", "403 403 201 201 201 403 403", {"name": "another"}),
    Row("DELETE", "/org/api-keys/{key_id}", "403 403 204 404 204 403 403"),
    Row("GET", "/org/projects/{project_id}/profile", "200 403 200 404 200 200 404"),
    Row("GET", "/v1/users/{user_id}/profile", "200 403 200 200 200 200 200"),
    Row("GET", "/v1/users/{user_id}/profile?project_id=none", "200 403 200 200 200 403 403"),
    Row("GET", "/v1/users/{user_id}/profile?project_id={project_id}", "200 403 200 404 200 200 404"),
    Row("GET", "/v1/users/{user_id}/profile", "200 403 200 404 200 200 403", in_garden=True),
    Row("GET", "/org/settings", "403 403 200 200 200 403 403"),
    Row("PATCH", "/org/settings", "403 403 200 200 200 403 403", {"retention_days": 30}),
    Row("PATCH", "/org/settings", "403 403 200 200 200 403 403", {"receipt_days": 30}),
    Row("POST", "/org/retention", "403 403 200 200 200 403 403"),
    Row("POST", "/org/retention?dry_run=true", "403 403 200 200 200 403 403"),
    Row("POST", "/org/retention", "403 403 422 404 422 422 403", in_garden=True),
    Row("POST", "/org/projects/{project_id}/retention", "403 403 200 404 200 200 404"),
    Row("POST", "/org/projects/{project_id}/retention?dry_run=true", "403 403 200 404 200 200 404"),
    Row("GET", "/org/usage", "200 403 200 200 200 403 403"),
    Row("POST", "/org/model/test", "403 403 200 200 200 200 200"),
    Row("POST", "/v1/sessions", "403 201 201 201 201 201 201", {"external_id": "new"}),
    Row("POST", "/v1/sessions", "403 201 201 404 201 201 403", {"external_id": "new"}, in_garden=True),
    Row("POST", "/v1/sessions", "403 201 201 201 201 403 403", {"external_id": "new", "project_id": None}),
    Row("POST", "/v1/sessions", "403 409 409 201 409 409 404", {"external_id": SESSION}),
    Row("GET", "/v1/sessions", "200 403 200 200 200 200 200"),
    Row("GET", "/v1/sessions", "200 403 200 404 200 200 403", in_garden=True),
    Row("GET", "/v1/sessions/{external_id}", "200 403 200 404 200 200 404"),
    Row("PATCH", "/v1/sessions/{external_id}", "403 200 200 404 200 200 404", {"title": "Roses"}),
    Row("PATCH", "/v1/sessions/{external_id}", "403 200 200 404 200 403 404", {"project_id": None}),
    Row("DELETE", "/v1/sessions/{external_id}", "403 200 200 404 200 200 404"),
    Row("POST", "/v1/sessions/{external_id}/clear", "403 200 200 404 200 200 404"),
    Row("POST", "/v1/sessions/{external_id}/branch", "403 403 200 404 200 200 404", {"message_id": "{message_id}"}),
    Row("POST", "/v1/sessions/{external_id}/title", "403 403 409 404 409 409 404", {"replaces": "Roses"}),
    Row("POST", "/v1/sessions/{external_id}/messages", "403 201 201 404 201 201 404", ONE),
    Row("POST", "/v1/sessions/{external_id}/messages/batch", "403 201 201 404 201 201 404", {"messages": [ONE, ONE]}),
    Row("GET", "/v1/sessions/{external_id}/messages", "200 403 200 404 200 200 404"),
    Row("DELETE", "/v1/messages/{message_id}", "403 200 200 404 200 200 404"),
    Row("POST", "/v1/episodes", "403 201 201 404 201 201 404", TURN),
    # A whole audit is in `test_audit.py`; here each caller sends a project, which an audit refuses.
    Row("POST", "/v1/audit", "403 403 422 404 422 403 403", in_garden=True),
    Row("GET", "/v1/sessions/{external_id}/memories", "200 403 200 404 200 200 404"),
    Row(
        "POST",
        "/v1/memories",
        "403 201 201 404 201 201 404",
        {"session_id": SESSION, "contents": ["Beans need water."]},
    ),
    Row("GET", "/v1/memories", "200 403 200 200 200 200 200"),
    Row("GET", "/v1/memories", "200 403 200 404 200 200 403", in_garden=True),
    Row("GET", "/v1/memories?project_id={project_id}", "200 403 200 404 200 200 404"),
    Row("GET", "/v1/memories?project_id=none", "200 403 200 200 200 403 403"),
    Row("GET", "/v1/memories?project_id={project_id}&users=all", "403 403 200 404 200 200 404"),
    Row("GET", "/org/projects/{project_id}/timeline", "200 403 200 404 200 200 404"),
    Row("GET", "/org/projects/{project_id}/timeline?users=all", "403 403 200 404 200 200 404"),
    Row("GET", "/v1/users/{user_id}/timeline", "403 403 200 200 200 200 200"),
    Row("GET", "/v1/users/{user_id}/timeline", "403 403 200 404 200 200 403", in_garden=True),
    Row("GET", "/org/projects/{project_id}/activity", "200 403 200 404 200 200 404"),
    Row("GET", "/org/projects/{project_id}/activity?users=all", "403 403 200 404 200 200 404"),
    Row("GET", "/v1/users/{user_id}/activity", "403 403 200 200 200 200 200"),
    Row("GET", "/v1/users/{user_id}/activity", "403 403 200 404 200 200 403", in_garden=True),
    Row("GET", "/v1/memories/{memory_id}", "200 403 200 404 200 200 404"),
    Row("PATCH", "/v1/memories/{memory_id}", "403 403 200 404 200 200 404", {"pinned": True}),
    Row("POST", "/v1/memories/{memory_id}/retract", "403 403 200 404 200 200 404"),
    Row("POST", "/v1/memories/{memory_id}/restore", "403 403 409 404 409 409 404"),
    Row("GET", "/v1/memories/{memory_id}/history", "200 403 200 404 200 200 404"),
    Row("DELETE", "/v1/memories/{memory_id}", "403 200 200 404 200 200 404"),
    Row("GET", "/v1/users/{user_id}/memories", "403 403 200 200 200 200 200"),
    Row("GET", "/v1/users/{user_id}/memories", "403 403 200 404 200 200 403", in_garden=True),
    Row("DELETE", "/v1/users/{user_id}", "403 403 200 200 200 403 403"),
    Row("DELETE", "/v1/users/{user_id}?dry_run=true", "403 403 200 200 200 403 403"),
    Row("DELETE", "/v1/users/{user_id}", "403 403 422 404 422 422 403", in_garden=True),
    Row("GET", "/v1/export", "403 403 200 200 200 403 403"),
    Row("GET", "/v1/export", "403 403 422 404 422 422 403", in_garden=True),
    Row("GET", "/v1/export?scope=project&id={project_id}", "403 403 200 404 200 200 404"),
    Row("GET", "/v1/export?scope=project", "403 403 200 404 200 200 403", in_garden=True),
    Row("GET", "/v1/export?scope=user&id={user_id}", "403 403 200 200 200 403 403"),
    # It takes lines, not an object: see test_archives.py for what is in them.
    Row("POST", "/v1/import", "403 403 422 422 422 422 422", {"kind": "header"}),
    Row("POST", "/v1/import", "403 403 422 404 422 422 403", {"kind": "header"}, in_garden=True),
    Row("POST", "/v1/import/file?project_id={project_id}", "403 403 422 404 422 422 404", {"kind": "header"}),
    Row("POST", "/v1/import/file?project_id={project_id}&dry_run=true", "403 403 200 404 200 200 404", ONE),
    Row("GET", "/v1/entities", "400 403 400 400 200 200 200"),
    Row("GET", "/v1/entities", "200 403 200 404 200 200 403", in_garden=True),
    Row("PATCH", "/v1/entities/{entity_id}", "403 403 200 404 200 200 404", {"project_id": "{project_id}"}),
    Row(
        "PATCH", "/v1/entities/{entity_id}", "403 403 200 404 200 404 404", {"project_id": "{kitchen}", "user_id": None}
    ),
    Row("GET", "/v1/entities/{entity_id}", "200 403 200 404 200 200 404"),
    Row("GET", "/v1/entities/{entity_id}/mentions", "200 403 200 404 200 200 404"),
    Row("PATCH", "/v1/entities/{entity_id}", "403 403 200 404 200 200 404", {"name": "Anna Berg"}),
    Row("DELETE", "/v1/entities/{entity_id}", "403 200 200 404 200 200 404"),
    Row("POST", "/v1/entities/{entity_id}/merge", "403 403 200 404 200 200 404", {"into": "{other_entity}"}),
    Row("POST", "/v1/entities/{entity_id}/split", "403 403 200 404 200 200 404", {"aliases": ["Annie"]}),
    Row("POST", "/v1/entities/{entity_id}/restore", "403 403 200 404 200 200 404"),
    Row("POST", "/v1/sessions/{external_id}/extract", "403 200 200 404 200 200 404"),
    Row("POST", "/v1/extract/preview", "403 403 200 200 200 200 200", {"messages": [ONE]}),
    Row("POST", "/v1/extract/preview", "403 403 200 404 200 200 403", {"messages": [ONE]}, in_garden=True),
    Row(
        "POST", "/v1/extract/preview", "403 403 200 404 200 200 404", {"messages": [ONE], "project_id": "{project_id}"}
    ),
    Row("POST", "/v1/extract/preview", "403 403 200 200 200 403 403", {"messages": [ONE], "project_id": None}),
    Row("GET", "/v1/sessions/{external_id}/observations", "200 403 200 404 200 200 404"),
    Row("GET", "/v1/events", "200 403 200 200 200 200 200"),
    Row("GET", "/v1/events", "200 403 200 404 200 200 403", in_garden=True),
    Row("POST", "/v1/chat/stream", "403 403 200 200 200 200 404", ASK),
    Row("POST", "/v1/chat/stream", "403 403 200 404 200 200 403", ASK, in_garden=True),
    Row("POST", "/v1/chat/stream", "403 403 200 404 200 200 404", {**ASK, "messageId": "{message_id}"}),
    Row("POST", "/v1/chat/stream", "403 403 200 404 200 200 404", {**ASK, "id": "new", "project_id": "{project_id}"}),
    Row("POST", "/v1/chat/stream", "403 403 409 200 409 409 403", {**ASK, "project_id": None}),
    Row("GET", "/v1/chat/{external_id}/stream", "204 403 204 404 204 204 404"),
    Row("POST", "/v1/chat/{external_id}/stop", "403 403 200 404 200 200 404"),
    Row("POST", "/v1/chat/completions", "403 403 200 200 200 200 200", COMPLETE),
    Row("POST", "/v1/chat/completions", "403 403 200 404 200 200 403", COMPLETE, in_garden=True),
    Row(
        "POST", "/v1/chat/completions", "403 403 200 200 200 200 404", {**COMPLETE, "metadata": {"session_id": SESSION}}
    ),
    Row("POST", "/mcp", "200 403 200 200 200 200 200", MESSAGE),
    Row("POST", "/mcp", "200 403 200 404 200 200 403", MESSAGE, in_garden=True),
    Row("POST", "/anthropic/v1/messages", "403 403 200 200 200 200 200", CREATE),
    Row("POST", "/anthropic/v1/messages", "403 403 200 404 200 200 403", CREATE, in_garden=True),
    # Without a model's server nothing counts tokens.
    Row("POST", "/anthropic/v1/messages/count_tokens", "404 403 404 404 404 404 404", COUNT),
    Row("GET", "/anthropic/v1/models", "200 403 200 200 200 200 200"),
    Row("GET", "/anthropic/v1/models/{model_id}", "200 403 200 200 200 200 200"),
    Row("POST", "/v1/responses", "403 403 200 200 200 200 200", RESPOND),
    Row("POST", "/v1/responses", "403 403 200 200 200 200 200", {**RESPOND, "store": False}),
    Row("POST", "/v1/responses", "403 403 200 404 200 200 403", RESPOND, in_garden=True),
    Row("POST", "/v1/responses", "403 403 200 404 200 200 404", {**RESPOND, "conversation": SESSION}),
    Row("POST", "/v1/responses", "403 403 200 404 200 200 404", {**RESPOND, "conversation": SESSION, "store": False}),
    Row("POST", "/v1/responses", "403 403 200 404 200 200 404", {**RESPOND, "previous_response_id": "{response_id}"}),
    Row("GET", "/v1/responses/{response_id}", "200 403 200 404 200 200 404"),
    Row("DELETE", "/v1/responses/{response_id}", "403 200 200 404 200 200 404"),
    Row("POST", "/v1/conversations", "403 200 200 200 200 200 200", ITEMS),
    Row("POST", "/v1/conversations", "403 200 200 404 200 200 403", ITEMS, in_garden=True),
    Row("GET", "/v1/conversations/{external_id}", "200 403 200 404 200 200 404"),
    Row("POST", "/v1/conversations/{external_id}", "403 200 200 404 200 200 404", {"metadata": {"a": "b"}}),
    Row("DELETE", "/v1/conversations/{external_id}", "403 200 200 404 200 200 404"),
    Row("GET", "/v1/conversations/{external_id}/items", "200 403 200 404 200 200 404"),
    Row("POST", "/v1/conversations/{external_id}/items", "403 200 200 404 200 200 404", ITEMS),
    Row("GET", "/v1/conversations/{external_id}/items/{item_id}", "200 403 200 404 200 200 404"),
    Row("DELETE", "/v1/conversations/{external_id}/items/{item_id}", "403 200 200 404 200 200 404"),
    Row("GET", "/v1/sessions/{external_id}/items", "200 403 200 404 200 200 404"),
    Row("POST", "/v1/sessions/{external_id}/items", "403 200 200 404 200 200 404", ITEMS),
    Row("DELETE", "/v1/sessions/{external_id}/items/{item_id}", "403 204 204 404 204 204 404"),
    Row("POST", "/v1/memory-tool", "200 403 200 200 200 200 200", {}),
    Row("POST", "/v1/memory-tool", "200 403 200 404 200 200 403", {}, in_garden=True),
    Row("POST", "/v1/sessions/{external_id}/files", "403 403 200 404 200 200 404", CREATE_FILE),
    Row("POST", "/v1/sessions/{external_id}/files/view", "200 403 200 404 200 200 404", {"path": "/memories"}),
    Row("GET", "/v1/models", "200 403 200 200 200 200 200"),
    Row("GET", "/v1/models/{model_id}", "200 403 200 200 200 200 200"),
    Row("POST", "/v1/embeddings", "200 403 200 200 200 200 200", {"input": "The roses need water."}),
    Row("POST", "/v1/context", "200 403 200 404 200 200 404", {"session_id": SESSION}),
    Row("GET", "/v1/receipts/{receipt_id}", "200 403 200 404 200 200 404"),
    Row("GET", "/v1/sessions/{external_id}/exclusions", "200 403 200 404 200 200 404"),
    Row(
        *("POST", "/v1/sessions/{external_id}/exclusions", "403 403 200 404 200 200 404"),
        {"kind": "message", "id": "{message_id}"},
    ),
    Row("DELETE", "/v1/sessions/{external_id}/exclusions/{item_id}", "403 403 404 404 404 404 404"),
    Row("GET", "/v1/receipts/{receipt_id}/prompt", "200 403 200 404 200 200 404"),
    Row(
        *("POST", "/v1/explain", "200 403 200 404 200 200 404"),
        {"session_id": SESSION, "query": "Roses?", "message_id": "{message_id}"},
    ),
    Row(
        *("POST", "/v1/explain", "200 403 200 404 200 200 404"),
        {"receipt_id": "{receipt_id}", "message_id": "{message_id}"},
    ),
    Row("POST", "/v1/search", "400 403 400 400 200 200 200", {"query": "roses"}),
    Row("POST", "/v1/search", "200 403 200 404 200 200 403", {"query": "roses"}, in_garden=True),
    Row("POST", "/v1/search", "200 403 200 404 200 200 404", {"query": "roses", "session_id": SESSION}),
    Row("POST", "/v1/search", "200 403 200 200 200 403 403", {"query": "roses", "project_id": None}),
    Row("PUT", "/langgraph/store/items", "403 204 204 204 204 204 204", ENTRY),
    Row("PUT", "/langgraph/store/items", "403 204 204 404 204 204 403", ENTRY, in_garden=True),
    Row("GET", "/langgraph/store/items?namespace=notes&key=beans", "200 403 200 200 200 200 200"),
    Row("DELETE", "/langgraph/store/items", "403 204 204 204 204 204 204", {"namespace": ["notes"], "key": "beans"}),
    Row("POST", "/langgraph/store/items/search", "200 403 200 200 200 200 200", {"namespace_prefix": []}),
    Row("POST", "/langgraph/store/namespaces", "200 403 200 404 200 200 403", {"limit": 5}, in_garden=True),
    Row("POST", "/v1/entries/read", "200 403 200 404 200 200 404", {"project_id": "{project_id}", **LISTING}),
    Row("POST", "/v1/entries/read", "200 403 200 200 200 403 403", {"project_id": None, **LISTING}),
    Row("POST", "/v1/entries/write", "403 200 200 404 200 200 404", {"project_id": "{project_id}", **PUT}),
    Row("GET", "/mem0/v1/ping/", "200 200 200 200 200 200 200"),
    Row("GET", "/mem0/v1/ping/", "200 200 200 404 200 200 403", in_garden=True),
    Row("POST", "/mem0/v3/memories/add/", "403 200 200 200 200 200 200", ADD),
    Row("POST", "/mem0/v3/memories/add/", "403 200 200 404 200 200 403", {**ADD, "infer": False}, in_garden=True),
    Row("POST", "/mem0/v3/memories/search/", "200 403 200 404 200 200 403", {"query": "?", **OF_GUIDE}, in_garden=True),
    Row("POST", "/mem0/v3/memories/", "200 403 200 404 200 200 403", OF_GUIDE, in_garden=True),
    Row("DELETE", "/mem0/v1/memories/?agent_id=guide", "403 200 200 404 200 200 403", in_garden=True),
    Row("GET", "/mem0/v1/memories/{memory_id}/", "404 403 404 404 404 200 404"),
    Row("GET", "/mem0/v1/memories/{memory_id}/", "200 403 200 404 200 200 403", in_garden=True),
    Row("PUT", "/mem0/v1/memories/{memory_id}/", "403 403 200 404 200 200 403", {"text": "Mine."}, in_garden=True),
    Row("DELETE", "/mem0/v1/memories/{memory_id}/", "403 200 200 404 200 200 403", in_garden=True),
    Row("GET", "/mem0/v1/memories/{memory_id}/history/", "200 403 200 404 200 200 403", in_garden=True),
    Row("PUT", "/mem0/v1/batch/", "403 403 404 404 404 404 403", {"memories": [{**MISSING, "text": "x"}]}, True),
    Row("DELETE", "/mem0/v1/batch/", "403 404 404 404 404 404 403", {"memories": [MISSING]}, in_garden=True),
    Row("GET", "/mem0/v1/entities/", "200 403 200 404 200 200 403", in_garden=True),
    Row("DELETE", "/mem0/v1/entities/{type}/{name}/", "403 200 200 404 200 200 403", in_garden=True),
    Row("DELETE", "/mem0/v2/entities/{type}/{name}/", "403 200 200 200 200 200 200"),
    Row("POST", "/console/links", "200 403 200 200 200 200 200"),
    Row("GET", "/console/session", "200 403 200 200 200 200 200"),
)
# What anybody may ask, with any key or none.
OPEN = {
    ("GET", "/livez"): 200,
    ("GET", "/readyz"): 200,
    ("GET", "/metrics"): 200,
    ("GET", "/openapi.json"): 200,
    ("GET", "/docs"): 200,
    ("POST", "/console/sign-in"): 422,
    ("POST", "/console/sign-out"): 204,
}
OPERATORS = {
    ("GET", "/operator/tenants"),
    ("POST", "/operator/tenants"),
    ("DELETE", "/operator/tenants/{tenant_id}"),
    ("POST", "/operator/tenants/{tenant_id}/keys"),
    ("POST", "/operator/audit"),
}


def test_every_route_has_its_row(server: Server) -> None:
    """ISO-4. Every method of every route, and no row is left over."""
    assert server.services is not None
    assert {(row.method, row.path.partition("?")[0]) for row in ROWS} | OPEN.keys() | OPERATORS == routes_of(
        create_app(server.services)
    )


def marked(row: Row) -> str:
    mark = " in the garden" if row.in_garden else f" {sorted(row.body)}" if row.body else ""
    return f"{row.method} {row.path}{mark}"


@pytest.mark.parametrize("row", ROWS, ids=marked)
def test_each_caller_gets_exactly_this_status(server: Server, shared_engine: Engine, row: Row) -> None:
    """ISO-4, ORG-3, ORG-4, ORG-8. Those who change nothing share a house, and leave it as it was."""
    assert server.services is not None
    statuses = [*(401 for _ in KEYLESS), *map(int, row.statuses.split())]
    expected = dict(zip(CALLERS, statuses, strict=True))
    quiet = [who for who in CALLERS if expected[who] >= 400 or who == "stranger" or row.method == "GET"]
    house = settle(server.services)
    keys = {caller: CALLERS[caller](house) for caller in quiet}
    before = shared_engine.dump(house.reach.tenant)
    given = {caller: status_of(row, house, called(server, keys[caller])) for caller in quiet}
    assert shared_engine.dump(house.reach.tenant) == before
    for caller in CALLERS.keys() - quiet:
        house = settle(server.services)
        given[caller] = status_of(row, house, called(server, CALLERS[caller](house)))
    assert given == expected


@pytest.mark.parametrize("user", [USER, "bob"])
@pytest.mark.parametrize("row", ROWS, ids=marked)
def test_a_key_bound_to_a_user_reaches_that_users_sessions_only(
    server: Server, shared_engine: Engine, row: Row, user: str
) -> None:
    """ORG-10. Of its own user it may do what any key with its permissions may; of another there is nothing."""
    assert server.services is not None
    expected = bound_status(row, user, create_app(server.services))
    house = settle(server.services)
    asking = called(server, house.key("read", "write", user_id=user))
    before = shared_engine.dump(house.reach.tenant)
    assert status_of(row, house, asking) == expected
    if expected >= 400:
        assert shared_engine.dump(house.reach.tenant) == before


def bound_status(row: Row, user: str, app: FastAPI) -> int:
    routes = [cast(Any, route) for route in app.routes]
    needs = {(method, route.path): need_of(route.endpoint) for route in routes for method in route.methods}
    if needs[row.method, row.path.partition("?")[0]] == "admin" or row.path == "/org/usage" or "users=all" in row.path:
        return 403
    if user != USER and "/profile" in row.path and "{user_id}" in row.path:
        return 403
    if row.path.startswith("/v1/export"):
        return (
            200
            if "scope=user" in row.path and user == USER
            else 403
            if not row.in_garden or "project" in row.path
            else 422
        )
    body = cast(dict[str, Any], row.body or {})
    named = [value for value in body.values() if isinstance(value, str)]
    named += body.get("metadata", {}).values()
    ids = ("{external_id}", "{message_id}", "{memory_id}", "{entity_id}", "{response_id}", "{receipt_id}")
    names = (SESSION, "{response_id}", "{receipt_id}")
    if user != USER and (any(name in named for name in names) or any(part in row.path for part in ids)):
        return 404
    return int(row.statuses.split()[KEYED.index("admin")])


def status_of(row: Row, house: House, asking: Caller) -> int:
    """Of an answer that is formed as it should be."""
    answer = asking.begun(
        row.method,
        row.path.format(**house.names),
        json=row.sent(house),
        headers={"X-Project-ID": format_project_id(house.garden)} if row.in_garden else {},
    )
    status = answer.status_code
    if status >= 400:
        has_own_format = error_format(row.path) is not None or row.path == MCP
        said = answer.json()["error"] if has_own_format else answer.json()
        said = said["data"] if row.path == MCP else said
        kind = "application/json" if has_own_format or is_mem0(row.path) else "application/problem+json"
        assert answer.headers["content-type"] == kind
        assert said["code"] == REFUSALS[status], answer.text
        assert answer.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)
    return status


SEEN = {
    "admin": ["The user's neighbour Anna plays the cello.", "Salt is in the kitchen."],
    "stranger": ["The user's neighbour Anna plays the cello."],
    "pinned elsewhere": ["Salt is in the kitchen."],
    "confined here": ["The user's neighbour Anna plays the cello."],
    "confined elsewhere": ["Salt is in the kitchen."],
}


@pytest.mark.parametrize("caller", SEEN)
def test_a_users_memories_are_those_of_the_project_that_the_caller_means(server: Server, caller: str) -> None:
    """MEM-8, ISO-4, ORG-4: a confined key sees its project's alone, a pinned one those of its own; a stranger has another Ada."""
    assert server.services is not None
    house = settle(server.services)
    server.services.sessions.create(
        house.reach, SessionFields(external_id="in the kitchen", project=house.kitchen, user_id=USER)
    )
    server.services.memories.add(house.reach, "in the kitchen", ["Salt is in the kitchen."])
    found = called(server, CALLERS[caller](house)).everything(f"/v1/users/{USER}/memories")
    assert [memory["content"] for memory in found] == SEEN[caller]


@pytest.mark.parametrize("caller", CALLERS)
def test_what_is_open_is_open_to_all(server: Server, caller: str) -> None:
    assert server.services is not None
    asking = called(server, CALLERS[caller](settle(server.services)))
    for (method, path), status in OPEN.items():
        answer = asking.request(method, path)
        assert (method, path, answer.status_code) == (method, path, status)


@pytest.mark.parametrize("caller", CALLERS)
def test_only_the_operator_makes_tenants(server: Server, shared_engine: Engine, caller: str) -> None:
    assert server.services is not None
    asking = called(server, CALLERS[caller](settle(server.services)))
    tenants = shared_engine.rows("SELECT count(*) FROM tenant")

    answer = asking.post("/operator/tenants", {"name": "New"})

    if caller == "operator":
        assert answer.status_code == 201
        assert sorted(answer.json()) == ["admin_key", "default_project_id", "name", "tenant_id"]
        return
    status = 403 if caller in KEYED else 401
    assert (answer.status_code, answer.json()["code"]) == (status, REFUSALS[status])
    assert answer.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)
    assert shared_engine.rows("SELECT count(*) FROM tenant") == tenants


def test_a_server_without_an_operator_key_has_no_operator(engine: Engine) -> None:
    services = engine.services()
    house = settle(services)
    with serving(services, operator_key=None) as server:
        for key in CALLERS.values():
            answer = called(server, key(house)).post("/operator/tenants", {"name": "New"})
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def called(server: Server, key: str | None) -> Caller:
    return server.nobody if key is None else server.caller(key)
