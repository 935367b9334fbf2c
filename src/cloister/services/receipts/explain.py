"""Explain why a message was, or was not, recalled: for a question now, or for a receipt, with what has changed since (PRF-2).

The message has to be in the pool that the session recalls from: any other id is not found, whether it exists or not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

from cloister.domain.conversation import Session
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import MessageId, ReceiptId, format_message_id, session_of
from cloister.domain.receipts.receipt import ItemKind, Receipt, StoredReceipt
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import checked_content
from cloister.domain.timestamps import Clock
from cloister.services.recall.build_context import ContextBuilder, ContextRequest
from cloister.services.recall.embeddings.additional import QueryVector
from cloister.services.recall.recall import Recall
from cloister.services.recall.selection import RecallTrace
from cloister.services.recall.snapshot import read_snapshot
from cloister.services.receipts.again import ItemKey, RecallAgain, key_of
from cloister.services.receipts.reading import Receipts, find_receipt, scope_of
from cloister.services.receipts.verdict import ExplainedReason, Recollection, Verdict, judge, score_parts
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.pools import PoolMessage, PoolStore, StoredPool
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

_HISTORY = "{RELEVANT.HISTORY}"
_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What is different now from when a receipt was made. `now` is what the same question recalls now. `entered` are the items that
    it recalls now and did not then, `dropped` those that it does not recall any more, though they are there; by kind and id."""

    version_then: int
    version_now: int
    now: Verdict
    entered: tuple[ItemKey, ...]
    dropped: tuple[ItemKey, ...]
    hidden: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a message was, or was not, recalled. `parts` are those of its score now."""

    message: MessageId
    recalled: bool
    rank: int | None
    relevance: float | None
    parts: Mapping[str, float]
    reason: ExplainedReason
    detail: str
    changed: Change | None = None


class Explain:
    """Each call reads one snapshot, and stores nothing."""

    def __init__(
        self,
        database: Database,
        contexts: ContextBuilder,
        recall: Recall,
        receipts: Receipts,
        generation: int,
        clock: Clock,
    ) -> None:
        self._database = database
        self._contexts = contexts
        self._again = RecallAgain(contexts, recall, clock)
        self._receipts = receipts
        self._generation = generation
        self._clock = clock

    def question(self, reach: Reach, session: str, question: str, message: MessageId) -> Explanation:
        """Why a message is, or is not, in the context of a session for this question."""
        checked_content(question, "query")
        request = ContextRequest(question=question)
        vector = self._contexts.query_vector(reach, session, question)

        def work(transaction: Transaction) -> Explanation:
            found = SessionStore(transaction).get(session)
            rows = self._rows(transaction, _scope(transaction, found), message)
            said, trace = _message(rows, message), RecallTrace()
            context = self._contexts.build_within(transaction, found, request, {}, vector, trace)
            return _explained(message, judge(Recollection.of(context, trace), said, rows), trace)

        return read_snapshot(self._database, reach, work)

    def receipt(self, reach: Reach, receipt: ReceiptId, message: MessageId) -> Explanation:
        """Why a message was, or was not, given, by a receipt; and what is different now. Where the receipt does not say why,
        because it only counts what was left out, the same question is asked again."""
        vector = self._again.vector(self._database, reach, receipt)
        return read_snapshot(self._database, reach, partial(self._of_receipt, receipt, message, vector))

    def _of_receipt(
        self, receipt: ReceiptId, message: MessageId, vector: QueryVector | None, transaction: Transaction
    ) -> Explanation:
        stored = find_receipt(transaction, receipt, self._clock())
        shown, scope = self._receipts.shown(transaction, stored), scope_of(transaction, stored)
        if scope is None or shown.version is None:
            raise NotFound("message", format_message_id(message))
        rows = self._rows(transaction, scope, message)
        said = _message(rows, message)
        if stored.receipt.terms.is_filtered:
            raise Conflict(
                "The request of this receipt had a filter, which is not stored: ask with session_id and query instead."
            )
        recalled, recalls = self._again.of(transaction, stored, scope, vector)
        now = judge(recalled, said, rows)
        # What is no longer there is counted, and not named.
        given = {key_of(item.item) for item in shown.items}
        change = Change(
            version_then=stored.receipt.terms.version,
            version_now=shown.version,
            now=now,
            entered=_in_order(recalls - given),
            dropped=_in_order(given - recalls),
            hidden=shown.hidden,
        )
        then = _then(transaction, stored, said, now)
        is_same = then.reason == now.reason or not _gives_history(stored)
        unchanged = is_same and not change.entered and not change.dropped and not any(shown.hidden.values())
        then = replace(then, detail=" ".join((then.detail, *self._again.differences(stored.receipt, vector))))
        return _explained(message, then, recalled.trace, None if unchanged else change)

    def _rows(self, transaction: Transaction, scope: Scope, message: MessageId) -> StoredPool:
        rows = PoolStore(transaction, self._generation).rows(scope)
        if rows is None:
            raise NotFound("message", format_message_id(message))
        return rows


def _scope(transaction: Transaction, session: Session) -> Scope:
    project = None if session.project is None else ProjectStore(transaction).get(session.project)
    return session.scope(None if project is None else project.member_visibility)


def _message(rows: StoredPool, message: MessageId) -> PoolMessage:
    found = rows.messages([message]).get(message)
    if found is None:
        raise NotFound("message", format_message_id(message))
    return found


def _in_order(items: Iterable[ItemKey]) -> tuple[ItemKey, ...]:
    return tuple(sorted(items, key=lambda item: (_KINDS.index(item[0]), item[1])))


def _gives_history(stored: StoredReceipt) -> bool:
    return stored.receipt.sent is None or _HISTORY in stored.receipt.sent.placeholders


def _then(transaction: Transaction, stored: StoredReceipt, said: PoolMessage, now: Verdict) -> Verdict:
    """The verdict by the receipt; where that only counts, the verdict now, unless the message would be recalled now."""
    receipt, message = stored.receipt, said.message
    for rank, item in enumerate((item for item in receipt.items if item.kind == "message"), 1):
        if item.id == message.id:
            return Verdict(reason="recalled", detail="It was given.", rank=rank, relevance=item.relevance)
    if receipt.sent is not None and message.id in receipt.sent.conversation:
        return Verdict(reason="recalled", detail="It is in the current conversation, which was sent as it is.")
    if not _gives_history(stored):
        detail = f"The project's prompt has no placeholder {_HISTORY}, so that no message was given."
        return Verdict(reason="limit", detail=detail, relevance=now.relevance)
    if _is_later(stored, message.id):
        return Verdict(
            reason="not_indexed", detail="It was recorded after the receipt was made.", relevance=now.relevance
        )
    if receipt.sent is None and now.recalled and now.rank is None:
        return now  # the receipt of a context does not list its conversation, which is the same again
    since = _recorded_since(transaction, receipt, message.id)
    if not now.recalled:
        return now if since is None else replace(now, detail=f"{now.detail} {since}")
    if since is not None:
        return Verdict(reason="not_indexed", detail=since)
    return Verdict(reason="limit", detail="It was not among what was given then; it would be recalled now.")


def _is_later(stored: StoredReceipt, message: MessageId) -> bool:
    """Whether a message of the receipt's own session was recorded after it: the ids of a session are in the order of recording."""
    terms = stored.receipt.terms
    there = [known for known in (terms.until, terms.question_id) if known is not None]
    return bool(there) and session_of(message) == session_of(there[0]) and message > max(there)


def _recorded_since(transaction: Transaction, receipt: Receipt, message: MessageId) -> str | None:
    """That a message came after the receipt, in a sentence; None if it was there. Callers set when a message was said, so that is
    not asked, but the time of its indexing."""
    indexed_at = ReceiptStore(transaction).indexed_at(receipt.terms.pool, message)
    if indexed_at is None or indexed_at > receipt.created_at:
        return "It was recorded after the receipt was made, or indexed again since."
    return None


def _explained(message: MessageId, verdict: Verdict, trace: RecallTrace, changed: Change | None = None) -> Explanation:
    return Explanation(
        message=message,
        recalled=verdict.recalled,
        rank=verdict.rank,
        relevance=verdict.relevance,
        parts=score_parts(trace, message),
        reason=verdict.reason,
        detail=verdict.detail,
        changed=changed,
    )
