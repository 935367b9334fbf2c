"""What a copy of a tenant carries to another database apart from its archive."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from cloister.storage.interface import Transaction
from cloister.storage.stores.keys import StoredKey, stored_key


@dataclass(frozen=True, kw_only=True, slots=True)
class CarriedTenant:
    """The row of a tenant, without its limits. `secret` is what the names of default sessions are made with."""

    name: str
    created_at: int
    secret: bytes | None
    retention_days: int | None
    receipt_days: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CarriedExclusion:
    """A message, memory or entity that a session does not recall, by ids of the database."""

    exclusion_id: int
    session_id: int
    created_at: int
    message_id: int | None
    memory_id: int | None
    entity_id: int | None


class CarriedRows:
    """Rows of the transaction's tenant."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def tenant(self) -> CarriedTenant | None:
        """None if there is no such tenant, or it was erased."""
        row = self._transaction.row("copied_tenant")
        if row is None:
            return None
        name, created_at, secret, retention_days, receipt_days = cast(
            tuple[str, int, bytes | None, int | None, int | None], row
        )
        return CarriedTenant(
            name=name,
            created_at=created_at,
            secret=None if secret is None else bytes(secret),
            retention_days=retention_days,
            receipt_days=receipt_days,
        )

    def set_secret(self, secret: bytes) -> None:
        self._transaction.execute("set_copied_secret", secret=secret)

    def all_keys(self) -> list[StoredKey]:
        """All keys, also revoked ones."""
        return [stored_key(row) for row in self._transaction.rows("copied_keys")]

    def exclusions(self) -> Iterator[CarriedExclusion]:
        for row in self._transaction.stream("copied_exclusions"):
            exclusion, session, created_at, message, memory, entity = cast(
                tuple[int, int, int, int | None, int | None, int | None], row
            )
            yield CarriedExclusion(
                exclusion_id=exclusion,
                session_id=session,
                created_at=created_at,
                message_id=message,
                memory_id=memory,
                entity_id=entity,
            )

    def has_exclusion(self, exclusion: CarriedExclusion) -> bool:
        return self._transaction.row("copied_exclusion", exclusion_id=exclusion.exclusion_id) is not None

    def add_exclusion(self, exclusion: CarriedExclusion) -> bool:
        """Add an exclusion; false if its session, or what it names, is not here."""
        row = self._transaction.row(
            "copy_exclusion",
            exclusion_id=exclusion.exclusion_id,
            session_id=exclusion.session_id,
            created_at=exclusion.created_at,
            message_id=exclusion.message_id,
            memory_id=exclusion.memory_id,
            entity_id=exclusion.entity_id,
        )
        return row is not None
