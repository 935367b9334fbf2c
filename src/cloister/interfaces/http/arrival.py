"""How much of a request has been received, and whether its client is still there: known to its connection, and needed by routes and
streams."""

import time

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

CYCLE = "cloister_cycle"
"""The key in the state of a scope under which a connection stores a weak reference to its request cycle."""

_SINCE = "cloister_waits_since"
# Shorter waits make no difference: a program that sends its request and leaves at once has it carried out while there is no load.
_LONG_WAIT_SECONDS = 0.2


def has_arrived(scope: Scope) -> bool:
    """Whether the whole body of a request has been received already, together with its headers."""
    cycle = scope.get("state", {}).get(CYCLE, _no_cycle)()
    return cycle is not None and not cycle.more_body


def note_waiting(scope: Scope) -> None:
    """The request waits in a queue from now on."""
    scope.setdefault("state", {})[_SINCE] = time.monotonic()


def refuse_abandoned(scope: Scope) -> None:
    """Raise `ClientDisconnect` if the client left while its request waited for long. Else a server that was stopped for a moment,
    or got more requests than it can answer in the time that clients wait, would be busy only for clients that have left."""
    state = scope.get("state", {})
    cycle = state.get(CYCLE, _no_cycle)()
    if cycle is not None and cycle.disconnected and time.monotonic() - state[_SINCE] >= _LONG_WAIT_SECONDS:
        raise ClientDisconnect


async def until_disconnected(receive: Receive) -> None:
    """Return when the client has closed its connection; whatever else it sends is ignored."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _no_cycle() -> None:
    return None
