"""A server's problems as the errors they were: the class by its `code`, the words as they came."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from cloister.domain.errors import (
    CloisterError,
    Closed,
    InvalidRequest,
    NotFound,
    RateLimited,
    ServerError,
    TooLarge,
)
from cloister.domain.patterns import DOTALL, anchored

_MISSING = anchored(r"There is no (?P<kind>[^'\"]{1,100}) (?P<given>'.*'|\".*\") here\.", DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldProblem:
    field: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """What is read of `application/problem+json`."""

    code: str
    detail: str
    errors: tuple[FieldProblem, ...] | None = None


def error_of(problem: Problem, *, retry_after: str = "") -> CloisterError | None:
    """The error that the server raised; none where it says nothing of the request, or is not known here."""
    kind = _BY_CODE.get(problem.code)
    if kind is None:
        return None
    error = kind.__new__(kind, problem.detail)
    if isinstance(error, NotFound):
        found = _MISSING.fullmatch(problem.detail)
        if found is None:
            return None
        error.kind, error.given = found["kind"], str(ast.literal_eval(found["given"]))
    elif isinstance(error, InvalidRequest | TooLarge):
        first = (problem.errors or (FieldProblem(field="body", message=problem.detail),))[0]
        error.field, error.problem = first.field, first.message
    elif isinstance(error, RateLimited):
        error.retry_after = int(retry_after) if retry_after.isdecimal() else 1
    return error


def _kinds(kind: type[CloisterError]) -> Iterator[type[CloisterError]]:
    """Those with a code of their own; one without is told by the code of the one it belongs to."""
    if "code" in vars(kind):
        yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


# That a server is closing says nothing of this Cloister, which is open.
_BY_CODE = {kind.code: kind for kind in _kinds(CloisterError) if kind not in (CloisterError, ServerError, Closed)}
