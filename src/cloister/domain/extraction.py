"""The input and output of extraction: statements in, memories and entities out, before they are stored.

Every extracted item names the ids of the statements it came from, so that it can be deleted with them and is visible no further
than they are (design 3.6).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cloister.domain.identifiers import MemoryId, MessageId, PoolId

CATEGORIES = (
    "name",
    "place",
    "work",
    "family",
    "possession",
    "preference",
    "health",
    "self",
    "plan",
    "decision",
    "change",
)
"""The categories that an extractor gives memories, unless a project wants others (MEM-15)."""
EntityType = Literal["person", "place", "organisation", "project", "product", "event", "other"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A completed message as input of extraction. `author` is the speaker's name, if it is more than the role; `recalled_pool` is
    the pool whose text the message quotes, or which its model was given (ISO-12)."""

    id: MessageId
    role: str
    content: str
    author: str | None
    created_at: int
    recalled_pool: PoolId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractedMemory:
    """A memory to be stored (MEM-1). `importance` is from 0 to 1, None if the extractor gives none.

    `replaces` are known memories that this one makes untrue (MEM-12). `subject` is the key of a fact that has one value at a time,
    such as `home`, `employer`, `name`, or `diet:meat` for a preference; None if the fact has no single value. `retracts` says that
    the statement only ends an older fact, as "I no longer eat meat" does; it is stored too. `valid_from` is when the fact was said;
    None: when its first source was. `metadata` is what all messages that it came from have in common, or what a caller gave."""

    content: str
    sources: tuple[MessageId, ...]
    importance: float | None = None
    replaces: tuple[MemoryId, ...] = ()
    subject: str | None = None
    retracts: bool = False
    categories: tuple[str, ...] = ()
    valid_from: int | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, kw_only=True, slots=True)
class Guidance:
    """What a project wants to be extracted (MEM-15). Only an extractor with a model follows `instructions`; all else is enforced on
    the answer of any extractor. With `wanted` categories, only memories of one of them are kept. `languages` are codes such as
    `en`; messages in others are not read."""

    instructions: str = ""
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    minimum_importance: float = 0.0
    languages: tuple[str, ...] = ()

    def keeps(self, memory: "ExtractedMemory") -> bool:
        """Whether the project wants this memory. One without an importance is below any minimum."""
        categories = {category.casefold() for category in memory.categories}
        if self.wanted and categories.isdisjoint(category.casefold() for category in self.wanted):
            return False
        if not categories.isdisjoint(category.casefold() for category in self.unwanted):
            return False
        return (memory.importance or 0.0) >= self.minimum_importance


NO_GUIDANCE = Guidance()


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownMemory:
    """A memory that is true now, as an extractor is shown it. A new memory names its `id` in `replaces` to supersede it."""

    id: MemoryId
    content: str
    subject: str | None
    valid_from: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ManualMemory:
    """A memory that a person or a program wrote, and the time from which on it is true. `is_own` says that "I" in it is the user of
    the session, and not an assistant."""

    content: str
    said_at: int
    is_own: bool = True


class FactOfMemory(NamedTuple):
    """Of what fact with one value at a time a memory states the value, and the known memories that it makes untrue."""

    subject: str | None = None
    replaces: tuple[MemoryId, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractedRelation:
    """What an entity is to another one, which is found by its name among those of the same extraction (MEM-17)."""

    relation: str
    other: str
    sources: tuple[MessageId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractedEntity:
    """An entity to be stored, with notes on what its sources say of it (ISO-9), and its relations to others."""

    name: str
    type: EntityType
    notes: str
    sources: tuple[MessageId, ...]
    relations: tuple[ExtractedRelation, ...] = ()
