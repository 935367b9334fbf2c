"""The records of an archive, one for each kind of line: what is stored of a tenant, a project or a user, and nothing computed.

A record is written with all its fields, in the order in which they are declared, and read with exactly these: an unknown or missing
field is refused, but for those with a default, which earlier archives do not have. There are no records of keys, and none has a
tenant: an archive belongs to the tenant into which it is imported.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Annotated, ClassVar, TypeVar, cast, get_args, get_type_hints

from cloister.domain.archive import codecs
from cloister.domain.archive.codecs import Codec, many, one_of, optional
from cloister.domain.conversation import ROLES, STATUSES, Role, Status
from cloister.domain.entity import MAX_ENTITY_NAME, MAX_NOTES, MAX_RELATION
from cloister.domain.errors import InvalidRequest
from cloister.domain.extraction import EntityType
from cloister.domain.identifiers import EntityId, MemoryId, MessageId, ObservationId, ProjectId, RevisionId, SessionId
from cloister.domain.memory import MAX_MEMORY, MemorySource
from cloister.domain.project_settings import MAX_SYSTEM_PROMPT
from cloister.domain.scope import MemberVisibility
from cloister.domain.text import Metadata
from cloister.domain.truth.revision import RevisionAction

PARENT_NOT_GIVEN = MessageId(-1)
"""The parent of a message in an archive without branches: the message before it."""
_LONGEST_NOTE = 10_000
R = TypeVar("R", bound="Record")


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One line of an archive, without its kind."""

    kind: ClassVar[str]

    def line(self) -> dict[str, object]:
        values = {name: codec.write(getattr(self, name)) for name, codec in _codecs(type(self)).items()}
        return {"kind": self.kind, **values}


@cache
def _codecs(record: type[Record]) -> Mapping[str, Codec]:
    """How each field of a kind is written and read: the second part of its annotation."""
    hints = get_type_hints(record, include_extras=True)
    return {each.name: hints[each.name].__metadata__[0] for each in fields(record)}


