"""What a check of all rows found."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class DamagedText:
    """A row whose text is not what was stored. `session_id` is the session's external id; an entry has none."""

    table: str
    id: str
    tenant_id: str
    session_id: str | None
    set_aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RowCheck:
    """`rows` were read; `unchecked` of them have no checksum yet. `unreadable` says, one sentence each, which tables could not be
    read to their end. `file` has the damaged rows that were set aside."""

    rows: int
    unchecked: int
    damaged: tuple[DamagedText, ...] = ()
    unreadable: tuple[str, ...] = ()
    file: str | None = None
