"""Errors in OpenAI's format, which its clients expect on the OpenAI-compatible routes. `code` is that of the problem."""

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from cloister.interfaces.http import problems
from cloister.interfaces.http.anthropic.errors import anthropic_error, in_anthropic_shape, is_anthropic
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.mcp.errors import PATH as MCP
from cloister.interfaces.http.mcp.errors import in_json_rpc_shape
from cloister.interfaces.http.mem0.errors import in_mem0_shape, is_mem0, unknown_route
from cloister.interfaces.http.problems import MEDIA_TYPE

CHAT, MODELS, EMBEDDINGS = "/v1/chat/completions", "/v1/models", "/v1/embeddings"
RESPONSES, CONVERSATIONS = "/v1/responses", "/v1/conversations"
_FRONTS = (CHAT, MODELS, EMBEDDINGS, RESPONSES, CONVERSATIONS)
_UNSUPPORTED = (
    "There is nothing at this path. Supported of OpenAI's interface are chat/completions, responses (create, retrieve, delete), "
    "conversations with items, models and embeddings."
)
_TYPES: Mapping[int, str] = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
# OpenAI's clients retry 409, 429 and 5xx by themselves. To retry these errors would not help, or might store a question twice.
_FINAL = frozenset({"conflict", "quota_exceeded", "outcome_unknown"})


class OpenAiErrorDetail(BaseModel):
    """`param` is the field that is wrong, if the error is about one."""

    message: str
    type: str
    param: str | None
    code: str


class OpenAiError(BaseModel):
    """An error in OpenAI's format."""

    error: OpenAiErrorDetail


class OpenAiRoute(GuardedRoute):
    """A route that answers errors in OpenAI's format."""

    allows_no_project = True

    def shaped(self, response: Response) -> Response:
        return in_openai_shape(response)


class ItemsRoute(OpenAiRoute):
    """A route whose clients may ask for more of each item with `include`: there is never more."""

    ignored_query_names = frozenset({"include", "include[]"})


async def on_http_error(request: Request, error: Exception) -> Response:
    """The answer to an error that the framework raises, in the format of the route; to an unknown route of OpenAI's interface, with
    what is supported of it."""
    path: str = request.scope["path"]
    response = await problems.on_http_error(request, error)
    if is_anthropic(path):
        return anthropic_error(request, response)
    if is_mem0(path):
        return unknown_route(response)
    if response.status_code != 404 or not _is_unknown(request, path):
        return shaped(path, response)
    return in_openai_shape(problems.problem("not_found", _UNSUPPORTED))


def _is_unknown(request: Request, path: str) -> bool:
    """Whether a path under `/v1` is none of Cloister's own interface, so that a client of OpenAI's must have asked for it."""
    if not path.startswith("/v1/"):
        return False
    own = {route.path.split("/")[2] for route in request.app.router.routes if _is_own(route)}
    return path.split("/")[2] not in own or path.startswith(f"{CHAT}/")


def _is_own(route: BaseRoute) -> TypeGuard[GuardedRoute]:
    if not isinstance(route, GuardedRoute) or isinstance(route, OpenAiRoute):
        return False
    return route.path.startswith("/v1/")


def shaped(path: str, response: Response, request_id: str | None = None) -> Response:
    """A problem in the format that the clients of the route at this path expect."""
    if path == MCP:
        return in_json_rpc_shape(response)
    if is_anthropic(path):
        return in_anthropic_shape(response, request_id)
    if is_mem0(path):
        return in_mem0_shape(response)
    return in_openai_shape(response) if is_openai(path) else response


def is_openai(path: str) -> bool:
    """Whether a path is one of OpenAI's interface that is supported here."""
    return path in _FRONTS or path.startswith((f"{MODELS}/", f"{RESPONSES}/", f"{CONVERSATIONS}/"))


def in_openai_shape(response: Response) -> Response:
    """A problem in OpenAI's format, with its status and headers; any other response unchanged."""
    if response.media_type != MEDIA_TYPE:
        return response
    problem = json.loads(bytes(response.body))
    kept = ("www-authenticate", "retry-after", "allow")
    headers = {name: response.headers[name] for name in kept if name in response.headers}
    if problem["code"] in _FINAL:
        headers["x-should-retry"] = "false"
    return Response(json.dumps(error_body(problem)), response.status_code, headers, "application/json")


def error_body(problem: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of an error, for a body or, after the first byte of a stream, for an event."""
    status: int = problem["status"]
    fields = problem.get("errors") or [{"field": None}]
    return {
        "error": {
            "message": problem["detail"],
            "type": "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error"),
            "param": fields[0]["field"],
            "code": problem["code"],
        }
    }
