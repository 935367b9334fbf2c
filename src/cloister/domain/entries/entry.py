"""An entry of the key-value store: a JSON object under a key in a namespace. Not a memory: it is never extracted, recalled in a
context or superseded; it is what an application stored, as it stored it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from cloister.domain.entries.namespace import Namespace
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.identifiers import ProjectId
from cloister.domain.text import MAX_METADATA_DEPTH

MAX_VALUE = 262_144
"""The longest value, in characters of JSON."""
LONGEST_TTL = 5_256_000
"""The longest time to live, in minutes: ten years."""
MOST_DIMENSIONS = 4_096
FLOAT_BYTES = 4
"""Of one number of a stored vector."""
GIVEN_VECTORS = "given:"
"""Begins the names of the models of vectors that callers computed; the number of dimensions follows."""
_MICROSECONDS = 60_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryScope:
    """The part of the store that one handle reads and writes: of a project or of none, and of a user or of none. Parts share
    nothing: the visibility of a project does not change whose an entry is."""

    project: ProjectId | None
    user: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A stored entry. `score` is its similarity to the query, in answers to a query."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: int
    updated_at: int
    score: float | None = None


def checked_value(value: Mapping[str, Any]) -> str:
    """Check a value, and return it as the JSON text that is stored."""
    if not isinstance(value, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest("value", "must be a JSON object.")
    try:
        encoded = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        encoded.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("value", "holds a lone surrogate, which is not valid Unicode.") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest("value", f"cannot be written as JSON: {error}.") from None
    if len(encoded) > MAX_VALUE:
        raise TooLarge("value", len(encoded), MAX_VALUE)
    _refuse_depth(value, 0)
    return encoded


def checked_ttl(minutes: float | None) -> int | None:
    """A time to live in microseconds, of one in minutes."""
    if minutes is None:
        return None
    if isinstance(minutes, bool) or not isinstance(minutes, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest("ttl", "must be a number of minutes.")
    if not 0 < minutes <= LONGEST_TTL:
        raise InvalidRequest("ttl", f"must be more than 0 and at most {LONGEST_TTL:,} minutes.")
    return max(1, round(minutes * _MICROSECONDS))


def checked_vector(vector: Sequence[float], field: str) -> tuple[float, ...]:
    """Check a vector that the caller computed."""
    if isinstance(vector, str) or not 0 < len(vector) <= MOST_DIMENSIONS:
        raise InvalidRequest(field, f"must have 1 to {MOST_DIMENSIONS:,} numbers.")
    for number in vector:
        if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequest(field, "must consist of finite numbers.")
    return tuple(map(float, vector))


def _refuse_depth(value: object, depth: int) -> None:
    if depth > MAX_METADATA_DEPTH:
        raise InvalidRequest("value", f"is nested more than {MAX_METADATA_DEPTH} deep.")
    if isinstance(value, Mapping):
        for key, inner in cast(Mapping[object, object], value).items():
            if not isinstance(key, str):
                raise InvalidRequest("value", f"has the key {key!r}, which is not text.")
            _refuse_depth(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in cast(Sequence[object], value):
            _refuse_depth(inner, depth + 1)
