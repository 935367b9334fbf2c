"""Finds what is wrong in a JSON text that a model refuses, in time that its many faults do not lengthen (ISO-13).

pydantic makes an error of each unknown field, and describing one takes longer than finding it. Of a text with very many, only the
beginning is therefore described.
"""

from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json, to_json

from cloister.domain.errors import TooLarge

MOST_DESCRIBED = 10_000
"""Faults, each of which takes about two microseconds to describe."""
_VALUES_LOOKED_AT = 1_000


class WrongField(NamedTuple):
    """A fault: of which kind, where, and in words."""

    type: str
    path: tuple[str | int, ...]
    message: str


def wrong_fields(kind: type[BaseModel], text: bytes, error: ValidationError) -> list[WrongField]:
    """What is wrong with a text that `kind` refused with this error; some of it, if there is very much. No value of the text is
    repeated. Raises `TooLarge` for the first list that is too long."""
    if error.error_count() <= MOST_DESCRIBED:
        return [_described(entry) for entry in _details(error)]
    wrong = WrongField("too_many", (), f"Is wrong in {error.error_count():,} parts")
    return [wrong, *_first_unknown(kind, text)]


def _described(entry: ErrorDetails) -> WrongField:
    if entry["type"] == "too_long":
        raise _too_long(entry)
    return WrongField(entry["type"], entry["loc"], entry["msg"])


def _too_long(entry: ErrorDetails) -> TooLarge:
    # Where a field may be something else than a list, pydantic adds a description of the list to its location.
    path = [part for part in entry["loc"] if isinstance(part, int) or "[" not in part]
    names = [part for part in path if isinstance(part, str)]
    limits = cast(dict[str, int], entry.get("ctx", {}))
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return TooLarge(field, limits["actual_length"], limits["max_length"], names[-1] if names else "entries")


def _first_unknown(kind: type[BaseModel], text: bytes) -> list[WrongField]:
    """The unknown fields in the beginning of a text. Other faults are not reported: what is missing there may be in the rest."""
    try:
        kind.model_validate_json(to_json(_Beginning().of(from_json(text))))
    except ValidationError as error:
        return [_described(entry) for entry in _details(error) if entry["type"] == "extra_forbidden"]
    return []


def _details(error: ValidationError) -> list[ErrorDetails]:
    # Without the input, so that an error never repeats what was said.
    return error.errors(include_url=False, include_input=False)


class _Beginning:
    """Copies the first values of a text, in the order in which they are in it."""

    def __init__(self) -> None:
        self._left = _VALUES_LOOKED_AT

    def of(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.of(part) for name, part in cast(dict[str, Any], value).items() if self._takes()}
        if isinstance(value, list):
            return [self.of(part) for part in cast(list[Any], value) if self._takes()]
        return value

    def _takes(self) -> bool:
        self._left -= 1
        return self._left >= 0
