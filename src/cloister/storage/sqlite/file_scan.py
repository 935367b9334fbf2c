"""Looks for rows of deleted messages in the bytes of an SQLite file, also in pages and parts of pages that are no longer used."""

from collections.abc import Sequence

from cloister.domain.conversation import ROLES

_WIDTHS = (1, 2, 3, 4, 6, 8)
_ROLES = tuple(role.encode() for role in ROLES)


def count_rows(content: bytes, sessions: Sequence[int]) -> int:
    """How many rows of messages of these sessions are in the bytes of a database file."""
    return sum(_count(content, _row_start(session)) for session in sessions)


def _row_start(session: int) -> bytes:
    """The session id as a row of `message` stores it, directly before the role of the message."""
    width = next(width for width in _WIDTHS if session < 1 << (8 * width - 1))
    return session.to_bytes(width, "big")


def _count(content: bytes, row_start: bytes) -> int:
    found, at = 0, content.find(row_start)
    while at >= 0:
        found += content.startswith(_ROLES, at + len(row_start))
        at = content.find(row_start, at + 1)
    return found
