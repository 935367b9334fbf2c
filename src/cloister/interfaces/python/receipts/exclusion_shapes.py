"""The shape of what a session does not recall, and the ids of that."""

from dataclasses import dataclass

from cloister.domain.errors import NotFound
from cloister.domain.identifiers import parse_entity_id, parse_memory_id, parse_message_id
from cloister.domain.sessions.exclusions import ExcludedKind
from cloister.domain.timestamps import iso
from cloister.services.receipts.exclusions import ShownExclusion, formatted

_PREFIXES: dict[str, ExcludedKind] = {"msg_": "message", "mem_": "memory", "ent_": "entity"}
_PARSERS = {"message": parse_message_id, "memory": parse_memory_id, "entity": parse_entity_id}


@dataclass(frozen=True, kw_only=True, slots=True)
class Exclusion:
    """A message, memory or entity that a session does not recall, although it is in its pool: `kind` and `id` name it, `content` is
    what it says now, `session_id` the session it is from (none for an entity), `user_id` whose words
    it is. `created_at` is when it was excluded."""

    kind: str
    id: str
    content: str
    session_id: str | None
    user_id: str | None
    created_at: str


def exclusion_shape(shown: ShownExclusion) -> Exclusion:
    made = shown.exclusion
    return Exclusion(
        kind=made.kind,
        id=formatted(made.kind, made.item),
        content=shown.words.content,
        session_id=shown.words.session,
        user_id=shown.words.user,
        created_at=iso(made.created_at),
    )


def parse_excluded(kind: ExcludedKind, given: str) -> int:
    """The number of the item of this kind with this id."""
    return _PARSERS[kind](given)


def kind_of(given: str) -> ExcludedKind:
    """What an id names, by its beginning; an id of any other kind cannot be excluded."""
    kind = _PREFIXES.get(given[:4])
    if kind is None:
        raise NotFound("exclusion", given)
    return kind
