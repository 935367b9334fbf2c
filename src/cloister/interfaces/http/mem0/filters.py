"""mem0's filters: checks a filter from outside, parses it into a tree, and says which memories it lets pass.

A filter is an object of conditions, all of which must be true. `AND` and `OR` have a list of such objects; `NOT` has one, or a list
of which none may be true. A condition is a value, `"*"` for any value, or an object of operators: `{"gte": "2026-01-01"}`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal, cast

from cloister.domain.errors import InvalidRequest
from cloister.domain.recall.filter import same_json
from cloister.domain.timestamps import checked_time, from_datetime, parse_iso
from cloister.interfaces.http.mem0.errors import NotSupported
from cloister.interfaces.http.mem0.memories import Record

DEEPEST = 5
MOST_CONDITIONS = 50
MOST_VALUES = 1_000
LONGEST_TEXT = 1_000
OPERATORS = ("in", "gte", "lte", "gt", "lt", "ne", "contains", "icontains")
ANY = "*"
_TEXTS = ("user_id", "agent_id", "app_id", "run_id", "keywords")
_TIMES = ("created_at", "updated_at")
FIELDS = (*_TEXTS, *_TIMES, "categories", "memory_ids", "metadata")
_LONGEST_NAME_SHOWN = 64


@dataclass(frozen=True, slots=True)
class Condition:
    """A field, an entry of metadata as (`metadata`, key), an operator, and what to compare with."""

    field: str
    key: str | None
    operator: str
    value: Any

    def lets_pass(self, record: Record) -> bool:
        found: Any = record.field(self.field) if self.key is None else record.metadata.get(self.key)
        return _COMPARISONS[self.operator](found, self.value)


@dataclass(frozen=True, slots=True)
class Group:
    """Parts of which all, one or none must be true."""

    kind: Literal["AND", "OR", "NOT"]
    parts: tuple["Filter", ...]

    def lets_pass(self, record: Record) -> bool:
        passed = (part.lets_pass(record) for part in self.parts)
        if self.kind == "AND":
            return all(passed)
        return any(passed) if self.kind == "OR" else not any(passed)


Filter = Condition | Group
EVERYTHING = Group("AND", ())


def parse_filters(given: object, field: str = "filters") -> Filter:
    """The filter of a request; raises `InvalidRequest` or `NotSupported` with the path of what is wrong."""
    return _Parser().group(given, field, depth=1)


def all_of(*parts: Filter | None) -> Filter:
    return Group("AND", tuple(part for part in parts if part is not None))


def conditions(wanted: Filter) -> Iterator[Condition]:
    """All conditions of a filter."""
    if isinstance(wanted, Condition):
        yield wanted
        return
    for part in wanted.parts:
        yield from conditions(part)


class _Parser:
    """Counts the conditions of one filter, and parses it."""

    def __init__(self) -> None:
        self._conditions = 0

    def group(self, given: object, path: str, depth: int) -> Filter:
        if not isinstance(given, Mapping):
            raise InvalidRequest(path, 'must be an object of conditions, such as {"user_id": "alice"}.')
        if depth > DEEPEST:
            raise InvalidRequest(path, f"is nested more than {DEEPEST} deep.")
        fields = cast(Mapping[str, object], given)
        parts = [self._part(name, value, f"{path}.{_shown(name)}", depth) for name, value in fields.items()]
        return parts[0] if len(parts) == 1 else Group("AND", tuple(parts))

    def _part(self, name: str, value: Any, path: str, depth: int) -> Filter:
        if name in ("AND", "OR", "NOT"):
            if name == "NOT" and isinstance(value, Mapping):
                return Group("NOT", (self.group(cast(object, value), path, depth + 1),))
            return Group(cast(Any, name), self._parts(value, path, depth + 1))
        if name not in FIELDS:
            raise NotSupported(f"The filter {path!r}", (*FIELDS, "AND", "OR", "NOT"))
        if name == "metadata":
            return self._entries(value, path)
        return self._operators(name, None, value, path)

    def _parts(self, given: object, path: str, depth: int) -> tuple[Filter, ...]:
        if not isinstance(given, list) or not given:
            raise InvalidRequest(path, "must be a list of at least one object of conditions.")
        entries = cast(list[object], given)
        if len(entries) > MOST_CONDITIONS:
            raise _too_many(path)
        return tuple(self.group(entry, f"{path}[{at}]", depth) for at, entry in enumerate(entries))

    def _entries(self, given: object, path: str) -> Filter:
        if not isinstance(given, Mapping) or not given:
            raise InvalidRequest(path, 'must be an object of at least one entry, such as {"topic": "food"}.')
        entries = cast(Mapping[str, object], given)
        return Group("AND", tuple(self._entry(key, value, f"{path}.{_shown(key)}") for key, value in entries.items()))

    def _entry(self, key: str, value: object, path: str) -> Filter:
        """A condition on metadata. An object with an operator compares; any other object, or a list, is a value."""
        given: object = value
        if isinstance(value, Mapping) and any(name in OPERATORS for name in cast(Mapping[str, object], value)):
            return self._operators("metadata", key, given, path)
        return self._condition("metadata", key, ANY if given == ANY else "eq", given, path)

    def _operators(self, field: str, key: str | None, given: Any, path: str) -> Filter:
        if not isinstance(given, Mapping):
            operator = "in" if field == "memory_ids" or isinstance(given, list) else ANY if given == ANY else "eq"
            return self._condition(field, key, operator, given, path)
        operators = cast(Mapping[str, object], given)
        if not operators:
            raise InvalidRequest(path, f"must have an operator: {', '.join(OPERATORS)}.")
        for operator in operators:
            if operator not in OPERATORS:
                raise NotSupported(f"The operator {_shown(operator)!r} of {path!r}", OPERATORS)
        parts = [self._condition(field, key, operator, value, path) for operator, value in operators.items()]
        return parts[0] if len(parts) == 1 else Group("AND", tuple(parts))

    def _condition(self, field: str, key: str | None, operator: str, value: Any, path: str) -> Condition:
        # Each value of metadata is compared with each memory, so it counts as a condition.
        is_list = field == "metadata" and operator == "in" and isinstance(value, list)
        self._conditions += max(1, len(cast(list[object], value))) if is_list else 1
        if self._conditions > MOST_CONDITIONS:
            raise _too_many(path)
        return Condition(field, key, operator, _operand(field, operator, cast(object, value), path))


def _operand(field: str, operator: str, value: object, path: str) -> Any:
    """What a condition compares with: a list for `in`, text for `contains`, a time for the fields that are times."""
    if operator == ANY:
        return None
    if operator == "in":
        if not isinstance(value, list):
            raise InvalidRequest(path, "must be a list.")
        values = cast(list[object], value)
        if len(values) > (MOST_CONDITIONS if field == "metadata" else MOST_VALUES):
            raise InvalidRequest(path, f"has too many values: at most {MOST_VALUES:,}, of metadata {MOST_CONDITIONS}.")
        operands = [_operand(field, "eq", each, path) for each in values]
        return operands if field == "metadata" else frozenset(operands)
    if operator in ("contains", "icontains"):
        if not isinstance(value, str) or field in _TIMES:
            raise InvalidRequest(path, f"cannot be compared with {operator}: it needs a text.")
        return _text(value.casefold() if operator == "icontains" else value, path)
    if field in _TIMES:
        return _time(value, path)
    if field in _TEXTS and value is None:
        return None
    return value if field == "metadata" else _text(value, path)


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidRequest(path, "must be a text.")
    if len(value) > LONGEST_TEXT:
        raise InvalidRequest(path, f"must have at most {LONGEST_TEXT:,} characters.")
    return value


def _time(value: object, path: str) -> int:
    """Microseconds of a date, a time in ISO 8601, or unix seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return checked_time(int(value * 1_000_000), path)
    if not isinstance(value, str):
        raise InvalidRequest(path, "must be a date such as 2026-01-31, or a time such as 2026-01-31T09:30:00Z.")
    return day(value, path) if len(value) == len("2026-01-31") else checked_time(parse_iso(value, path), path)


