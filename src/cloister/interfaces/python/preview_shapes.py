"""The shapes of dry runs: what a change or an extraction would do."""

from dataclasses import asdict, dataclass

from cloister.domain.erasure import Readers
from cloister.domain.timestamps import iso
from cloister.services.conversations.move import MovePreview as DomainMovePreview
from cloister.services.memories.preview import PreviewedExtraction


@dataclass(frozen=True, kw_only=True, slots=True)
class VisibilityPreview:
    """How many sessions, of how many users, would begin to recall each other. `user_ids` are the first 100 of these users, for an
    admin; None for any other caller."""

    sessions: int
    users: int
    user_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MovePreview:
    """What would move with a session. `replies_given_recalled_text` counts its replies that were given recalled text of the pool
    that it would leave: their own words move along, what they quote of that text does not. `sessions` and `users`: how many other
    sessions, of how many users, would recall it from then on; None for a key that is bound to one user. `user_ids` are the first
    100 of these users, for an admin; None for any other caller."""

    messages: int
    memories: int
    observations: int
    replies_given_recalled_text: int
    sessions: int | None
    users: int | None
    user_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PreviewedMemory:
    """A memory that an extraction would keep. `subject` is the key of a fact that has one value at a time, such as `home`: of two
    memories with one subject, the later takes the place of the earlier. `message_positions` count from zero."""

    content: str
    importance: float | None
    categories: tuple[str, ...]
    subject: str | None
    valid_from: str
    message_positions: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PreviewedEntity:
    """An entity that an extraction would keep. `message_positions` count from zero."""

    name: str
    type: str
    notes: str
    message_positions: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionPreview:
    """What an extraction would keep of given messages. `notice` says what the extractor cannot read, if there is something."""

    memories: tuple[PreviewedMemory, ...]
    entities: tuple[PreviewedEntity, ...]
    notice: str | None


def extraction_preview_shape(preview: PreviewedExtraction) -> ExtractionPreview:
    return ExtractionPreview(
        memories=tuple(
            PreviewedMemory(
                content=memory.content,
                importance=memory.importance,
                categories=memory.categories,
                subject=memory.subject,
                valid_from=iso(memory.valid_from or 0),
                message_positions=tuple(map(int, memory.sources)),
            )
            for memory in preview.memories
        ),
        entities=tuple(
            PreviewedEntity(
                name=entity.name,
                type=entity.type,
                notes=entity.notes,
                message_positions=tuple(map(int, entity.sources)),
            )
            for entity in preview.entities
        ),
        notice=preview.notice,
    )


def visibility_preview_shape(readers: Readers) -> VisibilityPreview:
    return VisibilityPreview(**asdict(readers))


def move_preview_shape(preview: DomainMovePreview) -> MovePreview:
    readers = preview.readers
    return MovePreview(
        messages=preview.messages,
        memories=preview.memories,
        observations=preview.observations,
        replies_given_recalled_text=preview.replies_given_recalled_text,
        sessions=None if readers is None else readers.sessions,
        users=None if readers is None else readers.users,
        user_ids=None if readers is None else readers.user_ids,
    )
