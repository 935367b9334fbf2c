"""The ids under which a row of an archive may be stored: its own, and others that are computed from it.

Ids are unique in the whole database, so one of an archive may be taken by a row of another tenant. The same others are computed at
every import, so that a repeated one finds what was imported before.
"""

import hashlib
from collections.abc import Iterator

from cloister.domain.identifiers import SEQUENCE_BITS, EntityId, MemoryId, SessionId, TenantId

_ATTEMPTS = 8
_NUMBER_BITS = 42
_BITS = 63


def session_numbers(tenant: TenantId, given: SessionId) -> list[SessionId]:
    return [given, *(SessionId(drawn) for drawn in _drawn(tenant, "session", given, _NUMBER_BITS))]


def memory_ids(tenant: TenantId, given: MemoryId) -> list[MemoryId]:
    drawn = _drawn(tenant, "memory", given, _NUMBER_BITS)
    return [given, *(MemoryId(number << SEQUENCE_BITS | 1) for number in drawn)]


def entity_ids(tenant: TenantId, given: EntityId) -> list[EntityId]:
    drawn = _drawn(tenant, "entity", given, _NUMBER_BITS)
    return [given, *(EntityId(number << SEQUENCE_BITS | 1) for number in drawn)]


def other_ids(tenant: TenantId, kind: str, given: int) -> list[int]:
    """The ids of an observation or a revision."""
    return [given, *_drawn(tenant, kind, given, _BITS)]


def _drawn(tenant: TenantId, kind: str, given: int, bits: int) -> Iterator[int]:
    for attempt in range(1, _ATTEMPTS):
        digest = hashlib.sha256(f"{tenant}:{kind}:{given}:{attempt}".encode()).digest()
        yield int.from_bytes(digest[:8]) % ((1 << bits) - 1) + 1
