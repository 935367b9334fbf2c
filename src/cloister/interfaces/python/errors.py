"""The problems that a server answers, turned back into the errors it raised: the class by `code`, the text from `detail`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cloister.domain.errors import (
    CloisterError,
    Closed,
    InvalidRequest,
    NotFound,
    Overloaded,
    RateLimited,
    ServerError,
    TooLarge,
    TurnInProgress,
)

KINDS: Mapping[str, str] = {
    "API key": "api_key",
    "entity": "entity",
    "episode": "episode",
    "exclusion": "exclusion",
    "item": "item",
    "memory": "memory",
    "message": "message",
    "model": "model",
    "observation": "observation",
    "project": "project",
    "receipt": "receipt",
    "resource": "resource",
    "result": "result",
    "response": "response",
    "session": "session",
    "tenant": "tenant",
}
"""What `NotFound` calls each kind of thing, and the `kind` of that in a problem."""
_NAMES = {member: kind for kind, member in KINDS.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldProblem:
    field: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """The members of `application/problem+json` that are read here. `kind` and `id` name the thing that the error is about."""

    code: str
    detail: str
    kind: str | None = None
    id: str | None = None
    errors: tuple[FieldProblem, ...] | None = None


def error_of(problem: Problem, *, retry_after: str = "") -> CloisterError | None:
    """The error that the server raised; none where it does not concern the request, or is not known to this version."""
    kind = _BY_CODE.get(problem.code)
    if kind is None:
        return None
    error = kind.__new__(kind, problem.detail)
    if isinstance(error, NotFound):
        # An unknown route is `not_found` too, and names no thing.
        if problem.kind is None or problem.id is None:
            return None
        error.kind, error.given = _NAMES.get(problem.kind, problem.kind), problem.id
    elif isinstance(error, TurnInProgress):
        error.session = problem.id or ""
    elif isinstance(error, InvalidRequest | TooLarge):
        first = (problem.errors or (FieldProblem(field="body", message=problem.detail),))[0]
        error.field, error.problem = first.field, first.message
    elif isinstance(error, RateLimited | Overloaded):
        error.retry_after = int(retry_after) if retry_after.isdecimal() else 1
    return error


def _kinds(kind: type[CloisterError]) -> Iterator[type[CloisterError]]:
    """The error classes with a code of their own; one without has the code of its base class, which stands for it."""
    if "code" in vars(kind):
        yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


# Without `Closed`: that the server is closing does not mean that this client was closed.
_BY_CODE = {kind.code: kind for kind in _kinds(CloisterError) if kind not in (CloisterError, ServerError, Closed)}
