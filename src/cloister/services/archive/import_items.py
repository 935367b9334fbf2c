"""Import items in OpenAI's format and responses, with the messages of their session."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from cloister.domain.archive.records import ItemRecord, ResponseRecord
from cloister.domain.conversation import Session
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId
from cloister.domain.sessions.request_echo import shown_body
from cloister.services.conversations.item_format import checked_frame, checked_other
from cloister.services.conversations.items import MOST_AFTER_A_MESSAGE
from cloister.storage.interface import Transaction
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.items import ItemRow, ResponseRow
from cloister.storage.stores.messages import span

_STATUSES = ("completed", "incomplete")


def item_text(record: ItemRecord) -> str:
    """An item of an archive as it is stored, checked: the text of a message is in its message alone."""
    if not 0 <= record.position <= MOST_AFTER_A_MESSAGE:
        raise InvalidRequest("item.position", f"must be from 0 to {MOST_AFTER_A_MESSAGE:,}.")
    if record.position == 0:
        if record.message_id is None:
            raise InvalidRequest("item.message_id", "is missing, and says whose item it is.")
        if record.item is None:
            return ""
        return checked_frame(record.item, record.lengths)
    if record.item is None or record.lengths is not None:
        raise InvalidRequest("item.item", "must be an object, and lengths null, for an item that is not a message.")
    return checked_other(record.item)


def response_body(record: ResponseRecord) -> dict[str, Any]:
    """The body of a response of an archive, checked: it can be read again."""
    body = record.body
    usage, output = body.get("usage"), body.get("output")
    if (
        not isinstance(body.get("echo"), Mapping)
        or not _is_number(body.get("created_at"))
        or not isinstance(body.get("model"), str)
        or body.get("status") not in _STATUSES
        or not isinstance(body.get("finish_reason"), str | None)
        or not (usage is None or _is_list(usage, _is_number, length=2))
        or not _is_list(output, _is_text)
    ):
        raise InvalidRequest("response.body", "is not the body of a response.")
    return dict(body)


def add_items(
    transaction: Transaction,
    session: Session,
    items: Sequence[tuple[ItemRecord, str]],
    shift: int,
    *,
    with_others: bool,
) -> None:
    """Add items that are missing. Without `with_others` only those of messages: others are shown in the pool in which they were
    made only, and the session is in another one now."""
    first, _ = span(session.id)
    rows = [
        ItemRow(
            MessageId(first if record.message_id is None else record.message_id + shift),
            record.position,
            # A message that came as an item has its own id there too.
            record.id + shift if record.id == record.message_id else record.id,
            record.response_id,
            session.pool,
            text,
        )
        for record, text in items
        if with_others or record.position == 0
    ]
    if rows:
        ImportedRows(transaction).add_items(session.id, rows)


def add_responses(
    transaction: Transaction,
    session: Session,
    responses: Sequence[tuple[ResponseRecord, dict[str, Any]]],
    shift: int,
    *,
    with_requests: bool,
) -> None:
    """Add responses that are missing, to questions that are here. Without `with_requests` they show nothing of their requests: the
    session is in another pool now."""
    rows = ImportedRows(transaction)
    questions = [MessageId(record.question_id + shift) for record, _ in responses]
    present = ExtractionStore(transaction).present(session.id, questions, all_branches=True) if questions else ()
    for record, body in responses:
        question = MessageId(record.question_id + shift)
        if question in present:
            messages = [message + shift for message in record.message_ids]
            shown = body if with_requests else shown_body(body, None)
            row = ResponseRow(
                session=session.external_id,
                question=question,
                reply=None if record.reply_id is None else MessageId(record.reply_id + shift),
                owns_messages=record.owns_messages,
                body=json.dumps({**shown, "pool": session.pool, "messages": messages}),
            )
            rows.add_response(session.id, record.id, row)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object, is_valid: Callable[[object], bool], length: int | None = None) -> bool:
    if not isinstance(value, list):
        return False
    found = cast(list[object], value)
    return (length is None or len(found) == length) and all(is_valid(entry) for entry in found)