def day(given: str, path: str) -> int:
    """The beginning of a day in UTC, in microseconds."""
    try:
        found = date.fromisoformat(given) if len(given) == len("2026-01-31") else None
    except ValueError:
        found = None
    if found is None:
        raise InvalidRequest(path, "must be a date such as 2026-01-31.")
    return checked_time(from_datetime(datetime(found.year, found.month, found.day, tzinfo=UTC)), path)


def moment(given: object, path: str) -> int:
    return _time(given, path)


def _equal(found: Any, value: Any) -> bool:
    return value in found if isinstance(found, tuple) else same_json(found, value)


def _among(found: Any, values: frozenset[Any] | list[Any]) -> bool:
    if isinstance(values, frozenset):
        return not values.isdisjoint(cast(tuple[Any, ...], found) if isinstance(found, tuple) else (found,))
    return any(_equal(found, value) for value in values)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(found: Any, value: Any) -> bool:
        numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (found, value))
        texts = isinstance(found, str) and isinstance(value, str)
        return (numbers or texts) and compare(found, value)

    return holds


def _contains(found: Any, value: str) -> bool:
    if isinstance(found, str):
        return value in found
    return isinstance(found, tuple | list) and value in cast(Sequence[object], found)


def _contains_folded(found: Any, value: str) -> bool:
    if isinstance(found, str):
        return value in found.casefold()
    if not isinstance(found, tuple | list):
        return False
    return any(isinstance(each, str) and each.casefold() == value for each in cast(Sequence[object], found))


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda found, value: not _equal(found, value),
    "in": _among,
    ANY: lambda found, _: found is not None and found != (),
    "gt": _ordered(lambda found, value: found > value),
    "gte": _ordered(lambda found, value: found >= value),
    "lt": _ordered(lambda found, value: found < value),
    "lte": _ordered(lambda found, value: found <= value),
    "contains": _contains,
    "icontains": _contains_folded,
}


def _too_many(path: str) -> InvalidRequest:
    return InvalidRequest(path, f"is one condition too many: a filter has at most {MOST_CONDITIONS}.")


def _shown(name: object) -> str:
    return str(name)[:_LONGEST_NAME_SHOWN].encode("utf-8", "replace").decode()
