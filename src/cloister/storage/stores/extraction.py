"""The state of extraction in a session: its unchecked messages, and the lease of the worker that extracts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.errors import DamagedRow
from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId, PoolId, ProjectId, SessionId, format_message_id
from cloister.domain.maintenance.checksum import message_checksum
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.messages import span


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimedSession:
    """A session that a worker has a lease on. `observed` is the last message that observations cover."""

    session: SessionId
    project: ProjectId | None
    pool: PoolId
    user: str | None
    observed: MessageId


class ExtractionStore:
    """The extraction queue, which is the completed messages that are not checked yet (MEM-3), and the leases on it."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def claim(self, session: SessionId, claim: int, *, now: int, until: int) -> bool:
        """Take the lease on a session; false if another worker has it, or there is no such session."""
        row = self._transaction.row("claim_extraction", session_id=session, claim=claim, now=now, until=until)
        return row is not None

    def renew(self, session: SessionId, claim: int, *, until: int) -> bool:
        """Extend the lease; false if it was lost."""
        return self._transaction.row("renew_claim", session_id=session, claim=claim, until=until) is not None

    def release(self, session: SessionId, claim: int) -> None:
        """Give up the lease without a result; another worker may take it at once."""
        self._transaction.execute("release_claim", session_id=session, claim=claim)

    def claimed(self, session: SessionId, claim: int) -> ClaimedSession | None:
        """The session as it is now; None if the lease was lost, or the session was deleted."""
        row = self._transaction.row("claimed_session", session_id=session, claim=claim)
        if row is None:
            return None
        project, pool, user, observed = cast(tuple[Any, ...], row)
        return ClaimedSession(session=session, project=project, pool=pool, user=user, observed=observed)

    def unchecked(self, session: SessionId, limit: int) -> list[Statement]:
        first, last = span(session)
        return _statements(self._transaction.rows("unchecked_messages", first=first, last=last, limit=limit))

    def mark_checked(self, session: SessionId, messages: Sequence[MessageId]) -> int:
        """Mark messages as checked; returns how many of them still existed and were unchecked."""
        return self._transaction.execute("mark_checked", session_id=session, message_ids=integers(messages))

    def present(
        self, session: SessionId, messages: Sequence[MessageId], *, all_branches: bool = False
    ) -> set[MessageId]:
        """The ids of these messages that still exist on the current branch, or on any."""
        rows = self._transaction.rows(
            "present_messages",
            session_id=session,
            message_ids=integers(messages),
            all_branches=int(all_branches),
        )
        return {MessageId(cast(int, row[0])) for row in rows}

    def lock(self, session: SessionId, claim: int) -> MessageId | None:
        """Lock the session against other writers until the transaction ends; returns the last message that observations cover. None
        if the lease was lost, because it expired or the session moved: then no result of this work may be stored."""
        row = self._transaction.row("lock_claimed_session", session_id=session, claim=claim)
        return None if row is None else MessageId(cast(int, row[0]))

    def finish(self, session: SessionId, claim: int, *, checked: int, observed: int, threshold: int, now: int) -> None:
        """Give up the lease on a locked session: `checked` messages were checked, and observations cover it up to `observed`."""
        self._transaction.execute(
            "finish_extraction",
            session_id=session,
            claim=claim,
            checked=checked,
            observed=observed,
            threshold=threshold,
            now=now,
        )

    def failures(self, session: SessionId) -> int:
        row = self._transaction.row("extraction_failures", session_id=session)
        return 0 if row is None else cast(int, row[0])

    def fail(self, session: SessionId, claim: int, *, error: str, retry_at: int) -> None:
        self._transaction.execute("fail_extraction", session_id=session, claim=claim, error=error, retry_at=retry_at)

    def note_past(self, session: SessionId, last: MessageId, project: ProjectId | None) -> None:
        """Record, before a session moves, that its messages up to `last` were sent in this project: their entities go there, also
        if they are read again later."""
        self._transaction.execute("note_past", session_id=session, last_message_id=last, project_id=project)

    def past(self, session: SessionId) -> list[tuple[MessageId, ProjectId | None]]:
        """The session's former projects, oldest first, each with the last message that was sent there."""
        rows = self._transaction.rows("session_past", session_id=session)
        return [(MessageId(last), project) for last, project in cast(list[tuple[int, Any]], rows)]

    def unobserved(self, session: SessionId, after: MessageId, *, window: int, limit: int) -> list[Statement]:
        """The messages older than the last `window` ones that no observation covers."""
        first, last = span(session)
        rows = self._transaction.rows(
            "unobserved_messages", after=max(first, after), last=last, window=window, limit=limit
        )
        return _statements(rows)

    def recount_unchecked(self, session: SessionId) -> None:
        """Recount the unchecked messages of a session, after messages were deleted."""
        first, last = span(session)
        self._transaction.execute("recount_unchecked", session_id=session, first=first, last=last)

    def forget_past(self, session: SessionId) -> None:
        self._transaction.execute("forget_past", session_id=session)


def _statements(rows: Sequence[Row]) -> list[Statement]:
    return [_statement(row) for row in rows]


def _statement(row: Row) -> Statement:
    """A message to be extracted; a `DamagedRow` if its columns are not what was stored, so that nothing is made of them."""
    message, role, content, author, created_at, recalled_pool, *rest = cast(tuple[Any, ...], row)
    metadata, categories, checksum = rest
    if checksum is not None and checksum != message_checksum(message, role, author, metadata, content, categories):
        raise DamagedRow("message", format_message_id(message))
    return Statement(
        id=MessageId(message),
        role=role,
        content=content,
        author=author,
        created_at=created_at,
        recalled_pool=recalled_pool,
    )
