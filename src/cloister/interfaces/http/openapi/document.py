"""The OpenAPI document: adds permissions, errors, links and examples to what FastAPI generates from the routes.

What many routes share is described here once, so that the routes themselves stay short.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from cloister.interfaces.http.audit.examples import AUDIT_EXAMPLES
from cloister.interfaces.http.certificates.examples import CERTIFICATE_EXAMPLES
from cloister.interfaces.http.dispatch.callers import Need, need_of
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.listing.examples import LISTING_EXAMPLES
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.openapi.anthropic_examples import ANTHROPIC_EXAMPLES
from cloister.interfaces.http.openapi.archive_examples import ARCHIVE_EXAMPLES
from cloister.interfaces.http.openapi.entity_examples import ENTITY_EXAMPLES
from cloister.interfaces.http.openapi.entry_examples import ENTRY_EXAMPLES
from cloister.interfaces.http.openapi.error_formats import ErrorFormat, error_format, error_schemas
from cloister.interfaces.http.openapi.examples import EXAMPLES, OWN_PARAMETERS, PARAMETERS, Example
from cloister.interfaces.http.openapi.memory_examples import MEMORY_EXAMPLES
from cloister.interfaces.http.openapi.openai_examples import OPENAI_EXAMPLES
from cloister.interfaces.http.openapi.page import docs_page
from cloister.interfaces.http.openapi.problem_examples import problem_example
from cloister.interfaces.http.openapi.profile_examples import PROFILE_EXAMPLES
from cloister.interfaces.http.problems import MEDIA_TYPE, STATUS, TITLES, Problem
from cloister.interfaces.http.receipts.examples import RECEIPT_EXAMPLES
from cloister.interfaces.http.sessions.examples import SESSION_EXAMPLES
from cloister.interfaces.python.errors import KINDS

Node = dict[str, Any]

DESCRIPTION = """\
Everything is JSON in UTF-8, under one origin. Times are ISO 8601 in UTC with `Z`.

A tenant's requests carry `Authorization: Bearer <key>`. A key has permissions: `read`, `write`, and `admin`, which includes both. \
The project of a request is the one in `X-Project-ID`, else the key's own; a confined key cannot name another. \
`X-User-ID` narrows a request to one user, as a key that is bound to that user is; a comma in it is refused, since proxies join \
repeated headers by commas.

Lists answer `data` and `next_cursor`; send that as `cursor` for the next page, until it is null.

Errors are `application/problem+json` with a stable `code`; an error about one thing names it by `kind` and `id`. An id of another \
tenant and an id that does not exist are both `not_found`, in the same words. Bodies over 1 MiB, except imports, are refused with \
413, fields and query parameters that are unknown or repeated with 422. A refused request has changed nothing.

On every route, headers over 32 KiB are refused with 431 (`headers_too_large`), what is not HTTP with 400 (`malformed_request`), a \
request that is not complete in time with 408 (`timeout`), too many connections from one address with 429 (`rate_limited`), and a \
`Host` that is not this server's with 421 (`wrong_host`).

A creating POST with an `Idempotency-Key` is executed once: the same request with the same key is answered alike for 24 hours (a \
new API key for one hour, and only to the key that asked for it), and another request with that key is refused with 422. Every \
answer has an `X-Request-ID`, which is in the server's log too.

