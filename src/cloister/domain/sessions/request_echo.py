"""What a response of OpenAI's interface repeats of its request: instructions and tools may have recalled text in them, and are
shown in the pool in which the response was made only (ISO-12)."""

from collections.abc import Mapping
from typing import Any

from cloister.domain.identifiers import PoolId

_NOT_SHOWN: Mapping[str, Any] = {
    "instructions": None,
    "metadata": {},
    "tools": [],
    "tool_choice": "auto",
    "text": {"format": {"type": "text"}},
}


def shown_body(body: Mapping[str, Any], pool: PoolId | None) -> dict[str, Any]:
    """The body of a stored response as it is shown in this pool, without the number of its own pool; with None for the pool, as
    it is shown anywhere."""
    shown = {key: value for key, value in body.items() if key != "pool"}
    if "echo" in shown and (pool is None or body.get("pool") != pool):
        shown["echo"] = {**shown["echo"], **_NOT_SHOWN}
    return shown
