"""Errors in OpenAI's format, which its clients expect on the OpenAI-compatible routes. `code` is that of the problem."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from cloister.interfaces.http import problems
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.mcp.errors import PATH as MCP
from cloister.interfaces.http.mcp.errors import in_json_rpc_shape
from cloister.interfaces.http.problems import MEDIA_TYPE

CHAT, MODELS, EMBEDDINGS = "/v1/chat/completions", "/v1/models", "/v1/embeddings"
PATHS = frozenset({CHAT, MODELS, EMBEDDINGS})
_TYPES: Mapping[int, str] = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
# OpenAI's clients retry 409 and 429 by themselves. To retry these errors would not help.
_FINAL = frozenset({"conflict", "quota_exceeded"})


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

    def shaped(self, response: Response) -> Response:
        return in_openai_shape(response)


async def on_http_error(request: Request, error: Exception) -> Response:
    """The answer to an error that the framework raises, in the format of the route."""
    return shaped(request.scope["path"], await problems.on_http_error(request, error))


def shaped(path: str, response: Response) -> Response:
    """A problem in the format that the clients of the route at this path expect."""
    if path == MCP:
        return in_json_rpc_shape(response)
    return in_openai_shape(response) if path in PATHS else response


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
