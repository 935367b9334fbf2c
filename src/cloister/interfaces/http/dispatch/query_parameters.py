"""Refuses query parameters that a route does not have, or that are repeated, as unknown body fields are refused: a caller who sends
`dry_run=true` to a route without it believes that nothing is changed."""

from collections import Counter
from collections.abc import Set

from fastapi import Request
from fastapi.exceptions import RequestValidationError

_LONGEST_NAME_SHOWN = 64


def check_query(request: Request, known: Set[str], ignored: Set[str]) -> None:
    """Raise one error that lists all parameters that are unknown or given more than once, but for those that are ignored."""
    given = Counter(name for name, _ in request.query_params.multi_items() if name not in ignored)
    found = [_error(name, times, known) for name, times in given.items() if times > 1 or name not in known]
    if found:
        raise RequestValidationError(found)


def _error(name: str, times: int, known: Set[str]) -> dict[str, object]:
    if name in known:
        message = f"Must be given once, and is given {times} times"
    elif known:
        message = f"Is not a query parameter of this request, which knows {', '.join(sorted(known))}"
    else:
        message = "Is not a query parameter of this request, which knows none"
    return {"type": "query", "loc": ("query", name[:_LONGEST_NAME_SHOWN] or "query"), "msg": message}
