"""Errors in OpenAI's shape, on the routes that are OpenAI's: their clients read no other. `code` is ours, and stable."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from cloister.interfaces.http import problems
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.problems import MEDIA_TYPE

CHAT, MODELS, EMBEDDINGS = "/v1/chat/completions", "/v1/models", "/v1/embeddings"
PATHS = frozenset({CHAT, MODELS, EMBEDDINGS})
_TYPES: Mapping[int, str] = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
# Their clients try again by themselves what may pass. These do not pass.
_FINAL = frozenset({"conflict", "quota_exceeded"})


class OpenAiErrorDetail(BaseModel):
    """`param` is the field that is wrong, where one is."""

    message: str
    type: str
    param: str | None
    code: str


class OpenAiError(BaseModel):
    """An error as OpenAI's clients know it."""

    error: OpenAiErrorDetail


class OpenAiRoute(GuardedRoute):
    """Says what is wrong in OpenAI's shape."""

    def shaped(self, response: Response) -> Response:
        return in_openai_shape(response)


async def on_http_error(request: Request, error: Exception) -> Response:
    """What the framework itself refuses."""
    return shaped(request.scope["path"], await problems.on_http_error(request, error))


def shaped(path: str, response: Response) -> Response:
    """A problem, as the clients of the route at this path read it."""
    return in_openai_shape(response) if path in PATHS else response


def in_openai_shape(response: Response) -> Response:
    """A problem with its status and headers; anything else as it is."""
    if response.media_type != MEDIA_TYPE:
        return response
    problem = json.loads(bytes(response.body))
    kept = ("www-authenticate", "retry-after", "allow")
    headers = {name: response.headers[name] for name in kept if name in response.headers}
    if problem["code"] in _FINAL:
        headers["x-should-retry"] = "false"
    return Response(json.dumps(error_body(problem)), response.status_code, headers, "application/json")


def error_body(problem: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in a body or, after the first byte, in an event."""
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
