"""Recall again what a receipt names, with its question and its limits, to say what is different now (PRF-2)."""

from dataclasses import replace
from typing import NamedTuple

from cloister.domain.context import Context, RecallTerms
from cloister.domain.conversation import Session
from cloister.domain.identifiers import MessageId
from cloister.domain.prompts.profile import DEFAULT_PROFILE_TOKENS
from cloister.domain.prompts.prompt import given_by, wants_profile
from cloister.domain.recall.question import asked_part
from cloister.domain.receipts.receipt import ItemKind, ReceiptItem, StoredReceipt, given_items
from cloister.domain.reply import QUOTING_MODEL
from cloister.domain.scope import Scope
from cloister.domain.timestamps import Clock
from cloister.services.chat_model.quoting import quotable
from cloister.services.recall.build_context import ContextBuilder, ContextRequest
from cloister.services.recall.recall import Recall
from cloister.services.recall.search import KINDS, EpisodeHit, best_hits, excluded_of
from cloister.services.recall.selection import Question, RecallTrace
from cloister.services.receipts.reading import session_of_receipt
from cloister.services.receipts.recalled import item_of_hit
from cloister.services.receipts.verdict import Recollection
from cloister.storage.interface import Transaction
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

    def of(self, transaction: Transaction, stored: StoredReceipt, scope: Scope) -> RecalledAgain:
        """What the question of a receipt recalls now in this scope, as the caller of the transaction may see it."""
        session = session_of_receipt(transaction, stored)
        if stored.receipt.kind == "search" or session is None:
            return self._search(transaction, stored.receipt.terms, stored.session_name, scope)
        return self._context(transaction, stored, session)

    def _context(self, transaction: Transaction, stored: StoredReceipt, session: Session) -> RecalledAgain:
        terms, sent, trace = stored.receipt.terms, stored.receipt.sent, RecallTrace()
        text = terms.question if terms.question is not None else _asked(transaction, session, terms.question_id)
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
            with_partial=is_reply,
            without=frozenset() if terms.question_id is None else frozenset({terms.question_id}),
        )
        context = self._contexts.build_within(transaction, session, request, {}, None, trace)
        if is_quoted:
            context = quotable(context)
        recalled = Recollection.of(context, trace)
        shown: Context = context if sent is None else given_by(sent.placeholders, context)
        return RecalledAgain(
            replace(recalled, left="limit") if is_quoted else recalled, frozenset(map(key_of, given_items(shown)))
        )

    def _search(self, transaction: Transaction, terms: RecallTerms, session: str | None, scope: Scope) -> RecalledAgain:
        trace, limit = RecallTrace(), terms.limit or 1
        question = Question(
            text=asked_part(terms.question or ""),
            asked_at=terms.asked_at,
            floor=terms.floor,
            now=self._clock(),
            as_of=terms.as_of,
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


def _is_quoted(stored: StoredReceipt) -> bool:
    """Whether the reply was made without a model."""
    answered = stored.receipt.answered
    return answered is not None and answered.model == QUOTING_MODEL


def _asked(transaction: Transaction, session: Session, question: MessageId | None) -> str | None:
    if question is None:
        return None
    found = MessageStore(transaction).found(session.id, session.pool, [question])
    return found[0].content if found and found[0].role == "user" else None
