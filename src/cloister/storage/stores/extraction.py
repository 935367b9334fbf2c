"""Where extraction stands in a session, inside one transaction's reach: what nobody has looked at, and who is looking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId, PoolId, ProjectId, SessionId
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.messages import span


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimedSession:
    """A session held by a worker until its lease runs out."""

    session: SessionId
    project: ProjectId | None
    pool: PoolId
    user: str | None
    observed: MessageId


class ExtractionStore:
    """The queue is the messages themselves: those that are completed and unchecked (MEM-3)."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def claim(self, session: SessionId, claim: int, *, now: int, until: int) -> bool:
        """False while another worker holds it, or when there is no such session here."""
        row = self._transaction.row("claim_extraction", session_id=session, claim=claim, now=now, until=until)
        return row is not None

    def renew(self, session: SessionId, claim: int, *, until: int) -> bool:
        """False when the lease was lost."""
        return self._transaction.row("renew_claim", session_id=session, claim=claim, until=until) is not None

    def release(self, session: SessionId, claim: int) -> None:
        """Let go of it undone; another worker may have it at once."""
        self._transaction.execute("release_claim", session_id=session, claim=claim)

    def claimed(self, session: SessionId, claim: int) -> ClaimedSession | None:
        """The session as it is now; none when the lease was lost, or the session is gone."""
        row = self._transaction.row("claimed_session", session_id=session, claim=claim)
        if row is None:
            return None
        project, pool, user, observed = cast(tuple[Any, ...], row)
        return ClaimedSession(session=session, project=project, pool=pool, user=user, observed=observed)

    def unchecked(self, session: SessionId, limit: int) -> list[Statement]:
        first, last = span(session)
        return _statements(self._transaction.rows("unchecked_messages", first=first, last=last, limit=limit))

    def mark_checked(self, session: SessionId, messages: Sequence[MessageId]) -> int:
        """How many of them were still there, and unchecked."""
        return self._transaction.execute("mark_checked", session_id=session, message_ids=integers(messages))

    def present(self, session: SessionId, messages: Sequence[MessageId]) -> set[MessageId]:
        """Those of these messages that are still there."""
        rows = self._transaction.rows("present_messages", session_id=session, message_ids=integers(messages))
        return {MessageId(cast(int, row[0])) for row in rows}

    def lock(self, session: SessionId, claim: int) -> MessageId | None:
        """Hold the session against all other writers until the transaction ends, and say up to where it is observed. None when the
        lease was lost, by time or because the session moved: nothing of this work may be kept then."""
        row = self._transaction.row("lock_claimed_session", session_id=session, claim=claim)
        return None if row is None else MessageId(cast(int, row[0]))

    def finish(self, session: SessionId, claim: int, *, checked: int, observed: int, threshold: int, now: int) -> None:
        """Let go of a session that is held: so many messages were checked, and it is observed up to there."""
        self._transaction.execute(
            "finish_extraction",
            session_id=session,
            claim=claim,
            checked=checked,
            observed=observed,
            threshold=threshold,
            now=now,
        )
        self._forget_settled_past(session)

    def failures(self, session: SessionId) -> int:
        row = self._transaction.row("extraction_failures", session_id=session)
        return 0 if row is None else cast(int, row[0])

    def fail(self, session: SessionId, claim: int, *, error: str, retry_at: int) -> None:
        self._transaction.execute("fail_extraction", session_id=session, claim=claim, error=error, retry_at=retry_at)

    def note_past(self, session: SessionId, last: MessageId, project: ProjectId | None) -> None:
        """Before a session moves: what was said up to here was said in this project."""
        self._transaction.execute("note_past", session_id=session, last_message_id=last, project_id=project)

    def past(self, session: SessionId) -> list[tuple[MessageId, ProjectId | None]]:
        """Up to which message the session was in which project, oldest first."""
        rows = self._transaction.rows("session_past", session_id=session)
        return [(MessageId(last), project) for last, project in cast(list[tuple[int, Any]], rows)]

    def unobserved(self, session: SessionId, after: MessageId, *, window: int, limit: int) -> list[Statement]:
        """What has fallen out of the last `window` messages and is in no note."""
        first, last = span(session)
        rows = self._transaction.rows(
            "unobserved_messages", after=max(first, after), last=last, window=window, limit=limit
        )
        return _statements(rows)

    def recount_unchecked(self, session: SessionId) -> None:
        """After messages went: how many of those that are left nobody has looked at."""
        first, last = span(session)
        self._transaction.execute("recount_unchecked", session_id=session, first=first, last=last)

    def forget_past(self, session: SessionId) -> None:
        _, last = span(session)
        self._transaction.execute("forget_past", session_id=session, last_message_id=last)

    def _forget_settled_past(self, session: SessionId) -> None:
        first, last = span(session)
        row = self._transaction.row("oldest_unchecked", first=first, last=last)
        oldest = cast(int | None, None if row is None else row[0])
        until = last if oldest is None else oldest - 1
        self._transaction.execute("forget_past", session_id=session, last_message_id=until)


def _statements(rows: Sequence[Row]) -> list[Statement]:
    return [
        Statement(
            id=MessageId(message),
            role=role,
            content=content,
            author=author,
            created_at=created_at,
            recalled_pool=recalled_pool,
        )
        for message, role, content, author, created_at, recalled_pool in cast(list[tuple[Any, ...]], rows)
    ]
