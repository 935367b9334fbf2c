"""Entities: things with a name, known inside one project (ISO-6), and what was said of them."""

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
    """`notes` are merged over all mentions, oldest first, and `sources` are the messages that mention it. `user` is whose part of a
    private project it is in; none in a shared one, and where nobody is named."""

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
        """What the runtime stamps on it (CTX-3): many sessions may mention it, but all in one project."""
        return stamps(user=self.user, project=self.project)

    @property
    def trigger(self) -> MessageId | None:
        """The message that mentioned it first."""
        return self.sources[0] if self.sources else None


def same_name(name: str) -> bytes:
    """Equal for names that differ only in case, spacing or Unicode form; punctuation counts in names."""
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return hashlib.sha256(folded.encode()).digest()[:16]


def merged_notes(notes: Iterable[str]) -> str:
    """Each note once, up to a limit; of what is over it the oldest goes first."""
    distinct = {same_as(note): note.strip() for note in notes if note.strip()}
    kept: list[str] = []
    length = 0
    for note in reversed(distinct.values()):
        length += len(note) + 1
        if length > MAX_NOTES and kept:
            break
        kept.append(note)
    return " ".join(reversed(kept))
