"""Receipts of replies, contexts and searches (PRF-1)."""

from collections.abc import Sequence
from typing import Any, cast

from cloister.domain.identifiers import MessageId, ObservationId, PoolId, ProjectId, ReceiptId, SessionId
from cloister.domain.observation import StoredObservation
from cloister.domain.prompts.recalled_text import NO_POOL
from cloister.domain.receipts.encoding import decoded_receipt, encoded_receipt
from cloister.domain.receipts.receipt import Receipt, ReceiptSummary, StoredReceipt, summary_of
from cloister.domain.truth.revision import state_from_json
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.observations import stored_observation
from cloister.storage.stores.receipts.templates import TemplateStore, remove_unused


class ReceiptStore:
    """The tenant's receipts, those of sessions, projects and users outside the caller's reach excepted."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(
        self,
        id: ReceiptId,
        receipt: Receipt,
        *,
        session: SessionId | None,
        question: MessageId | None = None,
        reply: MessageId | None = None,
        expires_at: int | None = None,
        template: int | None = None,
    ) -> None:
        """Add a receipt of a session that the caller found, or of the project and the user of its terms. `template` is the stored
        text of its prompt."""
        terms = receipt.terms
        self._transaction.execute(
            "insert_receipt",
            receipt_id=id,
            session_id=session,
            question_id=question,
            reply_id=reply,
            project_id=terms.project,
            user_id=terms.user,
            pool_id=terms.pool,
            kind=receipt.kind,
            created_at=receipt.created_at,
            expires_at=expires_at,
            question=None if question is not None else terms.question,
            body=encoded_receipt(receipt),
            template_id=template,
        )

    def find(self, id: ReceiptId, now: int) -> StoredReceipt | None:
        """The receipt with this id, if it has not expired. Its items may be of a pool that the caller may no longer read."""
        row = self._transaction.row("receipt_of_session", receipt_id=id, now=now)
        if row is None:
            row = self._transaction.row("receipt_of_project", receipt_id=id, now=now)
        return None if row is None else _stored(row)

    def summaries(self, session: SessionId, replies: Sequence[MessageId], now: int) -> list[ReceiptSummary]:
        """What the receipts of these replies of a session say in numbers, in order; the caller found the session."""
        if not replies:
            return []
        rows = self._transaction.rows("receipts_of_replies", session_id=session, receipt_ids=integers(replies), now=now)
        return [summary_of(_stored(row)) for row in rows]

    def is_pool_there(self, pool: PoolId) -> bool:
        """Whether the pool exists: it is removed with its user."""
        return self._transaction.row("pool_state", pool_id=pool) is not None

    def messages_in_reach(self, messages: Sequence[int]) -> dict[int, bool]:
        """Which of these messages still exist within the caller's reach, in whichever pool; and whether each is on the current
        branch of its session."""
        rows = self._transaction.rows("messages_in_reach", message_ids=integers(messages)) if messages else []
        return {message: bool(is_current) for message, is_current in cast(list[tuple[int, int]], rows)}

    def indexed_at(self, pool: PoolId, message: MessageId) -> int | None:
        """When a message that is in this pool now was recorded, or indexed again since; None while it is not indexed. It is by the
        clock: `created_at` is when it was said, and callers may set that."""
        row = self._transaction.row("message_indexed_at", pool_id=pool, message_id=message)
        return None if row is None else cast(int | None, row[0])

    def observations(self, pool: PoolId, ids: Sequence[int]) -> dict[ObservationId, StoredObservation]:
        """The observations with these ids that are in this pool now."""
        rows = self._transaction.rows("pool_observations", pool_id=pool, observation_ids=integers(ids)) if ids else []
        return {stored.observation.id: stored for stored in map(stored_observation, rows)}

    def replaced_texts(self, pool: PoolId, memories: Sequence[int], since: int) -> dict[int, str]:
        """What those of these memories said at this time whose text was changed since, as far as they are in this pool now."""
        if not memories:
            return {}
        rows = self._transaction.rows("texts_replaced_since", pool_id=pool, memory_ids=integers(memories), since=since)
        texts: dict[int, str] = {}
        for memory, before in cast(list[tuple[int, str]], rows):
            texts.setdefault(memory, state_from_json(before).content)
        return texts

    def changed_entities(self, project: ProjectId, entities: Sequence[int], since: int) -> set[int]:
        """Those of these entities of a project that were corrected, or mentioned again, since this time."""
        if not entities:
            return set()
        rows = self._transaction.rows(
            "entities_changed_since", project_id=project, entity_ids=integers(entities), since=since
        )
        return {cast(int, row[0]) for row in rows}

    def remove_of_user(self, user: str) -> int:
        """Remove the receipts of a user that belong to no session."""
        return self._transaction.execute("delete_receipts_of_user", user_id=user)

    def remove_old(self, session: SessionId, before: int) -> int:
        """Remove the receipts of contexts and searches of a session from before this time."""
        return self._transaction.execute("delete_old_receipts", session_id=session, before=before)

    def remove_expired(self, now: int) -> int:
        """Remove expired receipts, and the texts of prompts that none of the others names."""
        templates = TemplateStore(self._transaction).of_expired(now)
        removed = self._transaction.execute("delete_expired_receipts", now=now)
        remove_unused(self._transaction, templates)
        return removed

    def set_ages(self, project: ProjectId | None, *, reply_age: int | None, other_age: int | None) -> None:
        """Set after how many microseconds the receipts of a project expire; None keeps them. Without a project: those of sessions
        in none, and of deleted projects."""
        if project is None:
            self._transaction.execute("expire_other_receipts", reply_age=reply_age, other_age=other_age)
            return
        self._transaction.execute(
            "expire_receipts_of_project", project_id=project, reply_age=reply_age, other_age=other_age
        )

    def days_of_tenant(self) -> int | None:
        """After how many days the tenant deletes receipts; None leaves it to the projects."""
        row = self._transaction.row("tenant_receipt_days")
        return None if row is None else cast(int | None, row[0])

    def set_days_of_tenant(self, days: int | None) -> bool:
        """False if there is no such tenant."""
        return self._transaction.execute("set_tenant_receipt_days", receipt_days=days) > 0


def _stored(row: Row) -> StoredReceipt:
    columns: tuple[Any, ...] = row
    number, session, question, reply, project, user, pool, kind, created_at, query, body, *names = columns
    terms = {"pool": pool, "project": project, "user": user, "question": query, "question_id": question}
    return StoredReceipt(
        id=ReceiptId(number),
        receipt=decoded_receipt(body, kind=kind, created_at=created_at, columns=terms),
        session=session,
        session_name=names[0] if names else None,
        reply=reply,
    )


def detach_receipts_from_pool(transaction: Transaction, pool: PoolId) -> None:
    """Hide the items that were recalled from this pool, in all receipts, because the pool's project changed its visibility."""
    transaction.execute("detach_receipts_from_pool", pool_id=pool, no_pool=NO_POOL)
