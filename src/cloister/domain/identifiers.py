"""Identifiers: integers in storage, prefixed hexadecimal text in the API. They are random, so that none reveals how many there are.

A message's id has the session id in its high bits and the sequence number in its low ones. Messages of one session are therefore
adjacent in the primary key, in order, and need no second index.
"""

import secrets
from typing import Final, NewType

from cloister.domain.errors import InvalidProjectId, InvalidRequest, NotFound
from cloister.domain.patterns import anchored

TenantId = NewType("TenantId", int)
ProjectId = NewType("ProjectId", int)
PoolId = NewType("PoolId", int)
SessionId = NewType("SessionId", int)
MessageId = NewType("MessageId", int)
KeyId = NewType("KeyId", int)
MemoryId = NewType("MemoryId", int)
EntityId = NewType("EntityId", int)
ObservationId = NewType("ObservationId", int)
RevisionId = NewType("RevisionId", int)
ReceiptId = NewType("ReceiptId", int)

# The tenant of an embedded library or command line; all other tenants get random ids.
LOCAL_TENANT = TenantId(1)

NO_PROJECT: Final = "none"
"""Stands for no project, that is the shared pool, where a project's id is expected."""

MESSAGE_PREFIX = "msg_"
SEQUENCE_BITS = 21
MAX_SEQUENCE = (1 << SEQUENCE_BITS) - 1
_SESSION_BITS = 42

_HEX = anchored(r"[0-9a-f]{16}")
_PROJECT = anchored(r"proj_[0-9a-f]{16}")


def _random(bits: int) -> int:
    return secrets.randbelow((1 << bits) - 1) + 1


def new_tenant_id() -> TenantId:
    return TenantId(_random(63))


def new_project_id() -> ProjectId:
    return ProjectId(_random(63))


def new_pool_id() -> PoolId:
    return PoolId(_random(63))


def new_key_id() -> KeyId:
    return KeyId(_random(63))


def new_memory_id() -> MemoryId:
    """A random id with the form of a session's first message, so that an index finds no adjacent messages."""
    return MemoryId(_random(_SESSION_BITS) << SEQUENCE_BITS | 1)


def new_entity_id() -> EntityId:
    """A random id of the same form as a memory's."""
    return EntityId(_random(_SESSION_BITS) << SEQUENCE_BITS | 1)


def new_observation_id() -> ObservationId:
    return ObservationId(_random(63))


def new_revision_id() -> RevisionId:
    return RevisionId(_random(63))


def new_receipt_id() -> ReceiptId:
    return ReceiptId(_random(63))


def new_exclusion_id() -> int:
    return _random(63)


def new_template_id() -> int:
    return _random(63)


def new_removal_id() -> int:
    return _random(63)


def new_relation_id() -> int:
    return _random(63)


def new_entity_change_id() -> int:
    return _random(63)


def new_entry_id() -> int:
    return _random(63)


def new_session_id() -> SessionId:
    """A random id. Storage refuses one that is taken, and the caller tries another."""
    return SessionId(_random(_SESSION_BITS))


def new_external_id() -> str:
    return f"ses_{secrets.token_hex(12)}"


def message_id(session: SessionId, sequence: int) -> MessageId:
    if not 1 <= sequence <= MAX_SEQUENCE:
        raise ValueError(f"sequence {sequence} is outside 1..{MAX_SEQUENCE}")
    return MessageId(session << SEQUENCE_BITS | sequence)


def session_of(message: MessageId) -> SessionId:
    return SessionId(message >> SEQUENCE_BITS)


def sequence_of(message: MessageId) -> int:
    return message & MAX_SEQUENCE


def format_tenant_id(tenant: TenantId) -> str:
    return f"ten_{tenant:016x}"


def format_project_id(project: ProjectId) -> str:
    return f"proj_{project:016x}"


def format_message_id(message: MessageId) -> str:
    return f"{MESSAGE_PREFIX}{message:016x}"


def format_episode_id(opening: MessageId) -> str:
    """The id of an episode, made from the id of the message that opens it."""
    return f"ep_{opening:016x}"


def format_key_id(key: KeyId) -> str:
    return f"key_{key:016x}"


def format_memory_id(memory: MemoryId) -> str:
    return f"mem_{memory:016x}"


def format_entity_id(entity: EntityId) -> str:
    return f"ent_{entity:016x}"


def format_observation_id(observation: ObservationId) -> str:
    return f"obs_{observation:016x}"


def format_receipt_id(receipt: ReceiptId) -> str:
    return f"rcpt_{receipt:016x}"


def parse_receipt_id(given: str) -> ReceiptId:
    refuse_other_types(given, "receipt_id")
    return ReceiptId(_known("rcpt_", "receipt", given))


def parse_memory_id(given: str) -> MemoryId:
    return MemoryId(_known("mem_", "memory", given))


def parse_entity_id(given: str) -> EntityId:
    return EntityId(_known("ent_", "entity", given))


def parse_observation_id(given: str) -> ObservationId:
    return ObservationId(_known("obs_", "observation", given))


def parse_tenant_id(given: str) -> TenantId:
    return TenantId(_known("ten_", "tenant", given))


def is_tenant_id(given: str) -> bool:
    """Whether a text has the form of a tenant's id."""
    return _has_form("ten_", given)


def _has_form(prefix: str, given: str) -> bool:
    digits = given.removeprefix(prefix)
    return given.startswith(prefix) and len(digits) == 16 and set(digits) <= set("0123456789abcdef")


def parse_key_id(given: str) -> KeyId:
    """Parse the id of a key. A whole key is refused, and not quoted in the error, which may be logged."""
    if given.startswith("clo_"):
        raise InvalidRequest("key_id", "is a key itself. Name it by its id (key_…), which the list of keys shows.")
    return KeyId(_known("key_", "API key", given))


def parse_project_id(given: str) -> ProjectId:
    """Parse the id of a project. An id of another form is invalid; a well-formed one out of range is not found."""
    return ProjectId(_known("proj_", "project", checked_project_form(given)))


def checked_project_form(given: str) -> str:
    """Check the form of a project's id. A project has one spelling, so ids can be compared as text."""
    refuse_other_types(given, "project_id")
    if not _PROJECT.fullmatch(given):
        raise InvalidProjectId(given)
    return given


def parse_message_id(given: str) -> MessageId:
    refuse_other_types(given, "message_id")
    return MessageId(_known(MESSAGE_PREFIX, "message", given))


def refuse_other_types(given: object, field: str) -> None:
    if not isinstance(given, str):
        raise InvalidRequest(field, f"must be the id as text, not {type(given).__name__}.")


def _known(prefix: str, kind: str, given: str) -> int:
    """The number after the prefix; `NotFound` for a malformed id or one out of range."""
    digits = given.removeprefix(prefix)
    if len(digits) < len(given) and _HEX.fullmatch(digits) and 0 < (number := int(digits, 16)) < 1 << 63:
        return number
    raise NotFound(kind, given)
