"""The message of an error that a model's server answered, as far as people may be shown it.

It is outside text: one short line is taken of it, without control words. Servers repeat parts of the request in errors, and the
request has recalled text in it: a message that repeats anything of it is not shown, nor one with an address or a key.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from cloister.domain.prompts.outside_text import harmless

_LONGEST = 200
_WINDOW = 12
_STEP = 4
_ADDRESS = "://"


def error_message(answer: Any, sent: bytes | None, secrets: Sequence[str | None] = ()) -> str | None:
    """The message in `{"error": {"message": …}}`, `{"error": "…"}` or `{"message": …}`; None if there is none to show. `sent` is
    the request; None shows no message at all."""
    if sent is None or not isinstance(answer, dict):
        return None
    fields = cast(Mapping[str, Any], answer)
    inner = fields.get("error", fields)
    found = cast(Mapping[str, Any], inner).get("message") if isinstance(inner, dict) else inner
    if not isinstance(found, str):
        return None
    line = harmless(_plain(found[: 2 * _LONGEST]))[:_LONGEST].strip()
    if not line or _ADDRESS in line or any(secret and secret in found for secret in secrets):
        return None
    request = _plain(sent.decode("utf-8", "replace").replace("\\n", " ").replace('\\"', '"')).casefold()
    return None if any(piece in request for piece in _pieces(line.casefold())) else line


def _pieces(line: str) -> Iterator[str]:
    """Pieces of a line such that any longer part that is repeated has one of them. A short line is one piece."""
    for begin in range(0, max(1, len(line) - _WINDOW + 1), _STEP):
        yield line[begin : begin + _WINDOW]


def _plain(text: str) -> str:
    return " ".join(text.split())
