"""What is known of requests that came with idempotency keys, inside one transaction's reach."""

import secrets
from typing import Literal, NamedTuple, cast

from cloister.domain.identifiers import KeyId, MessageId, SessionId
from cloister.storage.interface import Transaction

Kind = Literal["sessions", "messages", "memories", "projects", "keys"]


class KnownRequest(NamedTuple):
    """The first request under a key. Fingerprint and answer are none where what it stored was forgotten."""

    fingerprint: bytes | None
    answer: str | None


class FirstAnswer(NamedTuple):
    """What is to be kept of a request: `answer` holds ids and times; `session` is the one it wrote to. `first_id` and `last_id`
    are the first and last message of the answer, or the API key that asked and the one that was made."""

    kind: Kind
    answer: str
    session: SessionId | None = None
    first_id: int | None = None
    last_id: int | None = None


class IdempotencyStore:
    """The tenant's idempotency keys."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def find(self, request: bytes, now: int) -> tuple[bytes, KnownRequest | None]:
        """The tenant's secret, made now where there was none, and what is known of the request."""
        row = self._row(request, now)
        if row[0] is None:
            self._transaction.execute("set_tenant_secret", secret=secrets.token_bytes(32))
            row = self._row(request, now)
        secret, kind, fingerprint, answer = row
        assert secret is not None
        known = KnownRequest(None if fingerprint is None else bytes(fingerprint), answer)
        return bytes(secret), None if kind is None else known

    def keep(self, request: bytes, fingerprint: bytes, first: FirstAnswer, *, expires_at: int) -> bool:
        """False when another request took the key meanwhile."""
        row = self._transaction.row(
            "keep_idempotent_answer",
            request=request,
            kind=first.kind,
            session_id=first.session,
            first_id=first.first_id,
            last_id=first.last_id,
            fingerprint=fingerprint,
            answer=first.answer,
            expires_at=expires_at,
        )
        return row is not None

    def drop_expired(self, now: int) -> int:
        return self._transaction.execute("drop_expired_answers", now=now)

    def forget_session(self, session: SessionId) -> None:
        """A session that is gone takes its keys with it: another one of the same outside id begins anew."""
        self._transaction.execute("drop_session_answers", session_id=session)

    def forget_contents(self, session: SessionId) -> None:
        """All that was said in a session is forgotten; that the keys were used stays known, until they expire."""
        self._transaction.execute("blank_content_answers", session_id=session)

    def forget_message(self, session: SessionId, message: MessageId) -> None:
        """The same for one message; and for memories, which may have said what a memory of the message said."""
        self.forget_recording(session, message)
        self.forget_memories(session)

    def forget_recording(self, session: SessionId, message: MessageId) -> None:
        """Of the request that recorded a message."""
        self._transaction.execute("blank_message_answers", session_id=session, message_id=message)

    def forget_memories(self, session: SessionId) -> None:
        """Of every request that added memories by hand: one that added nothing new has the words of those that were there."""
        self._transaction.execute("blank_memory_answers", session_id=session)

    def forget_key(self, key: KeyId) -> None:
        """The sealed secrets of keys that this API key asked for, and its own."""
        self._transaction.execute("drop_key_answers", key_id=key)

    def _row(self, request: bytes, now: int) -> tuple[bytes | None, str | None, bytes | None, str | None]:
        row = self._transaction.row("idempotent_answer", request=request, now=now)
        if row is None:
            raise LookupError("a tenant that does not exist")
        return cast(tuple[bytes | None, str | None, bytes | None, str | None], row)
