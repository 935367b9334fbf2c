"""What is extracted from what was said: memories, entities and observations, before they are stored.

Evidence is given as `Statement`s, in order; every extracted thing names the ids of those it came from (design 3.6: a derived row
carries its sources and is never wider than them).
"""

from dataclasses import dataclass
from typing import Literal

from cloister.domain.identifiers import MessageId, PoolId

EntityType = Literal["person", "place", "organisation", "project", "product", "event", "other"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A completed message as evidence. `author` is the speaker's name where the role does not say who spoke; `recalled_pool` the
    pool whose text the message quotes or was given (ISO-12)."""

    id: MessageId
    role: str
    content: str
    author: str | None
    created_at: int
    recalled_pool: PoolId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractedMemory:
    """A short statement worth keeping (MEM-1). `importance` is 0…1 where the extractor has an opinion."""

    content: str
    sources: tuple[MessageId, ...]
    importance: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractedEntity:
    """A thing with a name, and what these statements say of it (ISO-9)."""

    name: str
    type: EntityType
    notes: str
    sources: tuple[MessageId, ...]
