"""The input and output of extraction: statements in, memories and entities out, before they are stored.

Every extracted item names the ids of the statements it came from, so that it can be deleted with them and is visible no further
than they are (design 3.6).
"""

from dataclasses import dataclass
from typing import Literal

from cloister.domain.identifiers import MessageId, PoolId

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
    """A memory to be stored (MEM-1). `importance` is from 0 to 1, None if the extractor gives none."""

    content: str
    sources: tuple[MessageId, ...]
    importance: float | None = None


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
