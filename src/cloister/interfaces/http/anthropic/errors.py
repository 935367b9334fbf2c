"""Errors in Anthropic's format, which its clients expect under `/anthropic`. `code` is that of the problem; the id of the request
is the one in the server's log."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from cloister.interfaces.http import problems
from cloister.interfaces.http.problems import MEDIA_TYPE

MESSAGES = "/anthropic/v1/messages"
COUNT_TOKENS = f"{MESSAGES}/count_tokens"
MODELS = "/anthropic/v1/models"
REQUEST_ID = "cloister.request_id"
"""The key of a request's id in its ASGI scope."""
_PREFIX = "/anthropic"
_UNSUPPORTED = (
    "There is nothing at this path. Supported of Anthropic's interface are POST v1/messages, streamed or not, POST "
    "v1/messages/count_tokens and GET v1/models."
)
_KEPT = ("www-authenticate", "retry-after", "allow")
_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
# By this Anthropic's clients know that they have to send the whole history.
_UNSUPPORTED_THREAD = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
# Anthropic's clients retry 409, 429 and 5xx by themselves. To retry these errors would not help, or might store a question twice.
_FINAL = frozenset({"conflict", "quota_exceeded", "outcome_unknown"})


class AnthropicErrorDetail(BaseModel):
    """`param` is the field that is wrong, if the error is about one."""

    type: str
    message: str
    param: str | None
    code: str
    details: dict[str, Any] | None = None


class AnthropicError(BaseModel):
    """An error in Anthropic's format."""

    type: str
    error: AnthropicErrorDetail
    request_id: str | None


def is_anthropic(path: str) -> bool:
    """Whether a path is one that only clients of Anthropic's interface ask for."""
    return path == _PREFIX or path.startswith(f"{_PREFIX}/")


def anthropic_error(request: Request, response: Response) -> Response:
    """The answer to an error that the framework raises; to an unknown route, with what is supported."""
    if response.status_code == 404:
        response = problems.problem("not_found", _UNSUPPORTED)
    return in_anthropic_shape(response, request.scope.get(REQUEST_ID))


def in_anthropic_shape(response: Response, request_id: str | None) -> Response:
    """A problem in Anthropic's format, with its status and headers; any other response unchanged."""
    if response.media_type != MEDIA_TYPE:
        return response
    problem = json.loads(bytes(response.body))
    headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
    if problem["code"] in _FINAL:
        headers["x-should-retry"] = "false"
    return Response(
        json.dumps(anthropic_error_body(problem, request_id)), response.status_code, headers, "application/json"
    )


def anthropic_error_body(problem: Mapping[str, Any], request_id: str | None = None) -> dict[str, Any]:
    """The JSON of an error, for a body or, after the first byte of a stream, for an event."""
    status: int = problem["status"]
    usual = "api_error" if status >= 500 else "invalid_request_error"
    fields = problem.get("errors") or [{"field": None}]
    error: dict[str, Any] = {
        "type": _TYPES.get(status, usual),
        "message": problem["detail"],
        "param": fields[0]["field"],
        "code": problem["code"],
    }
    if error["param"] == "thread":
        error["details"] = _UNSUPPORTED_THREAD
    return {"type": "error", "error": error, "request_id": request_id}
