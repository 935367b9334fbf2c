"""The JSON language of filters (MEM-14): checks a filter from outside, and parses it into a tree.

An object has one or more conditions, all of which must be true: `{"role": "user", "category": "travel"}`. `and` and `or` have a
list of such objects, `not` has one. Errors name the path of the field: `filter.or[1].role`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from cloister.domain.conversation import ROLES
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.recall.filter import And, Condition, Entry, Field, Filter, FilterKind, Not, Or
from cloister.domain.text import MAX_CATEGORY, checked_metadata, checked_name, checked_text
from cloister.domain.timestamps import checked_time, parse_iso

DEEPEST = 5
"""How many objects may be inside each other, the outermost included."""
MOST_CONDITIONS = 50
LONGEST_TEXT = 65_536
"""The most characters of a filter as JSON text."""
# An episode is shown by its messages.
KIND_NAMES: Mapping[str, FilterKind] = {
    "message": "message",
    "episode": "message",
    "memory": "memory",
    "entity": "entity",
    "observation": "observation",
}
FIELDS: tuple[Field, ...] = (
    "created_after",
    "created_before",
    "session_id",
    "user_id",
    "role",
    "author",
    "category",
    "metadata",
    "kind",
)
KEYS = (*FIELDS, "and", "or", "not")
_LONGEST_KEY_SHOWN = 64


def parse_filter(given: object, field: str = "filter") -> Filter:
    """The filter of a request; raises `InvalidRequest` with the path of the field that is wrong."""
    parser = _Parser()
    try:
        return parser.conditions(given, field, depth=1)
    except TooLarge as error:
        raise InvalidRequest(error.field, error.problem) from None


def parse_filter_text(given: str, field: str = "filter") -> Filter:
    """The filter in a query parameter or an option: JSON text."""
    return parse_filter(filter_object(given, field), field)


def filter_object(given: str, field: str = "filter") -> object:
    """JSON text as an object. Names that occur twice in an object are refused, because one of the values would be ignored."""
    if len(given) > LONGEST_TEXT:
        raise InvalidRequest(field, f"must have at most {LONGEST_TEXT:,} characters.")

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise InvalidRequest(field, "has the same name twice in one object.")
        return found

    try:
        return json.loads(given, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise InvalidRequest(field, 'is not JSON, such as {"role": "user"}.') from None


def filter_identity(wanted: Filter | None) -> tuple[str, ...]:
    """What a filter adds to the identity of a list, so that a cursor is valid with the filter of its page only."""
    return () if wanted is None else (repr(wanted),)


class _Parser:
    """Counts the conditions of one filter, and parses it."""

    def __init__(self) -> None:
        self._conditions = 0

    def conditions(self, given: object, path: str, depth: int) -> Filter:
        if not isinstance(given, Mapping):
            raise InvalidRequest(path, 'must be an object of conditions, such as {"role": "user"}.')
        if depth > DEEPEST:
            raise InvalidRequest(path, f"is nested more than {DEEPEST} deep.")
        fields = cast(Mapping[object, object], given)
        if not fields:
            raise InvalidRequest(path, "must have at least one condition; leave the filter out to ask for everything.")
        parts = [part for key, value in fields.items() for part in self._part(key, value, path, depth)]
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _part(self, key: object, value: object, path: str, depth: int) -> list[Filter]:
        if key not in KEYS:
            shown = str(key)[:_LONGEST_KEY_SHOWN].encode("utf-8", "replace").decode()
            raise InvalidRequest(f"{path}.{shown}", f"is not known to filters, which know {', '.join(KEYS)}.")
        at = f"{path}.{key}"
        if key == "not":
            return [Not(self.conditions(value, at, depth + 1))]
        if key in ("and", "or"):
            parts = self._list(value, at, depth + 1)
            return [And(parts) if key == "and" else Or(parts)]
        return self._leaves(key, value, at)

    def _list(self, given: object, path: str, depth: int) -> tuple[Filter, ...]:
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence) or not given:
            raise InvalidRequest(path, "must be a list of at least one object of conditions.")
        entries = cast(Sequence[object], given)
        if len(entries) > MOST_CONDITIONS:
            raise _too_many(path)
        return tuple(self.conditions(entry, f"{path}[{at}]", depth) for at, entry in enumerate(entries))

    def _leaves(self, field: Field, value: object, path: str) -> list[Filter]:
        if field == "metadata":
            entries = _entries(value, path)
            self._count(len(entries), path)
            return [Condition(field, entry) for entry in entries]
        self._count(1, path)
        return [Condition(field, _CHECKS[field](value, path))]

    def _count(self, more: int, path: str) -> None:
        self._conditions += more
        if self._conditions > MOST_CONDITIONS:
            raise _too_many(path)


def _too_many(path: str) -> InvalidRequest:
    return InvalidRequest(path, f"is one condition too many: a filter has at most {MOST_CONDITIONS}.")


def _entries(given: object, path: str) -> list[Entry]:
    if not isinstance(given, Mapping) or not given:
        raise InvalidRequest(path, 'must be an object of at least one entry, such as {"source": "mail"}.')
    entries = cast(Mapping[str, object], given)
    checked_metadata(entries, path)
    return [Entry(key, value, json.dumps(value, sort_keys=True)) for key, value in entries.items()]


def _time(given: object, path: str) -> int:
    if not isinstance(given, str):
        raise InvalidRequest(path, "must be a time in ISO 8601, such as 2026-01-31T09:30:00Z.")
    return checked_time(parse_iso(given, path), path)


def _name(given: object, path: str) -> str:
    return checked_name(cast(str, given), path)


def _category(given: object, path: str) -> str:
    return checked_text(cast(str, given), path, MAX_CATEGORY)


def _role(given: object, path: str) -> str:
    if given not in ROLES:
        raise InvalidRequest(path, f"must be one of {', '.join(ROLES)}.")
    return cast(str, given)


def _kind(given: object, path: str) -> str:
    if not isinstance(given, str) or given not in KIND_NAMES:
        raise InvalidRequest(path, f"must be one of {', '.join(KIND_NAMES)}.")
    return KIND_NAMES[given]


_CHECKS: Mapping[Field, Callable[[object, str], str | int]] = {
    "created_after": _time,
    "created_before": _time,
    "session_id": _name,
    "user_id": _name,
    "role": _role,
    "author": _name,
    "category": _category,
    "kind": _kind,
}
