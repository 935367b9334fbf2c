"""Every error as `application/problem+json` (RFC 9457), with a stable `code` and without internals such as tracebacks or SQL."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from cloister.domain.errors import (
    CloisterError,
    Closed,
    InvalidRequest,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    RateLimited,
    StorageBusy,
    StorageError,
    StorageUnavailable,
    TooLarge,
    TurnInProgress,
    TurnMoved,
)
from cloister.interfaces.python.errors import KINDS

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
MEDIA_TYPE = "application/problem+json"
STATUS: Mapping[str, int] = {
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "project_required": 400,
    "invalid_project_id": 400,
    "malformed_request": 400,
    "invalid_request": 422,
    "idempotency_mismatch": 422,
    "conflict": 409,
    "turn_in_progress": 409,
    "timeout": 408,
    "too_large": 413,
    "wrong_host": 421,
    "headers_too_large": 431,
    "quota_exceeded": 429,
    "rate_limited": 429,
    "internal_error": 500,
    "damaged_row": 500,
    "overloaded": 503,
    "model_unavailable": 503,
    "closed": 503,
    "storage_busy": 503,
    "storage_unavailable": 503,
    "storage_full": 507,
    "storage_read_only": 503,
    "storage_missing": 503,
    "outcome_unknown": 503,
    "storage_error": 500,
}
TITLES: Mapping[int, str] = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    421: "Wrong host",
    422: "Invalid request",
    429: "Too much",
    431: "Headers too large",
    500: "Something broke here",
    503: "Not available now",
    507: "No space left",
}
# The seconds after which it makes sense to try again.
_WAITS: Mapping[str, int] = {
    **{kind.code: kind.retry_after for kind in (OutcomeUnknown, Overloaded, StorageBusy, StorageUnavailable)},
    Closed.code: 1,  # this server ends, and another one may have begun
}
# A body of 1 MiB can have half a million errors: so many are listed, and so many of these repeated in `detail`.
_MOST_ERRORS = 100
_MOST_IN_DETAIL = 3
CRASH = "Something broke on our side. The log of the server says more, under the X-Request-ID of this answer."


class FieldProblem(BaseModel):
    """What is wrong with one field."""

    field: str
    message: str


class Problem(BaseModel):
    """An error. `code` never changes its meaning; `detail` is for people. An error about one thing names it by `kind` and `id`."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    kind: str | None = Field(default=None, description="What the error is about, where it is about one thing.")
    id: str | None = Field(default=None, description="The id of that thing.")
    errors: list[FieldProblem] | None = Field(
        default=None, description="What is wrong with each field of a bad request."
    )


def problem(
    code: str,
    detail: str,
    *,
    errors: Sequence[tuple[str, str]] = (),
    about: tuple[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """`errors` are fields, each with what is wrong with it; `about` is the kind and the id of what the error names."""
    status = STATUS.get(code, 500)
    if code in _WAITS and not headers:
        headers = {"Retry-After": str(_WAITS[code])}
    body: dict[str, object] = {
        "type": "about:blank",
        "title": TITLES[status],
        "status": status,
        "detail": detail,
        "code": code,
    }
    if about is not None:
        body["kind"], body["id"] = about
    if errors:
        body["errors"] = [{"field": field, "message": message} for field, message in errors]
    return Response(json.dumps(body), status, headers, MEDIA_TYPE)


def of_error(error: CloisterError, *, notes: bool = False) -> Response:
    """The problem of an error that was raised on purpose. The text of a storage error stays in the log, since it may name files and
    hosts; an error without a status of its own is an `internal_error`. `notes`: the notes of the error are part of the text."""
    said = " ".join((str(error), *(getattr(error, "__notes__", ()) if notes else ())))
    if isinstance(error, InvalidRequest | TooLarge):
        return problem(error.code, said, errors=[(error.field, error.problem)])
    if isinstance(error, RateLimited):
        return problem(error.code, said, headers={"Retry-After": str(error.retry_after)})
    if error.code == "unauthenticated":
        return problem(error.code, str(error), headers={"WWW-Authenticate": "Bearer"})
    if error.code not in STATUS:
        return problem("internal_error", CRASH)
    detail = sentence_of(error) if isinstance(error, StorageError) else said
    return problem(error.code, detail, about=_about(error))


def sentence_of(error: CloisterError) -> str:
    """What the class of an error says: for errors whose own text may name files and hosts."""
    return " ".join(str(type(error).__doc__).split())


def _about(error: CloisterError) -> tuple[str, str] | None:
    """The kind and id of what an error names. The id is the caller's own, so a foreign id and a missing one are answered alike. A
    lone surrogate, which comes from bytes that are not UTF-8, is escaped: many JSON parsers reject it."""
    if isinstance(error, NotFound):
        return KINDS.get(error.kind, error.kind), error.given.encode(errors="backslashreplace").decode()
    if isinstance(error, TurnInProgress | TurnMoved) and error.session:
        return "session", error.session
    return None


def of_validation_error(error: RequestValidationError) -> Response:
    found = [
        ("body" if entry["type"] == "json_invalid" else _field(entry["loc"]), _sentence(entry))
        for entry in error.errors()[:_MOST_ERRORS]
    ]
    detail = "; ".join(f"{field}: {message}" for field, message in found[:_MOST_IN_DETAIL])
    return problem("invalid_request", detail, errors=found)


async def on_http_error(request: Request, error: Exception) -> Response:
    """The problem of an error that the framework raises: an unknown route, or a wrong method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem("not_found", "There is no such route.")
    if error.status_code == 405:
        allowed = ", ".join(_methods(request))
        return problem("method_not_allowed", f"This route knows {allowed} only.", headers={"Allow": allowed})
    return problem("invalid_request", "The request cannot be read.")


def _methods(request: Request) -> list[str]:
    """All methods that the path allows; the framework names only those of the first matching route."""

    def is_known(method: str) -> bool:
        scope = {**request.scope, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in cast(Starlette, request.app).router.routes)

    return [method for method in METHODS if is_known(method)]


def _field(location: Sequence[int | str]) -> str:
    """A location of pydantic as the caller knows it: `body.messages.0.role` becomes `messages[0].role`."""
    _, *parts = location if len(location) > 1 else ("", *location)
    name = ""
    for part in parts:
        name += f"[{part}]" if isinstance(part, int) and name else f".{part}" if name else str(part)
    return name or "body"


def _sentence(entry: Mapping[str, object]) -> str:
    if entry["type"] == "extra_forbidden":
        return "is not a field of this request."
    if entry["type"] == "missing":
        return "is missing."
    if entry["type"] == "json_invalid":
        return "is not valid JSON."
    text = str(entry["msg"])
    return f"{text[0].lower()}{text[1:]}." if text else "is not valid."
