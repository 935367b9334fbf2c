"""How much of a request has been received: known to its connection, and needed by routes and streams."""

from starlette.types import Receive, Scope

CYCLE = "cloister_cycle"
"""The key in the state of a scope under which a connection stores a weak reference to its request cycle."""


def has_arrived(scope: Scope) -> bool:
    """Whether the whole body of a request has been received already, together with its headers."""
    cycle = scope.get("state", {}).get(CYCLE, _no_cycle)()
    return cycle is not None and not cycle.more_body


async def until_disconnected(receive: Receive) -> None:
    """Return when the client has closed its connection; whatever else it sends is ignored."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _no_cycle() -> None:
    return None
