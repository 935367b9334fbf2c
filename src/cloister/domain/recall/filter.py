"""Filters: a tree of conditions on messages, memories, entities and observations (MEM-14), and what it means for a row.

A condition on something that a row does not have, such as the role of a memory, is false for it. `matches` decides for one row, and
`selected` for the columns of many. `possible`, `created_range` and `may_match_unlabelled` say which rows need not be read at all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from cloister.domain.text import Metadata

Field = Literal[
    "created_after", "created_before", "session_id", "user_id", "role", "author", "category", "metadata", "kind"
]
FilterKind = Literal["message", "memory", "entity", "observation"]
Mask = npt.NDArray[np.bool_]
EARLIEST, LATEST = -(1 << 62), 1 << 62
_LABELS = frozenset({"category", "metadata"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of metadata. `text` is its value as JSON, so that a filter is hashable."""

    key: str
    value: object = field(compare=False)
    text: str


@dataclass(frozen=True, slots=True)
class Condition:
    """One field and the value it must have: microseconds for times, an `Entry` for metadata, else text."""

    field: Field
    value: str | int | Entry


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: "Filter"


Filter = Condition | And | Or | Not


@dataclass(frozen=True, kw_only=True, slots=True)
class FilteredRow:
    """What a filter can ask of one row. `session` is its external id. `created_at` of a memory or an observation is when it
    was said: a memory of 2019 that was extracted or imported today is of 2019, as its message is."""

    kind: FilterKind
    created_at: int
    session: str | None = None
    user: str | None = None
    role: str | None = None
    author: str | None = None
    categories: Sequence[str] = ()
    metadata: Metadata = field(default_factory=dict[str, object])


def matches(wanted: Filter, row: FilteredRow) -> bool:
    """Whether the filter lets a row pass."""
    match wanted:
        case And(parts=parts):
            return all(matches(part, row) for part in parts)
        case Or(parts=parts):
            return any(matches(part, row) for part in parts)
        case Not(part=part):
            return not matches(part, row)
        case Condition():
            return _holds(wanted, row)


def selected(wanted: Filter, mask_of: Callable[[Condition], Mask]) -> Mask:
    """Which of many rows the filter lets pass, given which of them fulfil a condition."""
    match wanted:
        case And(parts=parts):
            return reduce(np.logical_and, (selected(part, mask_of) for part in parts))
        case Or(parts=parts):
            return reduce(np.logical_or, (selected(part, mask_of) for part in parts))
        case Not(part=part):
            return ~selected(part, mask_of)
        case Condition():
            return mask_of(wanted)


def possible(wanted: Filter, known: Callable[[Condition], bool | None]) -> bool | None:
    """Whether the filter lets rows pass of which only some conditions are known; None if that depends on the others."""
    match wanted:
        case And(parts=parts):
            found = [possible(part, known) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts=parts):
            found = [possible(part, known) for part in parts]
            return True if True in found else None if None in found else False
        case Not(part=part):
            inner = possible(part, known)
            return None if inner is None else not inner
        case Condition():
            return known(wanted)


def may_match_unlabelled(wanted: Filter) -> bool:
    """Whether a row without categories and metadata can pass."""
    return possible(wanted, lambda condition: False if condition.field in _LABELS else None) is not False


def asks_for(wanted: Filter, *fields: Field) -> bool:
    """Whether the filter has a condition on one of these fields."""
    match wanted:
        case And(parts=parts) | Or(parts=parts):
            return any(asks_for(part, *fields) for part in parts)
        case Not(part=part):
            return asks_for(part, *fields)
        case Condition():
            return wanted.field in fields


def created_range(wanted: Filter) -> tuple[int, int]:
    """The first and last time of creation that the filter can let pass; the first is after the last if there is none."""
    return _range(wanted, negated=False) or (LATEST, EARLIEST)


def _range(wanted: Filter, *, negated: bool) -> tuple[int, int] | None:
    match wanted:
        case Not(part=part):
            return _range(part, negated=not negated)
        case Condition(field="created_after", value=int(time)):
            return (EARLIEST, time) if negated else (time + 1, LATEST)
        case Condition(field="created_before", value=int(time)):
            return (time, LATEST) if negated else (EARLIEST, time - 1)
        case Condition():
            return EARLIEST, LATEST
        case And(parts=parts) | Or(parts=parts):
            ranges = [_range(part, negated=negated) for part in parts]
            if isinstance(wanted, And) is not negated:
                return _intersection(ranges)
            found = [each for each in ranges if each is not None]
            return (min(low for low, _ in found), max(high for _, high in found)) if found else None


def _intersection(ranges: Sequence[tuple[int, int] | None]) -> tuple[int, int] | None:
    found = [each for each in ranges if each is not None]
    if len(found) < len(ranges):
        return None
    low, high = max(low for low, _ in found), min(high for _, high in found)
    return (low, high) if low <= high else None


def same_json(one: object, other: object) -> bool:
    """Whether two JSON values are equal: numbers by their value, and a number is never a boolean."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        left, right = cast(Mapping[str, object], one), cast(Mapping[str, object], other)
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        ours, theirs = cast(Sequence[object], one), cast(Sequence[object], other)
        return len(ours) == len(theirs) and all(map(same_json, ours, theirs))
    return one == other


def has_entry(metadata: Metadata, entry: Entry) -> bool:
    """Whether metadata has an entry at its top level."""
    return entry.key in metadata and same_json(metadata[entry.key], entry.value)


def _holds(condition: Condition, row: FilteredRow) -> bool:
    match condition:
        case Condition(field="created_after", value=int(time)):
            return row.created_at > time
        case Condition(field="created_before", value=int(time)):
            return row.created_at < time
        case Condition(field="metadata", value=Entry() as entry):
            return has_entry(row.metadata, entry)
        case Condition(field="category"):
            return condition.value in row.categories
        case _:
            return condition.value == _text_of(row, condition.field)


def _text_of(row: FilteredRow, name: Field) -> str | None:
    known = {
        "session_id": row.session,
        "user_id": row.user,
        "role": row.role,
        "author": row.author,
        "kind": row.kind,
    }
    return known[name]