`POST /mcp` is not described here: it speaks the Model Context Protocol, which describes its tools itself. Nor is \
`/langgraph/store`, which speaks as LangGraph's server does: its SDK is the client; nor `/mem0`, which answers mem0's.
"""
SECTIONS: Mapping[str, str] = {
    "Organisation": "Tenants, projects, keys and usage.",
    "Sessions and messages": "A session is one conversation. It is in one project, or in none.",
    "Memories": "Memories and observations: derived from messages, visible only where these are, and deleted with them.",
    "Entities": "The named people and things that messages of a project mention; each belongs to one project.",
    "Recall": "Finds messages, memories and entities again, only inside the pool of the session or the project.",
    "Entries": "Values that agents store under keys: in one project, and of one user or of none.",
    "Chat": "A conversation with memory: messages are recorded, what is relevant is recalled, and a model answers.",
    "Console": "How a browser signs in. The console itself uses the other routes, with a cookie that represents a key and is "
    "accepted from pages of this origin only.",
    "OpenAI-compatible": "Chat for applications of OpenAI's interface: change their base URL to `/v1`. Errors have OpenAI's format "
    "and the codes of this interface; fields without a meaning here are ignored.",
    "Anthropic-compatible": "Messages for applications of Anthropic's interface: change their base URL to `/anthropic`. Errors "
    "have Anthropic's format and the codes of this interface.",
    "Operation": "The state of the server. These routes need no key: keep `/metrics` behind your proxy.",
}
_SUCCESS = {"200": "Done.", "201": "Created.", "204": "Done.", "307": "Redirected."}
_SECURITY: Mapping[str, Node] = {
    "api_key": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key of a tenant, with the permission that the route needs.",
    },
    "operator_key": {"type": "http", "scheme": "bearer", "description": "`CLOISTER_OPERATOR_KEY` of the server."},
}
_HEADERS: Mapping[str, Node] = {
    "RequestId": {
        "description": "The id of the request in the log: the `X-Request-ID` of the request, or a new one.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "RetryAfter": {
        "description": "Seconds to wait, if `rate_limited`, `overloaded` or `outcome_unknown`.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "Challenge": {"required": True, "schema": {"const": "Bearer"}},
    "Location": {"required": True, "schema": {"type": "string"}},
}
# Routes that refuse a project header, because they concern all projects.
_OF_ALL_PROJECTS = ("erase_user", "import_archive", "import_file", "audit_tenant")
_OF_EVERY_CALLER = ("invalid_request", "wrong_host", "too_large", "internal_error")
_OF_TENANTS = ("invalid_project_id", "unauthenticated", "forbidden", "not_found", "rate_limited", "overloaded")
_OF_OPERATORS = ("unauthenticated", "forbidden", "rate_limited", "overloaded")
_OF_STORAGE = ("storage_error", "storage_busy", "storage_unavailable", "closed")
_OF_WRITES = ("storage_read_only", "storage_full", "storage_missing", "outcome_unknown")
# Errors of single routes, beyond those that all routes of their kind share.
_OWN_PROBLEMS: Mapping[str, Sequence[str]] = {
    "create_project": ("conflict", "quota_exceeded"),
    "change_project": ("conflict",),
    "erase_tenant": ("not_found", "conflict"),
    "export_archive": ("project_required",),
    "import_archive": ("conflict", "quota_exceeded"),
    "import_file": ("conflict", "quota_exceeded"),
    "create_tenant_key": ("not_found",),
    "audit_tenant": ("quota_exceeded",),
    "delete_project": ("conflict",),
    "create_tenant": ("conflict",),
    "revoke_api_key": ("conflict",),
    "add_memories": ("conflict",),
    "correct_memory": ("conflict",),
    "restore_memory": ("conflict",),
    "create_session": ("conflict", "quota_exceeded"),
    "record_message": ("conflict", "quota_exceeded"),
    "record_messages": ("conflict", "quota_exceeded"),
    "record_episode": ("conflict", "quota_exceeded"),
    "search": ("project_required",),
    "list_entities": ("project_required",),
    "extract": ("conflict", "model_unavailable"),
    "title_session": ("conflict", "model_unavailable"),
    "preview_extraction": ("model_unavailable",),
    "chat": ("turn_in_progress", "conflict", "quota_exceeded"),
    "create_response": ("turn_in_progress", "conflict", "quota_exceeded", "model_unavailable"),
    "create_conversation": ("conflict", "quota_exceeded"),
    "add_conversation_items": ("conflict", "quota_exceeded"),
    "list_items": ("conflict",),
    "add_items": ("conflict", "quota_exceeded"),
    "forget_item": ("conflict",),
    "clear_session": ("conflict",),
    "write_entries": ("quota_exceeded",),
    "view_files": ("conflict",),
    "change_files": ("conflict", "quota_exceeded"),
    "complete_chat": ("turn_in_progress", "conflict", "quota_exceeded", "model_unavailable"),
    "create_message": ("turn_in_progress", "conflict", "quota_exceeded", "model_unavailable"),
    "sign_in": ("forbidden", "unauthenticated", "conflict", "overloaded"),
    "sign_out": ("forbidden", "overloaded"),
    "readyz": (*_OF_STORAGE, *_OF_WRITES),
    "metrics": _OF_STORAGE,
}
# Links of OpenAPI: a field of an answer, the parameter that takes its value, and the routes with this parameter.
_LINKS: Mapping[str, tuple[str, str, Sequence[str]]] = {
    "create_session": (
        "external_id",
        "external_id",
        (
            "get_session",
            "change_session",
            "record_message",
            "list_messages",
            "extract",
            "list_memories",
            "list_observations",
            "clear_session",
            "delete_session",
        ),
    ),
    "create_project": (
        "project_id",
        "project_id",
        ("get_project", "change_project", "list_project_sessions", "delete_project"),
    ),
    "create_api_key": ("key_id", "key_id", ("revoke_api_key",)),
    "create_tenant": ("tenant_id", "tenant_id", ("create_tenant_key", "erase_tenant")),
    "record_message": ("id", "message_id", ("forget_message",)),
    "add_memories": (
        "appended/0/id",
        "memory_id",
        ("get_memory", "correct_memory", "retract_memory", "restore_memory", "memory_history", "forget_memory"),
    ),
}


class DescribedApp(FastAPI):
    """A FastAPI app with the completed document, and an HTML page of it. Both are built when they are first requested. `routes` are
    all routes, also those that no request has needed yet: `load_routes` imports them."""

    load_routes: Callable[[], None] = staticmethod(lambda: None)

    @property
    def routes(self) -> list[BaseRoute]:
        self.load_routes()
        return self.router.routes

    @cached_property
    def document(self) -> bytes:
        return json.dumps(self.openapi()).encode()

    @cached_property
    def page(self) -> bytes:
        return docs_page(self.openapi()).encode()

    def openapi(self) -> Node:
        if not self.openapi_schema:
            self.openapi_schema = _completed(super().openapi(), self.routes)
        return self.openapi_schema


_EXAMPLES = {
    **EXAMPLES,
    **SESSION_EXAMPLES,
    **MEMORY_EXAMPLES,
    **ENTITY_EXAMPLES,
    **PROFILE_EXAMPLES,
    **LISTING_EXAMPLES,
    **RECEIPT_EXAMPLES,
    **ARCHIVE_EXAMPLES,
    **OPENAI_EXAMPLES,
    **ANTHROPIC_EXAMPLES,
    **ENTRY_EXAMPLES,
    **CERTIFICATE_EXAMPLES,
    **AUDIT_EXAMPLES,
}


def _completed(document: Node, routes: Iterable[object]) -> Node:
    components: Node = document["components"]
    problems: Node = {}
    components["schemas"] = _schemas(components["schemas"])
    components["headers"] = {**_HEADERS}
    components["securitySchemes"] = {**_SECURITY}
    components["parameters"] = schemas.project_headers(PARAMETERS["X-Project-ID"])
    for route in routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                _complete(document["paths"][route.path_format][method.lower()], route, problems)
    components["responses"] = dict(sorted(problems.items()))
    document["info"]["description"] = DESCRIPTION
    document["tags"] = [{"name": name, "description": text} for name, text in SECTIONS.items()]
    order = {name: position for position, name in enumerate(SECTIONS)}
    document["paths"] = dict(
        sorted(document["paths"].items(), key=lambda item: order[next(iter(item[1].values()))["tags"][0]])
    )
    return document


def _schemas(found: Node) -> Node:
    """The schemas: of requests as they are; of answers with the formats of their fields, all of which are required."""
    for unused in ("HTTPValidationError", "ValidationError"):
        found.pop(unused, None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    problem["properties"]["code"]["enum"] = sorted(STATUS)
    problem["properties"]["kind"]["enum"] = sorted(KINDS.values())
    # An optional member is left out rather than null.
    for member in ("kind", "id", "errors"):
        said = problem["properties"][member]
        problem["properties"][member] = {**said.pop("anyOf")[0], **said}
        del problem["properties"][member]["default"]
    completed = {name: schemas.simplified(_detailed(name, schema)) for name, schema in found.items()}
    completed |= {name: schemas.simplified(schema) for name, schema in problem.pop("$defs").items()}
    completed |= {name: schemas.simplified(schema) for name, schema in error_schemas().items()}
    completed["Filter"] = schemas.FILTER
    completed |= {name: {"type": "string", **form, "description": text} for name, (form, text) in schemas.NAMED.items()}
    return dict(sorted({**completed, "Problem": schemas.simplified(problem)}.items()))


def _detailed(name: str, schema: Node) -> Node:
    if "additionalProperties" in schema:
        return schema
    properties = {
        field: _narrowed(said, schemas.ANSWERS.get(f"{name}.{field}") or schemas.ANSWERS.get(field, {}))
        for field, said in schema["properties"].items()
    }
    if "stale" in properties:
        properties["stale"] = {"type": "integer", "minimum": 1, "description": properties["stale"]["description"]}
    return {**schema, "properties": properties, "required": [field for field in properties if field != "stale"]}


def _narrowed(said: Node, form: Node) -> Node:
    if form and "anyOf" in said:
        return {"anyOf": [form, {"type": "null"}]}
    return form if "$ref" in form else {**said, **form}


def _complete(operation: Node, route: APIRoute, problems: Node) -> None:
    name, need = route.name, need_of(route.endpoint)
    example = _EXAMPLES.get(name, Example())
    operation["operationId"] = name
    operation["summary"] = route.summary or name.replace("_", " ").capitalize().replace("api", "API")
    operation["description"] = _described(operation["description"], need)
    operation["security"] = _security(need)
    operation["parameters"] = [_parameter(given, name) for given in operation.get("parameters", [])]
    if need not in ("operator", "nothing") and name not in _OF_ALL_PROJECTS:
        header = (
            "ProjectOrNoneHeader" if isinstance(route, GuardedRoute) and route.allows_no_project else "ProjectHeader"
        )
        operation["parameters"].append({"$ref": f"#/components/parameters/{header}"})
    if "requestBody" in operation:
        for content in operation["requestBody"]["content"].values():
            content["example"] = example.request
    responses = {
        status: _response(status, said, example.answer)
        for status, said in operation["responses"].items()
        if status in _SUCCESS
    }
    if name in _LINKS:
        responses["201"]["links"] = _links(*_LINKS[name])
    responses |= _problem_responses(_codes(operation, name, need), problems, error_format(route.path))
    operation["responses"] = dict(sorted(responses.items()))


def _described(text: str, need: Need) -> str:
    whole = " ".join(text.split())
    if need == "nothing":
        return whole
    return f"{whole} Needs the operator's key." if need == "operator" else f"{whole} Needs the permission `{need}`."


def _security(need: Need) -> list[Node]:
    if need == "nothing":
        return []
    return [{"operator_key" if need == "operator" else "api_key": []}]


def _parameter(given: Node, operation: str) -> Node:
    """A parameter whose schema does not allow null: it is absent, or it is text."""
    schema = given["schema"]
    if "anyOf" in schema:
        schema = {**schema, **schema["anyOf"][0]}
        del schema["anyOf"]
    schema.pop("description", None)
    name = given["name"]
    example = OWN_PARAMETERS.get((operation, name), PARAMETERS.get(name))
    return {**given, "schema": schemas.simplified(schema), "example": example}


def _response(status: str, said: Node, example: Any) -> Node:
    response: Node = {**said, "headers": {"X-Request-ID": {"$ref": "#/components/headers/RequestId"}}}
    if said["description"] == "Successful Response":
        response["description"] = _SUCCESS[status]
    if status == "307":
        response["headers"]["Location"] = {"$ref": "#/components/headers/Location"}
    for content in response.get("content", {}).values():
        content |= {"schema": schemas.simplified(content["schema"]), "example": content.get("example", example)}
    return response


def _links(field: str, parameter: str, targets: Sequence[str]) -> Node:
    return {
        target: {"operationId": target, "parameters": {parameter: f"$response.body#/{field}"}} for target in targets
    }


def _codes(operation: Node, name: str, need: Need) -> set[str]:
    codes = {*_OF_EVERY_CALLER, *_OWN_PROBLEMS.get(name, ())}
    if need != "nothing":
        codes.update(_OF_STORAGE, _OF_OPERATORS if need == "operator" else _OF_TENANTS)
        codes.update(() if need == "read" else _OF_WRITES)
    own = [given for given in operation["parameters"] if "name" in given]
    if any(given["name"] == "Idempotency-Key" for given in own):
        codes.add("idempotency_mismatch")
    return codes


def _problem_responses(codes: Iterable[str], shared: Node, form: ErrorFormat | None) -> Node:
    """One response for each status, with its possible codes; equal responses of several routes are shared."""
    of_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        of_status.setdefault(STATUS[code], []).append(code)
    responses: Node = {}
    for status, same in sorted(of_status.items()):
        title = "Or".join("".join(word.capitalize() for word in code.split("_")) for code in same)
        title = title if form is None else f"{form.prefix}{title}"
        shared.setdefault(title, _problem_response(status, same, form))
        responses[str(status)] = {"$ref": f"#/components/responses/{title}"}
    return responses


def _problem_response(status: int, codes: Sequence[str], form: ErrorFormat | None) -> Node:
    headers = {"X-Request-ID": {"$ref": "#/components/headers/RequestId"}}
    if status == 401:
        headers["WWW-Authenticate"] = {"$ref": "#/components/headers/Challenge"}
    if status == 429 or "outcome_unknown" in codes:
        headers["Retry-After"] = {"$ref": "#/components/headers/RetryAfter"}
    return {
        "description": f"{TITLES[status]}: {' or '.join(f'`{code}`' for code in codes)}.",
        "headers": headers,
        "content": _problem_content(status, codes) if form is None else form.content(codes),
    }


def _problem_content(status: int, codes: Sequence[str]) -> Node:
    schema = {
        "$ref": "#/components/schemas/Problem",
        "properties": {"status": {"const": status}, "code": {"enum": list(codes)}},
    }
    return {MEDIA_TYPE: {"schema": schema, "examples": {code: {"value": problem_example(code)} for code in codes}}}
