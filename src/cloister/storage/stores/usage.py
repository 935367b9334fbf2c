"""The usage counters and limits of a tenant. Counters are updated in the transaction of each change."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from cloister.domain.identifiers import SessionId
from cloister.domain.usage import Limits
from cloister.storage.interface import Transaction, Value

# A tenant has several counter rows, so that concurrent transactions rarely wait for the same row lock.
_PARTS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """The counters that quotas are checked against, and the tenant's own limits."""

    messages: int
    sessions: int
    limits: Limits


class UsageStore:
    """The usage of the transaction's tenant."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def limits(self) -> Limits:
        """The tenant's own limits, without the server's defaults."""
        row = self._transaction.row("limits")
        return Limits() if row is None else _limits(row)

    def counts(self) -> Counts:
        row = self._transaction.row("usage")
        if row is None:
            return Counts(messages=0, sessions=0, limits=Limits())
        *limits, messages, sessions = cast(tuple[int | None, ...], row)
        return Counts(messages=messages or 0, sessions=sessions or 0, limits=_limits(limits))

    def add_messages(self, changes: Iterable[tuple[SessionId, int]]) -> None:
        """Add to the message counters, for each session a number that may be negative. Updates rows in order to avoid deadlock."""
        by_part = Counter[int]()
        for session, messages in changes:
            by_part[session % _PARTS] += messages
        for part in sorted(by_part):
            self._add(part, messages=by_part[part])

    def add_session(self, session: SessionId) -> None:
        self._add(session % _PARTS, sessions=1)

    def remove_session(self, session: SessionId) -> None:
        self._add(session % _PARTS, sessions=-1)

    def projects(self) -> int:
        return cast(int, self._transaction.rows("count_projects")[0][0])

    def api_keys(self) -> int:
        return cast(int, self._transaction.rows("count_api_keys")[0][0])

    def set_limits(self, limits: Limits) -> None:
        self._transaction.execute(
            "set_limits",
            messages=limits.messages,
            sessions=limits.sessions,
            projects=limits.projects,
            files=limits.files,
            entries=limits.entries,
        )

    def _add(self, part: int, *, sessions: int = 0, messages: int = 0) -> None:
        """Add to one counter row, which is created on its first change."""
        if not self._transaction.execute("add_usage", part=part, sessions=sessions, messages=messages):
            self._transaction.execute("open_usage_part", part=part)
            self._transaction.execute("add_usage", part=part, sessions=sessions, messages=messages)


def _limits(row: Sequence[Value]) -> Limits:
    messages, sessions, projects, files, entries = cast(Sequence[int | None], row)
    return Limits(messages=messages, sessions=sessions, projects=projects, files=files, entries=entries)
