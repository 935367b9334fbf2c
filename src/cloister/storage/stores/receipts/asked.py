"""Find the stored receipts that asked with the words of messages: they go with these messages, as a receipt goes with its question
(MEM-9)."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.history import words_key
from cloister.domain.identifiers import MessageId, ReceiptId, SessionId
from cloister.storage.interface import Transaction, integers


def receipts_in_words_of(
    transaction: Transaction, session: SessionId, messages: Sequence[MessageId]
) -> list[ReceiptId]:
    """The receipts of a session whose stored query has the words of any of these messages of it. Whitespace and the case of letters
    make no difference."""
    rows = cast(list[tuple[int, str]], transaction.rows("receipts_with_queries", session_id=session))
    if not rows:
        return []
    said = transaction.rows("contents_of_messages", session_id=session, message_ids=integers(messages))
    words = {_key(content) for (content,) in cast(list[tuple[str]], said)}
    return [ReceiptId(receipt) for receipt, query in rows if _key(query) in words]


def remove_receipts_in_words_of(transaction: Transaction, session: SessionId, messages: Sequence[MessageId]) -> None:
    """Remove these receipts, before the messages are removed."""
    found = receipts_in_words_of(transaction, session, messages)
    if found:
        transaction.execute("delete_receipts_of_session", session_id=session, receipt_ids=integers(found))


def _key(text: str) -> str:
    return words_key(text).casefold()
