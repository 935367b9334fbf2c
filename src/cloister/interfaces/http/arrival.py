"""How much of a request has come: a connection knows, and tells its routes."""

from starlette.types import Scope

CYCLE = "cloister_cycle"
"""Where in the state of a scope a connection puts a weak reference to its request."""


def has_arrived(scope: Scope) -> bool:
    """Whether all of a request's body has come already, in one piece with its headers."""
    cycle = scope.get("state", {}).get(CYCLE, _no_cycle)()
    return cycle is not None and not cycle.more_body


def _no_cycle() -> None:
    return None
