"""Entities: named people and things of one project (ISO-6), and the notes on them."""

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from cloister.domain.conversation import stamps
from cloister.domain.identifiers import EntityId, MessageId, ProjectId
from cloister.domain.memory import same_as

MAX_NOTES = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A named person or thing. `notes` are merged from all mentions, oldest first; `sources` are the messages that mention it. In a
    private project `user` is the user whose part it is in; None in a shared project, and for sessions without a user."""

    id: EntityId
    project: ProjectId
    user: str | None
    name: str
    type: str
    notes: str
    sources: tuple[MessageId, ...]
    created_at: int

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the runtime (CTX-3). There is none for a session: several may mention the entity."""
        return stamps(user=self.user, project=self.project)

    @property
    def trigger(self) -> MessageId | None:
        """The message that mentioned the entity first."""
        return self.sources[0] if self.sources else None


def same_name(name: str) -> bytes:
    """A digest that is equal for names that differ only in case, spacing or Unicode form; punctuation makes a difference."""
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return hashlib.sha256(folded.encode()).digest()[:16]


def merged_notes(notes: Iterable[str]) -> str:
    """The notes without repetitions, as one text of at most `MAX_NOTES` characters; the oldest are dropped first."""
    distinct = {same_as(note): note.strip() for note in notes if note.strip()}
    kept: list[str] = []
    length = 0
    for note in reversed(distinct.values()):
        length += len(note) + 1
        if length > MAX_NOTES and kept:
            break
        kept.append(note)
    return " ".join(reversed(kept))
