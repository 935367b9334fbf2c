"""The shapes of what is extracted from messages: memories, entities and observations."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from cloister.domain.entity import Entity as DomainEntity
from cloister.domain.identifiers import format_entity_id, format_memory_id, format_message_id, format_observation_id
from cloister.domain.memory import StoredMemory
from cloister.domain.observation import StoredObservation
from cloister.domain.prompts.profile import Profile as DomainProfile
from cloister.domain.prompts.recalled_text import own_words
from cloister.domain.prompts.speaker import attributed
from cloister.domain.recall.relevance import strength_of
from cloister.domain.timestamps import iso
from cloister.domain.truth.revision import MemoryState as DomainState
from cloister.domain.truth.revision import Revision
from cloister.services.memories.entities import EntityDetail as EntityWithMentions
from cloister.services.memories.entities import Mention
from cloister.services.memories.extract import ExtractionCounts
from cloister.services.memories.truth.additions import MemoryAdditions


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """A memory. `user_id` is the user of its session; `source_message_ids` is empty for a memory that was added by hand.

    `status` is `active`, `superseded`, `expired` or `retracted`. It is true from `valid_from`, when it was said, until
    `valid_until`, when the memory `superseded_by` was said. `source` is `extracted`, `written`, `corrected` or `imported`. A
    `pinned` memory is in every context of its pool."""

    id: str
    content: str
    session_id: str
    user_id: str | None
    importance: float | None
    source_message_ids: tuple[str, ...]
    status: str
    valid_from: str
    valid_until: str | None
    superseded_by: str | None
    pinned: bool
    expires_at: str | None
    categories: tuple[str, ...]
    metadata: Mapping[str, object]
    source: str
    created_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RecalledMemory(Memory):
    """A memory in a context, with its `relevance` to the query and its `strength`, as in `ContextItem`. Where several users may be
    quoted, as in a shared project, `content` names the user: `User "ann" …` instead of the stored `The user …`."""

    relevance: float
    strength: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryState:
    """What a person can change of a memory, as it was before a change. `is_retracted` says that it was retracted then."""

    content: str
    importance: float | None
    expires_at: str | None
    pinned: bool
    categories: tuple[str, ...]
    metadata: Mapping[str, object]
    source: str
    is_retracted: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRevision:
    """A change of a memory. `action` is `create`, `correct`, `retract` or `restore`; `changed_by` is the id of an API key,
    `extraction` or `import`, or None where the database was opened without a key. `before` is None for the creation. A change that
    was undone has an `undone_at`."""

    memory_id: str
    action: str
    changed_by: str | None
    changed_at: str
    undone_at: str | None
    before: MemoryState | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Appended:
    """The memories that were added, and how many were not because the session has them already."""

    appended: tuple[Memory, ...]
    duplicates: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """How many memories an extraction added, and how many messages it read."""

    appended: int
    checked_messages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A person, place or thing that the sessions of a project mention, with notes on it."""

    id: str
    name: str
    type: str
    notes: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RecalledEntity(Entity):
    """An entity in a context, with its `relevance` to the query and its `strength`, as in `ContextItem`."""

    relevance: float
    strength: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityRelation:
    """What an entity is to another one of the project, such as `works at`, with the messages that say so, at most 20. Messages that
    were moved to another project are not named."""

    relation: str
    entity_id: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityMention:
    """A message that mentions an entity. `content` is without recalled text that the message quotes."""

    message_id: str
    session_id: str
    user_id: str | None
    role: str
    author: str | None
    content: str
    created_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityDetail(Entity):
    """An entity with the other names that it is known by, its relations to other entities, and the latest messages that mention
    it, at most 50."""

    aliases: tuple[str, ...]
    relations: tuple[EntityRelation, ...]
    mentions: tuple[EntityMention, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """A note that compresses older messages of a session. `created_at` is the time of the last of them, `user_id` the session's
    user."""

    id: str
    content: str
    session_id: str
    user_id: str | None
    source_message_ids: tuple[str, ...]
    created_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileFact:
    """A fact of a profile, with the ids of all memories that say it; an entity of a project has none. In a shared project `content`
    names the user."""

    content: str
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """The stable facts of a user or a project, grouped, those that are pinned first. `text` is the same as a block of quoted data
    for a prompt, of so many `tokens`."""

    text: str
    facts: tuple[ProfileFact, ...]
    tokens: int


def profile_shape(profile: DomainProfile) -> Profile:
    facts = tuple(
        ProfileFact(content=fact.said(named=profile.named), memory_ids=tuple(map(format_memory_id, fact.memories)))
        for fact in profile.facts
    )
    return Profile(text=profile.text, facts=facts, tokens=profile.tokens)


def memory_shape(stored: StoredMemory) -> Memory:
    memory = stored.memory
    return Memory(
        id=format_memory_id(memory.id),
        content=memory.content,
        session_id=stored.session,
        user_id=stored.user,
        importance=memory.importance,
        source_message_ids=tuple(map(format_message_id, memory.sources)),
        status=stored.status,
        valid_from=iso(memory.valid_from),
        valid_until=None if memory.valid_until is None else iso(memory.valid_until),
        superseded_by=None if memory.superseded_by is None else format_memory_id(memory.superseded_by),
        pinned=memory.pinned,
        expires_at=None if memory.expires_at is None else iso(memory.expires_at),
        categories=memory.categories,
        metadata=memory.metadata,
        source=memory.source,
        created_at=iso(memory.created_at),
    )


def revision_shape(revision: Revision) -> MemoryRevision:
    before = revision.before
    return MemoryRevision(
        memory_id=format_memory_id(revision.memory),
        action=revision.action,
        changed_by=revision.changed_by,
        changed_at=iso(revision.changed_at),
        undone_at=None if revision.undone_at is None else iso(revision.undone_at),
        before=None if before is None else _state_shape(before),
    )


def _state_shape(state: DomainState) -> MemoryState:
    return MemoryState(
        content=state.content,
        importance=state.importance,
        expires_at=None if state.expires_at is None else iso(state.expires_at),
        pinned=state.pinned,
        categories=state.categories,
        metadata=state.metadata,
        source=state.source,
        is_retracted=state.retracted_at is not None,
    )


def recalled_memory_shape(stored: StoredMemory, relevance: float, *, named: bool) -> RecalledMemory:
    """`named`: the content names the user, because its reader may be another one (MEM-11)."""
    shape = replace(memory_shape(stored), content=attributed(stored.memory.content, stored.user, named=named))
    return RecalledMemory(**asdict(shape), relevance=relevance, strength=strength_of(relevance))


def recalled_entity_shape(entity: DomainEntity, relevance: float, *, named: bool) -> RecalledEntity:
    shape = entity_shape(entity, named=named)
    return RecalledEntity(**asdict(shape), relevance=relevance, strength=strength_of(relevance))


def appended_shape(appended: MemoryAdditions) -> Appended:
    return Appended(appended=tuple(map(memory_shape, appended.memories)), duplicates=appended.duplicates)


def extraction_shape(extracted: ExtractionCounts) -> Extraction:
    return Extraction(appended=extracted.memories, checked_messages=extracted.checked_messages)


def entity_shape(entity: DomainEntity, *, named: bool = True) -> Entity:
    notes = entity.notes_for(named=named)
    return Entity(id=format_entity_id(entity.id), name=entity.name, type=entity.type, notes=notes)


def entity_detail_shape(detail: EntityWithMentions) -> EntityDetail:
    entity = detail.entity
    return EntityDetail(
        id=format_entity_id(entity.id),
        name=entity.name,
        type=entity.type,
        notes=entity.notes_for(named=True),
        aliases=entity.aliases,
        relations=tuple(
            EntityRelation(
                relation=relation.relation,
                entity_id=format_entity_id(relation.entity),
                message_ids=tuple(map(format_message_id, relation.messages)),
            )
            for relation in detail.relations
        ),
        mentions=tuple(map(mention_shape, detail.mentions)),
    )


def mention_shape(mention: Mention) -> EntityMention:
    message, session, user = mention.said
    return EntityMention(
        message_id=format_message_id(message.id),
        session_id=session,
        user_id=user,
        role=message.role,
        author=message.author,
        content=own_words(message.content),
        created_at=iso(message.created_at),
    )


def observation_shape(stored: StoredObservation, *, named: bool = False) -> Observation:
    """`named`: the content names the user, because its reader may be another one (MEM-11)."""
    observation = stored.observation
    return Observation(
        id=format_observation_id(observation.id),
        content=attributed(observation.content, stored.user, named=named),
        session_id=stored.session,
        user_id=stored.user,
        source_message_ids=tuple(map(format_message_id, observation.sources)),
        created_at=iso(observation.said_at),
    )
