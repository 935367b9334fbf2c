"""Finds a field that an object of a JSON text gives more than once: all of its values but one would be ignored."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

_LONGEST_NAME_SHOWN = 64


class RepeatedField(NamedTuple):
    """A field with the names and positions that lead to it, and how many times it is given."""

    path: tuple[str | int, ...]
    times: int


class _Repeated(Exception):
    """An object gives a field more than once."""


def repeated_field(text: bytes) -> RepeatedField | None:
    """The first field that an object gives more than once, at any depth; None if there is none, or the text is not JSON. Takes time
    in proportion to the text, and builds nothing of it unless a field is repeated."""
    try:
        _check.decode(text.decode())
    except _Repeated:
        return _located(text)
    except (ValueError, RecursionError):
        return None
    return None


def _located(text: bytes) -> RepeatedField | None:
    """Where the repeated field is; without a path if it is nested too deep to look for."""
    try:
        return _found(_pairs.decode(text.decode()))
    except (ValueError, RecursionError):
        return RepeatedField((), 2)


def _check_object(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise _Repeated


# Numbers stay texts: one of many digits takes long to convert, or cannot be converted.
_check = json.JSONDecoder(object_pairs_hook=_check_object, parse_int=str, parse_float=str)
# Objects are tuples of pairs, and arrays are lists.
_pairs = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str)


def _found(value: Any) -> RepeatedField | None:
    """The first field that is repeated, objects before what they contain."""
    if isinstance(value, list):
        return _first_within(enumerate(cast(list[Any], value)))
    if not isinstance(value, tuple):
        return None
    pairs = cast(tuple[tuple[str, Any], ...], value)
    counts = Counter(name for name, _ in pairs)
    for name, times in counts.items():
        if times > 1:
            return RepeatedField((name[:_LONGEST_NAME_SHOWN],), times)
    return _first_within(pairs)


def _first_within(parts: Iterable[tuple[str | int, Any]]) -> RepeatedField | None:
    for name, part in parts:
        inner = _found(part)
        if inner is not None:
            outer = name[:_LONGEST_NAME_SHOWN] if isinstance(name, str) else name
            return RepeatedField((outer, *inner.path), inner.times)
    return None
