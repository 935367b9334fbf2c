"""Identifiers: integers inside, prefixed hexadecimal outside. Random, so that none tells how many others there are.

A message's integer holds its session's: the session id in the high bits, the sequence number in the low ones. Messages of one
session are therefore neighbours in the primary key, in order, and their id needs no second index.
"""

import re
import secrets
from typing import NewType

from cloister.domain.errors import InvalidProjectId, InvalidRequest, NotFound

TenantId = NewType("TenantId", int)
ProjectId = NewType("ProjectId", int)
PoolId = NewType("PoolId", int)
SessionId = NewType("SessionId", int)
MessageId = NewType("MessageId", int)
KeyId = NewType("KeyId", int)
MemoryId = NewType("MemoryId", int)
EntityId = NewType("EntityId", int)
ObservationId = NewType("ObservationId", int)

SEQUENCE_BITS = 21
MAX_SEQUENCE = (1 << SEQUENCE_BITS) - 1
_SESSION_BITS = 42

_HEX = re.compile(r"[0-9a-f]{16}")
_PROJECT = re.compile(r"proj_[0-9a-f]{16}")


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
    """Shaped like the first message of a session of its own: the index then knows that it has no neighbours."""
    return MemoryId(_random(_SESSION_BITS) << SEQUENCE_BITS | 1)


def new_entity_id() -> EntityId:
    """Shaped as a memory's is, for the same reason."""
    return EntityId(_random(_SESSION_BITS) << SEQUENCE_BITS | 1)


def new_observation_id() -> ObservationId:
    return ObservationId(_random(63))


def new_removal_id() -> int:
    return _random(63)


def new_session_id() -> SessionId:
    """Unique only with high probability; storage refuses the rare repeat and the caller draws again."""
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


def tenant_name(tenant: TenantId) -> str:
    return f"ten_{tenant:016x}"


def project_name(project: ProjectId) -> str:
    return f"proj_{project:016x}"


def message_name(message: MessageId) -> str:
    return f"msg_{message:016x}"


def episode_name(opening: MessageId) -> str:
    """An episode is known by the message that opens it."""
    return f"ep_{opening:016x}"


def key_name(key: KeyId) -> str:
    return f"key_{key:016x}"


def memory_name(memory: MemoryId) -> str:
    return f"mem_{memory:016x}"


def entity_name(entity: EntityId) -> str:
    return f"ent_{entity:016x}"


def observation_name(observation: ObservationId) -> str:
    return f"obs_{observation:016x}"


def parse_memory(given: str) -> MemoryId:
    number = _parse("mem_", given)
    if number is None:
        raise NotFound("memory", given)
    return MemoryId(number)


def parse_entity(given: str) -> EntityId:
    number = _parse("ent_", given)
    if number is None:
        raise NotFound("entity", given)
    return EntityId(number)


def parse_observation(given: str) -> ObservationId:
    number = _parse("obs_", given)
    if number is None:
        raise NotFound("observation", given)
    return ObservationId(number)


def parse_tenant(given: str) -> TenantId:
    number = _parse("ten_", given)
    if number is None:
        raise NotFound("tenant", given)
    return TenantId(number)


def parse_key_name(given: str) -> KeyId:
    number = _parse("key_", given)
    if number is None:
        raise NotFound("API key", given)
    return KeyId(number)


def parse_project(given: str) -> ProjectId:
    """An id of another form is refused as such; one that is well formed and that no project can have is not found."""
    number = _parse("proj_", checked_project_form(given))
    if number is None:
        raise NotFound("project", given)
    return ProjectId(number)


def checked_project_form(given: str) -> str:
    """A project has one way to be written, so two ids of this form are of one project only if they are equal."""
    _refuse_other_types(given, "project_id")
    if not _PROJECT.fullmatch(given):
        raise InvalidProjectId(given)
    return given


def parse_message(given: str) -> MessageId:
    _refuse_other_types(given, "message_id")
    number = _parse("msg_", given)
    if number is None:
        raise NotFound("message", given)
    return MessageId(number)


def _refuse_other_types(given: object, field: str) -> None:
    if not isinstance(given, str):
        raise InvalidRequest(field, f"must be the id as text, not {type(given).__name__}.")


def _parse(prefix: str, given: str) -> int | None:
    digits = given.removeprefix(prefix)
    if len(digits) == len(given) or not _HEX.fullmatch(digits):
        return None
    number = int(digits, 16)
    return number if 0 < number < 1 << 63 else None