def record_of(record: type[R], line: Mapping[str, object]) -> R:
    """The record of a line of its kind, checked."""
    known = _codecs(record)
    for name in line:
        if name not in known and name != "kind":
            raise InvalidRequest(f"{record.kind}.{name[:64]}", "is not a field of this kind of line.")
    for each in fields(record):
        if each.name not in line and each.default is MISSING:
            raise InvalidRequest(f"{record.kind}.{each.name}", "is missing.")
    given = {name: codec for name, codec in known.items() if name in line}
    return record(**{name: codec.read(line[name], f"{record.kind}.{name}") for name, codec in given.items()})


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectRecord(Record):
    """A project. Its settings are empty in the archive of a user: they are the organisation's."""

    kind = "project"
    id: Annotated[ProjectId, codecs.PROJECT_ID]
    name: Annotated[str, codecs.NAME]
    is_default: Annotated[bool, codecs.FLAG]
    member_visibility: Annotated[MemberVisibility, one_of(("shared", "private"))]
    settings: Annotated[Metadata, codecs.DOCUMENT]
    created_at: Annotated[int, codecs.TIME]


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRecord(Record):
    """A session. Its `id` is in the high bits of its messages' ids. `next_sequence` is the number of its next message,
    `episode_id` the episode that the next reply belongs to, `observed_message_id` the last message that observations cover.
    Messages up to `settled_message_id` are not extracted again: a person deleted something that came from them."""

    kind = "session"
    id: Annotated[SessionId, codecs.SESSION_NUMBER]
    external_id: Annotated[str, codecs.NAME]
    project_id: Annotated[ProjectId | None, optional(codecs.PROJECT_ID)]
    user_id: Annotated[str | None, optional(codecs.NAME)]
    title: Annotated[str | None, optional(codecs.NAME)]
    tags: Annotated[tuple[str, ...], codecs.TAGS]
    metadata: Annotated[Metadata, codecs.METADATA]
    next_sequence: Annotated[int, codecs.SEQUENCE]
    episode_id: Annotated[MessageId | None, optional(codecs.EPISODE_ID)]
    observed_message_id: Annotated[MessageId | None, optional(codecs.MESSAGE_ID)]
    created_at: Annotated[int, codecs.TIME]
    updated_at: Annotated[int, codecs.TIME]
    pinned: Annotated[bool, codecs.FLAG] = False
    archived: Annotated[bool, codecs.FLAG] = False
    system_prompt: Annotated[str | None, optional(codecs.text(MAX_SYSTEM_PROMPT))] = None
    model: Annotated[str | None, optional(codecs.NAME)] = None
    settled_message_id: Annotated[MessageId | None, optional(codecs.MESSAGE_ID)] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FormerProjectRecord(Record):
    """A project in which a session was before it moved: its messages up to `last_message_id` were said there, and give their
    entities to it when they are extracted. `project_id` is null if that project is not in the archive."""

    kind = "former_project"
    last_message_id: Annotated[MessageId, codecs.MESSAGE_ID]
    project_id: Annotated[ProjectId | None, optional(codecs.PROJECT_ID)]


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageRecord(Record):
    """A message of the session before it. `is_memory_checked`: it was looked at for memories. `has_recalled_text`: it quotes what
    was recalled where its session is, or was made with it. `parent_id` is the message that it follows, null for a first one;
    `is_current`: it is on the current branch of its session."""

    kind = "message"
    id: Annotated[MessageId, codecs.MESSAGE_ID]
    role: Annotated[Role, one_of(ROLES)]
    author: Annotated[str | None, optional(codecs.NAME)]
    content: Annotated[str, codecs.CONTENT]
    status: Annotated[Status, one_of(STATUSES)]
    episode_id: Annotated[MessageId, codecs.EPISODE_ID]
    is_memory_checked: Annotated[bool, codecs.FLAG]
    has_recalled_text: Annotated[bool, codecs.FLAG]
    categories: Annotated[tuple[str, ...], codecs.CATEGORIES]
    metadata: Annotated[Metadata, codecs.METADATA]
    created_at: Annotated[int, codecs.TIME]
    parent_id: Annotated[MessageId | None, optional(codecs.MESSAGE_ID)] = PARENT_NOT_GIVEN
    is_current: Annotated[bool, codecs.FLAG] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRecord(Record):
    """A memory of the session before it. `digest` is equal for statements that say the same. `superseded_by` and `valid_until` are
    for readers: an import works them out again, from subjects, times and replacements."""

    kind = "memory"
    id: Annotated[MemoryId, codecs.MEMORY_ID]
    content: Annotated[str, codecs.text(MAX_MEMORY)]
    importance: Annotated[float | None, optional(codecs.IMPORTANCE)]
    source_message_ids: Annotated[tuple[MessageId, ...], many(codecs.MESSAGE_ID)]
    source: Annotated[MemorySource, one_of(get_args(MemorySource))]
    subject: Annotated[str | None, optional(codecs.NAME)]
    categories: Annotated[tuple[str, ...], codecs.CATEGORIES]
    metadata: Annotated[Metadata, codecs.METADATA]
    pinned: Annotated[bool, codecs.FLAG]
    digest: Annotated[bytes, codecs.DIGEST]
    valid_from: Annotated[int, codecs.TIME]
    valid_until: Annotated[int | None, optional(codecs.TIME)]
    superseded_by: Annotated[MemoryId | None, optional(codecs.MEMORY_ID)]
    expires_at: Annotated[int | None, optional(codecs.TIME)]
    retracted_at: Annotated[int | None, optional(codecs.TIME)]
    created_at: Annotated[int, codecs.TIME]


@dataclass(frozen=True, kw_only=True, slots=True)
class StateRecord(Record):
    """What people can change of a memory, as it was before a change; part of a revision, not a line."""

    kind = "state"
    content: Annotated[str, codecs.text(MAX_MEMORY)]
    subject: Annotated[str | None, optional(codecs.NAME)]
    importance: Annotated[float | None, optional(codecs.IMPORTANCE)]
    source: Annotated[MemorySource, one_of(get_args(MemorySource))]
    categories: Annotated[tuple[str, ...], codecs.CATEGORIES]
    metadata: Annotated[Metadata, codecs.METADATA]
    pinned: Annotated[bool, codecs.FLAG]
    expires_at: Annotated[int | None, optional(codecs.TIME)]
    retracted_at: Annotated[int | None, optional(codecs.TIME)]


def _read_state(value: object, field: str) -> StateRecord:
    if not isinstance(value, dict):
        raise InvalidRequest(field, "must be a JSON object.")
    return record_of(StateRecord, cast(Mapping[str, object], value))


def _write_state(state: StateRecord) -> dict[str, object]:
    return {name: value for name, value in state.line().items() if name != "kind"}


@dataclass(frozen=True, kw_only=True, slots=True)
class RevisionRecord(Record):
    """A change of the memory before it by a person. `digest` is that of its text before, if the text was changed; `changed_by` is
    the id of an API key, or null."""

    kind = "revision"
    id: Annotated[RevisionId, codecs.REVISION_ID]
    action: Annotated[RevisionAction, one_of(get_args(RevisionAction))]
    changed_by: Annotated[str | None, optional(codecs.NAME)]
    digest: Annotated[bytes | None, optional(codecs.DIGEST)]
    before: Annotated[StateRecord, Codec(_read_state, _write_state)]
    changed_at: Annotated[int, codecs.TIME]
    undone_at: Annotated[int | None, optional(codecs.TIME)]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplacementRecord(Record):
    """Two memories of which an extractor said that the newer one makes the older one untrue."""

    kind = "replacement"
    older_id: Annotated[MemoryId, codecs.MEMORY_ID]
    newer_id: Annotated[MemoryId, codecs.MEMORY_ID]


