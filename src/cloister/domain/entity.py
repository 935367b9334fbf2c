"""Entities: named people and things of one project (ISO-6), the names that they are known by, and the notes on them (MEM-17)."""

import hashlib
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cloister.domain.conversation import stamps
from cloister.domain.identifiers import EntityId, MessageId, ProjectId
from cloister.domain.memory import same_as
from cloister.domain.patterns import linear

MAX_NOTES = 1_000
MAX_ENTITY_NAME = 120
MAX_ALIASES = 50
MAX_RELATION = 40
UNDO_MICROSECONDS = 24 * 3_600 * 1_000_000
"""How long a merge, a split or a deletion can be undone."""
_MOST_WORDS_OF_A_PERSON = 3
_BETWEEN_SENTENCES = linear(r"(?<=[.!?…])\s+")
# A statement may have full stops inside, such as those of abbreviations.
_MOST_PARTS = 3
# What the object of a relation is to its subject.
_INVERSES: Mapping[str, str] = {
    "works at": "employs",
    "lives in": "home of",
    "studies at": "attended by",
    "from": "origin of",
    "founded": "founded by",
    "married to": "married to",
    "dating": "dating",
    "friend of": "friend of",
    "colleague of": "colleague of",
    "neighbour of": "neighbour of",
    "cousin of": "cousin of",
    "works with": "works with",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A named person or thing. `notes` are merged from all mentions, oldest first; `sources` are the messages that mention it. In a
    private project `user` is the user whose part it is in; None in a shared project, and for sessions without a user. `aliases` are
    the other names that it is known by. `attributed_notes` are the notes with "an unnamed user" for "the user" if the project is
    shared and no session with a user mentions the entity; otherwise None, because the notes name their speakers, or have one."""

    id: EntityId
    project: ProjectId
    user: str | None
    name: str
    type: str
    notes: str
    sources: tuple[MessageId, ...]
    created_at: int
    aliases: tuple[str, ...] = ()
    attributed_notes: str | None = None

    def notes_for(self, *, named: bool) -> str:
        """The notes for a reader; with `named` for one who may be another user than the speakers (MEM-11)."""
        return self.notes if self.attributed_notes is None or not named else self.attributed_notes

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the runtime (CTX-3). There is none for a session: several may mention the entity."""
        return stamps(user=self.user, project=self.project)

    @property
    def trigger(self) -> MessageId | None:
        """The message that mentioned the entity first."""
        return self.sources[0] if self.sources else None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityName:
    """One name of an entity, with the mentions under this name. `part_of` is the name under whose id several names are one entity;
    None for that name itself. `grouped_by_hand`: a person merged or split it, so that no rule does; `name_by_hand`: a person added
    the name, which needs no mention. The `corrected_…` fields are what a person changed, and count for the entity with this id."""

    id: EntityId
    project: ProjectId
    user: str | None
    name: str
    type: str
    created_at: int
    part_of: EntityId | None = None
    grouped_by_hand: bool = False
    name_by_hand: bool = False
    corrected_name: str | None = None
    corrected_type: str | None = None
    corrected_notes: str | None = None
    corrected_at: int | None = None
    deleted_at: int | None = None

    @property
    def entity(self) -> EntityId:
        """The id of the entity that has this name."""
        return self.id if self.part_of is None else self.part_of

    @property
    def is_person(self) -> bool:
        return (self.corrected_type or self.type) == "person"

    @property
    def is_corrected(self) -> bool:
        return self.corrected_at is not None

    def is_in_part_of(self, other: "EntityName") -> bool:
        """Whether both are in the same project, and in the same user's part of it."""
        return (self.project, self.user) == (other.project, other.user)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityRelation:
    """What an entity is to another one of the same project, and the messages that say so."""

    relation: str
    entity: EntityId
    messages: tuple[MessageId, ...]


def same_name(name: str) -> bytes:
    """A digest that is equal for names that differ only in case, spacing or Unicode form; punctuation makes a difference."""
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return hashlib.sha256(folded.encode()).digest()[:16]


def first_name(name: str) -> bytes | None:
    """The digest of the first word of a name that may be a person's; None if it has too many words."""
    words = name.split()
    return same_name(words[0]) if 1 <= len(words) <= _MOST_WORDS_OF_A_PERSON else None


def inverse_relation(relation: str) -> str:
    """The same relation, as the object has it to the subject: "works at" is "employs", "sister of" is "has sister"."""
    if relation in _INVERSES:
        return _INVERSES[relation]
    kin = relation.removesuffix(" of")
    return f"has {kin}" if kin != relation and " " not in kin else f"inverse of: {relation}"


def merged_notes(notes: Iterable[str], limit: int = MAX_NOTES) -> str:
    """The notes without repetitions, as one text of at most `limit` characters; the oldest are dropped first."""
    said = [stripped for note in notes if (stripped := note.strip())]
    if len(said) == 1:
        return said[0]
    distinct = {same_as(note): note for note in said}
    kept: list[str] = []
    length = 0
    for note in reversed(distinct.values()):
        length += len(note) + 1
        if length > limit and kept:
            break
        kept.append(note)
    return " ".join(reversed(kept))


def without_statements(notes: str, digests: Collection[bytes]) -> str:
    """Notes without the sentences that say the same as statements with these digests (`same_as`)."""
    parts = _BETWEEN_SENTENCES.split(notes) if digests else []
    kept: list[str] = []
    at = 0
    while at < len(parts):
        ends = range(min(at + _MOST_PARTS, len(parts)), at, -1)
        said = next((end for end in ends if same_as(" ".join(parts[at:end])) in digests), None)
        if said is None:
            kept.append(parts[at])
        at = at + 1 if said is None else said
    return " ".join(kept) if len(kept) < len(parts) else notes
