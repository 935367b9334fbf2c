"""What a session does not recall, although it is in its pool: messages, memories and entities that somebody found not relevant."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

ExcludedKind = Literal["message", "memory", "entity"]
MOST_EXCLUSIONS = 200
"""How many a session may have."""


class Exclusion(NamedTuple):
    """`item` is the id of the message, memory or entity."""

    id: int
    created_at: int
    kind: ExcludedKind
    item: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Excluded:
    """The excluded ids of each kind. Ids of another pool exclude nothing: no recall finds them."""

    messages: frozenset[int] = frozenset()
    memories: frozenset[int] = frozenset()
    entities: frozenset[int] = frozenset()


NOTHING_EXCLUDED = Excluded()


def excluded_by(exclusions: Iterable[Exclusion]) -> Excluded:
    found = list(exclusions)
    if not found:
        return NOTHING_EXCLUDED
    return Excluded(
        messages=frozenset(each.item for each in found if each.kind == "message"),
        memories=frozenset(each.item for each in found if each.kind == "memory"),
        entities=frozenset(each.item for each in found if each.kind == "entity"),
    )
