"""Decide why one message was, or was not, recalled, from the trace of a recall (PRF-2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cloister.domain.context import Context, Item
from cloister.domain.conversation import ROLES
from cloister.domain.identifiers import MessageId
from cloister.domain.prompts.recalled_text import shown_outside_session
from cloister.services.recall.selection import LeftOut, RecallTrace, Selection
from cloister.storage.stores.pools import PoolMessage, StoredPool

ExplainedReason = Literal["recalled", "limit", "weak", "duplicate", "budget", "quotation", "excluded", "not_indexed"]
_DIGITS = 6
_COLUMNS = ("lexical", "semantic", "author", "date", "session_prior", "coverage", "second")
_LEFT_OUT: Mapping[LeftOut, tuple[ExplainedReason, str]] = {
    "weak": ("weak", "It is less relevant than min_relevance."),
    "known": ("duplicate", "The caller has its words already."),
    "repeats": ("duplicate", "It only repeats the question, or says that the answer is not known."),
    "duplicate": ("duplicate", "Another message that was recalled says the same."),
    "limit": ("limit", "Others match better, and the limit was reached."),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Why a message was, or was not, recalled. `rank` is its position among what was recalled, or among the candidates."""

    reason: ExplainedReason
    detail: str
    rank: int | None = None
    relevance: float | None = None

    @property
    def recalled(self) -> bool:
        return self.reason == "recalled"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recollection:
    """What was recalled, and how. `left` is the reason why something that was selected is not in `history`."""

    history: Sequence[Item]
    conversation: Sequence[Item]
    trace: RecallTrace
    left: Literal["budget", "limit"] = "budget"

    @classmethod
    def of(cls, context: Context, trace: RecallTrace) -> "Recollection":
        return cls(history=context.relevant_history, conversation=context.current_conversation, trace=trace)


def judge(recalled: Recollection, found: PoolMessage, rows: StoredPool) -> Verdict:
    """The verdict on a message of the pool `rows`. The checks have the order in which recall makes them."""
    message, trace = found.message, recalled.trace
    shown = shown_outside_session(message)
    for rank, item in enumerate(recalled.history, 1):
        if item.message.id == message.id:
            return Verdict(reason="recalled", detail="It was recalled.", rank=rank, relevance=item.relevance)
    if any(item.message.id == message.id for item in recalled.conversation):
        return Verdict(reason="recalled", detail="It is in the current conversation, which is shown as it is.")
    if shown is None:
        return Verdict(reason="quotation", detail="It has no words of its own: it only quotes what was recalled.")
    if message.id in trace.excluded.messages:
        return Verdict(reason="excluded", detail="Somebody excluded it from what this session recalls.")
    if message.id in trace.without:
        return Verdict(reason="duplicate", detail="It is the question itself, or was said after it.")
    for item in trace.related:
        if item.message.id == message.id:
            return _selected(recalled, item)
    if message.status != "completed":
        return Verdict(reason="not_indexed", detail=f"It is {message.status}: only completed messages are recalled.")
    question = trace.question
    if question is None or not question.text or question.is_small_talk:
        return Verdict(reason="weak", detail="The question asks for nothing: small talk recalls nothing.")
    if trace.selection is None or trace.evidence is None:
        return Verdict(reason="limit", detail="No source searches the pool, or nothing may be searched.")
    return _candidate(trace, trace.selection, Item(shown, found.session, "semantic", user=found.user), rows)


def score_parts(trace: RecallTrace, message: MessageId) -> dict[str, float]:
    """The parts of a candidate's score, and the score; empty if the message is no candidate."""
    position = _position(trace, message)
    if position is None or trace.evidence is None or trace.selection is None:
        return {}
    parts = {"score": float(trace.selection.scores[position])}
    for name in _COLUMNS:
        column = getattr(trace.evidence, name)
        if column is not None and np.isfinite(column[position]):
            parts[name] = float(column[position])
    return {name: round(value, _DIGITS) for name, value in parts.items()}


def _selected(recalled: Recollection, item: Item) -> Verdict:
    if recalled.left == "budget":
        detail = "It was selected, but did not fit into the tokens that were left."
    else:
        detail = "Another message of its episode stands for it, or other hits come first."
    return Verdict(reason=recalled.left, detail=detail, relevance=item.relevance)


def _candidate(trace: RecallTrace, selection: Selection, item: Item, rows: StoredPool) -> Verdict:
    position = _position(trace, item.message.id)
    if position is None:
        if not rows.vectors([item.message.id]):
            return Verdict(reason="not_indexed", detail="It is not indexed yet, or was indexed by another embedder.")
        return Verdict(reason="limit", detail="The index found enough messages that match better.")
    mask = next(
        (mask for pick in trace.picks if (mask := selection.candidates_of(pick, trace.without))[position]), None
    )
    if mask is None:
        role = ROLES[int(trace.evidence.roles[position])] if trace.evidence is not None else item.message.role
        return Verdict(reason="limit", detail=f"No source asks for messages of the role {role} from its session.")
    left_out, relevance = selection.judge(position, item)
    reason, detail = _LEFT_OUT[left_out]
    scores = selection.scores
    rank = 1 + int(np.count_nonzero(scores[mask] > scores[position]))
    return Verdict(reason=reason, detail=detail, rank=rank, relevance=relevance)


def _position(trace: RecallTrace, message: MessageId) -> int | None:
    if trace.evidence is None:
        return None
    found = np.flatnonzero(trace.evidence.ids == message)
    return int(found[0]) if len(found) else None