@dataclass(frozen=True, kw_only=True, slots=True)
class ObservationRecord(Record):
    """A note on the messages from `first_message_id` to `last_message_id` of the session before it."""

    kind = "observation"
    id: Annotated[ObservationId, codecs.OBSERVATION_ID]
    content: Annotated[str, codecs.text(_LONGEST_NOTE)]
    source_message_ids: Annotated[tuple[MessageId, ...], many(codecs.MESSAGE_ID)]
    first_message_id: Annotated[MessageId, codecs.MESSAGE_ID]
    last_message_id: Annotated[MessageId, codecs.MESSAGE_ID]
    said_at: Annotated[int, codecs.TIME]
    created_at: Annotated[int, codecs.TIME]


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemRecord(Record):
    """An item in OpenAI's format that follows the message before it, or comes before all messages if `message_id` is null. At
    position 0 it is what the item of the message has besides its text: `lengths` are those of the texts that were taken out of
    `item`; both are null if it has an id only. `response_id` is the response that made it, if one did."""

    kind = "item"
    id: Annotated[int, codecs.ITEM_ID]
    message_id: Annotated[MessageId | None, optional(codecs.MESSAGE_ID)]
    position: Annotated[int, codecs.WHOLE_NUMBER]
    response_id: Annotated[int | None, optional(codecs.RESPONSE_ID)]
    lengths: Annotated[tuple[int, ...] | None, optional(many(codecs.WHOLE_NUMBER))]
    item: Annotated[Metadata | None, optional(codecs.JSON_OBJECT)]


@dataclass(frozen=True, kw_only=True, slots=True)
class ResponseRecord(Record):
    """A response of OpenAI's interface in the session before it, to the message `question_id`. `message_ids` are the messages that
    its request added; `owns_messages` says that deleting the response deletes them. `body` has no text of messages."""

    kind = "response"
    id: Annotated[int, codecs.RESPONSE_ID]
    question_id: Annotated[MessageId, codecs.MESSAGE_ID]
    reply_id: Annotated[MessageId | None, optional(codecs.MESSAGE_ID)]
    owns_messages: Annotated[bool, codecs.FLAG]
    message_ids: Annotated[tuple[MessageId, ...], many(codecs.MESSAGE_ID)]
    body: Annotated[Metadata, codecs.JSON_OBJECT]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityRecord(Record):
    """A name of an entity of a project; in a private project, of the part of `user_id`. Names with the same `part_of` are one
    entity, together with the name that has this id, which comes before them. `grouped_by_hand`: a person merged or split the name;
    `name_by_hand`: a person added it. The `corrected_…` fields are what a person changed of the entity."""

    kind = "entity"
    id: Annotated[EntityId, codecs.ENTITY_ID]
    project_id: Annotated[ProjectId, codecs.PROJECT_ID]
    user_id: Annotated[str | None, optional(codecs.NAME)]
    name: Annotated[str, codecs.NAME]
    type: Annotated[str, codecs.NAME]
    created_at: Annotated[int, codecs.TIME]
    part_of: Annotated[EntityId | None, optional(codecs.ENTITY_ID)] = None
    grouped_by_hand: Annotated[bool, codecs.FLAG] = False
    name_by_hand: Annotated[bool, codecs.FLAG] = False
    corrected_name: Annotated[str | None, optional(codecs.text(MAX_ENTITY_NAME))] = None
    corrected_type: Annotated[str | None, optional(one_of(get_args(EntityType)))] = None
    corrected_notes: Annotated[str | None, optional(codecs.text(MAX_NOTES))] = None
    corrected_at: Annotated[int | None, optional(codecs.TIME)] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MentionRecord(Record):
    """What a message says of the entity before it; `notes` may be empty."""

    kind = "mention"
    message_id: Annotated[MessageId, codecs.MESSAGE_ID]
    notes: Annotated[str, codecs.text_or_empty(_LONGEST_NOTE)]
    created_at: Annotated[int, codecs.TIME]


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationRecord(Record):
    """What a message says of two names of entities of the same part of a project. After all entities."""

    kind = "relation"
    subject_id: Annotated[EntityId, codecs.ENTITY_ID]
    relation: Annotated[str, codecs.text(MAX_RELATION)]
    object_id: Annotated[EntityId, codecs.ENTITY_ID]
    message_id: Annotated[MessageId, codecs.MESSAGE_ID]
    created_at: Annotated[int, codecs.TIME]
