"""Filters of entries by their values: `{"status": "open", "size": {"$gt": 3}}`. All conditions must hold. Applied in Python, so
that both engines agree, and so that no key of a filter becomes part of a query."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from cloister.domain.errors import InvalidRequest
from cloister.domain.text import MAX_METADATA_DEPTH

MOST_CONDITIONS = 100
"""How many keys, operators and elements of lists a filter may have."""
_SIGN = "$"


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    """Compare numbers with numbers and texts with texts; other pairs have no order."""
    return lambda value, wanted: _have_order(value, wanted) and compare(value, wanted)


_OPERATORS: Mapping[str, Callable[[object, object], bool]] = {
    "$eq": lambda value, wanted: _equal(value, wanted),
    "$ne": lambda value, wanted: not _equal(value, wanted),
    "$gt": _compared(lambda value, wanted: value > wanted),
    "$gte": _compared(lambda value, wanted: value >= wanted),
    "$lt": _compared(lambda value, wanted: value < wanted),
    "$lte": _compared(lambda value, wanted: value <= wanted),
}


def checked_value_filter(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Check the form and the size of a filter."""
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest("filter", "must be an object with a condition for each key.")
    for key in given:
        if isinstance(key, str) and key.startswith(_SIGN):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequest("filter", f"has {key[:64]!r} where a key of the value is expected.")
    if _count(given, 0) > MOST_CONDITIONS:
        raise InvalidRequest("filter", f"has more than {MOST_CONDITIONS} conditions.")
    return given


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value meets all conditions. A key that the value does not have is read as a path, such as `author.name`."""
    return all(_matches(_at(value, key), condition) for key, condition in wanted.items())


def _at(value: Mapping[str, Any], key: str) -> object:
    if key in value or "." not in key:
        return value.get(key)
    found: object = value
    for part in key.split("."):
        if not isinstance(found, Mapping):
            return None
        found = cast(Mapping[str, object], found).get(part)
    return found


def _matches(value: object, condition: object) -> bool:
    if isinstance(condition, Mapping):
        conditions = cast(Mapping[str, object], condition)
        if any(key.startswith(_SIGN) for key in conditions):
            return all(_OPERATORS[name](value, wanted) for name, wanted in conditions.items())
        if not isinstance(value, Mapping):
            return False
        inner = cast(Mapping[str, object], value)
        return all(_matches(inner.get(key), wanted) for key, wanted in conditions.items())
    if isinstance(condition, list | tuple):
        wanted_items = cast(Sequence[object], condition)
        if not isinstance(value, list) or len(cast(list[object], value)) != len(wanted_items):
            return False
        return all(map(_matches, cast(list[object], value), wanted_items))
    return _equal(value, condition)


def _equal(value: object, wanted: object) -> bool:
    """Equal in JSON, where true is not 1."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _have_order(value: object, wanted: object) -> bool:
    numbers = (int, float)
    if isinstance(value, bool) or isinstance(wanted, bool):
        return False
    return (isinstance(value, numbers) and isinstance(wanted, numbers)) or (
        isinstance(value, str) and isinstance(wanted, str)
    )


def _count(condition: object, depth: int) -> int:
    """The number of parts of a filter; refuses unknown operators, keys that are not text, and deep nesting."""
    if depth > MAX_METADATA_DEPTH:
        raise InvalidRequest("filter", f"is nested more than {MAX_METADATA_DEPTH} deep.")
    if isinstance(condition, Mapping):
        conditions = cast(Mapping[object, object], condition)
        _check_keys(list(conditions))
        return sum(1 + _count(inner, depth + 1) for inner in conditions.values())
    if isinstance(condition, list | tuple):
        return sum(1 + _count(inner, depth + 1) for inner in cast(Sequence[object], condition))
    return 0


def _check_keys(keys: Sequence[object]) -> None:
    for key in keys:
        if not isinstance(key, str):
            raise InvalidRequest("filter", f"has the key {key!r}, which is not text.")
    named = cast(Sequence[str], keys)
    if any(key.startswith(_SIGN) for key in named):
        for key in named:
            if key not in _OPERATORS:
                raise InvalidRequest("filter", f"has {key[:64]!r}, which is not one of {', '.join(_OPERATORS)}.")
