"""The answers of requests that came with an idempotency key."""

from typing import Literal, NamedTuple, cast

from cloister.domain.identifiers import KeyId, MessageId, SessionId
from cloister.storage.interface import Transaction
from cloister.storage.stores.tenants import TenantStore

Kind = Literal["sessions", "messages", "items", "memories", "projects", "keys"]


class KnownRequest(NamedTuple):
    """The first request with a key. Fingerprint and answer are None if what the request stored was forgotten."""

    fingerprint: bytes | None
    answer: str | None


class FirstAnswer(NamedTuple):
    """The answer of a request, to be stored. `answer` has ids and times; `session` is the session it wrote to. `first_id` and
    `last_id` are the first and last message of the answer, of items those that they are or follow; or the API key of the caller and
    the one that was created."""

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
        """The tenant's secret, created if there is none, and the first request with this key, if there was one."""
        row = self._row(request, now)
        if row[0] is None:
            TenantStore(self._transaction).ensure_secret()
            row = self._row(request, now)
        secret, kind, fingerprint, answer = row
        assert secret is not None
        known = KnownRequest(None if fingerprint is None else bytes(fingerprint), answer)
        return bytes(secret), None if kind is None else known

    def keep(self, request: bytes, fingerprint: bytes, first: FirstAnswer, *, expires_at: int) -> bool:
        """Store the answer; false if another request took the key first."""
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
        """Delete the idempotency keys of a deleted session: a new session with the same outside id starts without them."""
        self._transaction.execute("drop_session_answers", session_id=session)

    def forget_contents(self, session: SessionId) -> None:
        """Blank the answers of a session whose messages were deleted. The keys stay used until they expire."""
        self._transaction.execute("blank_content_answers", session_id=session)

    def forget_message(self, session: SessionId, message: MessageId) -> None:
        """Blank the answers with one message, and those of added memories, which may repeat a memory of the message."""
        self.forget_recording(session, message)
        self.forget_memories(session)

    def forget_recording(self, session: SessionId, message: MessageId) -> None:
        """Blank the answers of the requests that recorded a message, or items that follow it."""
        self._transaction.execute("blank_message_answers", session_id=session, message_id=message)

    def forget_item(self, session: SessionId, item: str) -> None:
        """Blank the answers with an item that is not a message, by its id."""
        self._transaction.execute("blank_item_answers", session_id=session, item=f'%"{item}"%')

    def forget_memories(self, session: SessionId) -> None:
        """Blank the answers of all requests that added memories: one that added nothing new refers to memories that existed."""
        self._transaction.execute("blank_memory_answers", session_id=session)

    def forget_key(self, key: KeyId) -> None:
        """Blank the encrypted secrets of keys that this API key created, and its own. The idempotency keys stay used."""
        self._transaction.execute("blank_key_answers", key_id=key)

    def _row(self, request: bytes, now: int) -> tuple[bytes | None, str | None, bytes | None, str | None]:
        row = self._transaction.row("idempotent_answer", request=request, now=now)
        if row is None:
            raise LookupError("the tenant does not exist")
        return cast(tuple[bytes | None, str | None, bytes | None, str | None], row)
