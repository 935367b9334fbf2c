"""First answers kept under idempotency keys, inside one transaction's reach."""

from typing import NamedTuple, cast

from cloister.storage.interface import Transaction


class Kept(NamedTuple):
    """The fingerprint of the first request under a key, and its answer."""

    fingerprint: str
    kept: str


class Idempotency:
    """The tenant's idempotency keys."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def answer(self, key: str) -> "Kept | None":
        """What was kept under this key, and of which request."""
        row = cast(tuple[str, str] | None, self._transaction.row("idempotent_answer", idempotency_key=key))
        return None if row is None else Kept(*row)

    def keep(self, key: str, fingerprint: str, answer: str, now: int) -> bool:
        """False when another request took the key meanwhile."""
        row = self._transaction.row(
            "keep_idempotent_answer", idempotency_key=key, fingerprint=fingerprint, answer=answer, created_at=now
        )
        return row is not None

    def drop_older(self, before: int) -> None:
        self._transaction.execute("drop_old_answers", before=before)
