"""Recall again what a receipt names, with its question and its limits, to say what is different now (PRF-2).

With an additional embedder the question's vector is made before the snapshot, as for a context and a search.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cloister.domain.context import Context, RecallTerms
from cloister.domain.conversation import Session
from cloister.domain.history import words_key
from cloister.domain.identifiers import MessageId, ReceiptId
from cloister.domain.prompts.profile import DEFAULT_PROFILE_TOKENS
from cloister.domain.prompts.prompt import given_by, wants_profile
from cloister.domain.recall.question import asked_part
from cloister.domain.receipts.receipt import ItemKind, Receipt, ReceiptItem, StoredReceipt, given_items
from cloister.domain.reply import QUOTING_MODEL
from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.services.chat_model.quoting import quotable
from cloister.services.recall.build_context import ContextBuilder, ContextRequest
from cloister.services.recall.embeddings.additional import QueryVector
from cloister.services.recall.recall import Recall
from cloister.services.recall.search import KINDS, EpisodeHit, best_hits, excluded_of
from cloister.services.recall.selection import Question, RecallTrace
from cloister.services.receipts.reading import find_receipt, session_of_receipt
from cloister.services.receipts.recalled import item_of_hit
from cloister.services.receipts.verdict import Recollection
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.messages import MessageStore

ItemKey = tuple[ItemKind, int]


class RecalledAgain(NamedTuple):
    """What is recalled now, how, and the items that are given now."""

    recollection: Recollection
    given: frozenset[ItemKey]


class RecallAgain:
    def __init__(self, contexts: ContextBuilder, recall: Recall, clock: Clock) -> None:
        self._contexts = contexts
        self._recall = recall
        self._clock = clock

    def vector(self, database: Database, reach: Reach, receipt: ReceiptId) -> QueryVector | None:
        """The vector of a receipt's question by the additional embedder, if there is one and it answers. It may take a second:
        call it outside transactions."""
        if self._recall.additional is None:
            return None
        with database.read(reach) as transaction:
            stored = find_receipt(transaction, receipt, self._clock())
            text = _question(transaction, stored, session_of_receipt(transaction, stored))
        searches = stored.receipt.terms.searches_messages
        return self._recall.query_vector(reach, asked_part(text)) if text and searches else None

    def differences(self, receipt: Receipt, vector: QueryVector | None) -> Iterator[str]:
        """What is not known to be as it was when a receipt was made, each in a sentence."""
        vectors = self._difference(receipt.terms, vector)
        if vectors is not None:
            yield vectors
        if receipt.sent is not None and receipt.sent.is_of_client:
            yield "What the client sent itself is not stored: what the session has of it counts as sent."

    def _difference(self, terms: RecallTerms, vector: QueryVector | None) -> str | None:
        """How the vectors differ from those of a receipt's time; None if they do not."""
        if not terms.searches_messages:
            return None
        now = None if vector is None else vector.model
        if now == terms.additional_model:
            return None
        if now is None:
            what = "is not there now" if self._recall.additional is None else "does not answer now"
            return f"The additional embedder of the receipt {what}, so the question was asked again without it."
        if terms.additional_model is None:
            return "The receipt names no additional embedder, and the question was asked again with one."
        return "The receipt was made with another additional embedder than the one that answers now."

    def of(
        self, transaction: Transaction, stored: StoredReceipt, scope: Scope, vector: QueryVector | None
    ) -> RecalledAgain:
        """What the question of a receipt recalls now in this scope, as the caller of the transaction may see it."""
        session = session_of_receipt(transaction, stored)
        if stored.receipt.kind == "search" or session is None:
            return self._search(transaction, stored.receipt.terms, stored.session_name, scope, vector)
        return self._context(transaction, stored, session, vector)

    def _context(
        self, transaction: Transaction, stored: StoredReceipt, session: Session, vector: QueryVector | None
    ) -> RecalledAgain:
        terms, sent, trace = stored.receipt.terms, stored.receipt.sent, RecallTrace()
        text = _question(transaction, stored, session)
        is_reply, is_quoted = sent is not None, _is_quoted(stored)
        asks_profile = sent is not None and not is_quoted and wants_profile("".join(sent.placeholders))
        budget = DEFAULT_PROFILE_TOKENS * 4 if terms.budget is None else terms.budget
        request = ContextRequest(
            question=text,
            asked_at=terms.asked_at,
            as_of=terms.as_of,
            min_relevance=terms.floor,
            # A reply without a model has no conversation: what was said since its question is left out too.
            again=replace(terms, until=terms.question_id) if is_reply and terms.until is None else terms,
            profile_tokens=min(DEFAULT_PROFILE_TOKENS, budget // 4) if asks_profile else 0,
            known=_sent_by_client(transaction, stored, session),
            with_partial=is_reply,
            without=frozenset() if terms.question_id is None else frozenset({terms.question_id}),
        )
        context = self._contexts.build_within(transaction, session, request, {}, vector, trace)
        if is_quoted:
            context = quotable(context)
        recalled = Recollection.of(context, trace)
        shown: Context = context if sent is None else given_by(sent.placeholders, context)
        return RecalledAgain(
            replace(recalled, left="limit") if is_quoted else recalled, frozenset(map(key_of, given_items(shown)))
        )

    def _search(
        self,
        transaction: Transaction,
        terms: RecallTerms,
        session: str | None,
        scope: Scope,
        vector: QueryVector | None,
    ) -> RecalledAgain:
        trace, limit = RecallTrace(), terms.limit or 1
        question = Question(
            text=asked_part(terms.question or ""),
            asked_at=terms.asked_at,
            floor=terms.floor,
            now=self._clock(),
            as_of=terms.as_of,
            vector=vector,
            excluded=excluded_of(transaction, session),
        )
        hits, recalled = best_hits(self._recall, transaction, scope, question, terms.kinds or KINDS, limit, trace)
        trace.question, trace.related, trace.excluded = question, recalled.items, question.excluded
        history = [hit.item for hit in hits[:limit] if isinstance(hit, EpisodeHit)]
        return RecalledAgain(
            Recollection(history=history, conversation=(), trace=trace, left="limit"),
            frozenset(key_of(item_of_hit(hit)) for hit in hits[:limit]),
        )


def key_of(item: ReceiptItem) -> ItemKey:
    return item.kind, item.id


def _sent_by_client(transaction: Transaction, stored: StoredReceipt, session: Session) -> frozenset[str]:
    """The words that a client with a history of its own sent, as far as the session has them: so many of its messages up to the
    question as were sent, but those that the receipt says were added."""
    sent, until = stored.receipt.sent, stored.receipt.terms.question_id
    if sent is None or not sent.is_of_client or until is None:
        return frozenset()
    many = len(sent.parts) + sent.more
    said = MessageStore(transaction).before(session.id, session.pool, MessageId(until + 1), limit=many)
    return frozenset(words_key(message.content) for message in said if message.id not in sent.conversation)


def _is_quoted(stored: StoredReceipt) -> bool:
    """Whether the reply was made without a model."""
    answered = stored.receipt.answered
    return answered is not None and answered.model == QUOTING_MODEL


def _question(transaction: Transaction, stored: StoredReceipt, session: Session | None) -> str | None:
    """The words that were asked, if they are there: those of the receipt, or those of the message that asked."""
    terms = stored.receipt.terms
    if terms.question is not None or session is None:
        return terms.question
    return _asked(transaction, session, terms.question_id)


def _asked(transaction: Transaction, session: Session, question: MessageId | None) -> str | None:
    if question is None:
        return None
    found = MessageStore(transaction).found(session.id, session.pool, [question])
    return found[0].content if found and found[0].role == "user" else None
