"""First answers kept under idempotency keys, inside one transaction's reach."""

from typing import cast

from cloister.domain.errors import IdempotencyMismatch
from cloister.storage.interface import Transaction


class Idempotency:
    """The tenant's idempotency keys."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def answer(self, key: str, fingerprint: str) -> str | None:
        """The answer kept for this very request, if there is one; the same key with another request is an error."""
        row = cast(tuple[str, str] | None, self._transaction.row("idempotent_answer", idempotency_key=key))
        if row is None:
            return None
        kept, answer = row
        if kept != fingerprint:
            raise IdempotencyMismatch(key)
        return answer

    def keep(self, key: str, fingerprint: str, answer: str, now: int) -> bool:
        """False when another request took the key meanwhile."""
        row = self._transaction.row(
            "keep_idempotent_answer", idempotency_key=key, fingerprint=fingerprint, answer=answer, created_at=now
        )
        return row is not None

    def drop_older(self, before: int) -> None:
        self._transaction.execute("drop_old_answers", before=before)
