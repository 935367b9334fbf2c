"""Receipts (PRF-1): what a reply, a context or a search was given, and what was left out. A receipt has ids and numbers, never
recalled text: that is looked up when the receipt is read, within the isolation of the reader."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from cloister.domain.context import Context, Derived, Reason, RecallTerms
from cloister.domain.identifiers import KeyId, MessageId, ReceiptId, SessionId
from cloister.domain.recall.relevance import Strength, strength_of

ReceiptKind = Literal["reply", "context", "search"]
ItemKind = Literal["message", "memory", "entity", "observation"]
Rule = Literal["recent", "match", "pinned", "note", "profile"]
"""What let an item in: it is one of the most recent of the pool, it matches the question best, it is a pinned memory, it is a note
of the session or its user, or it is a fact of the user's profile."""
REASONS: tuple[Reason, ...] = get_args(Reason)


class ReceiptItem(NamedTuple):
    """Something that was given. `id` is that of the message, memory, entity or observation. What was searched for has a relevance;
    `score` orders messages."""

    kind: ItemKind
    id: int
    rule: Rule
    score: float | None = None
    relevance: float | None = None
    is_excerpt: bool = False

    @property
    def strength(self) -> Strength | None:
        return None if self.relevance is None else strength_of(self.relevance)


@dataclass(frozen=True, kw_only=True, slots=True)
class SentPart:
    """A message that was sent to the model: its role, what it is, and how long."""

    role: str
    kind: str
    characters: int


class SentImage(NamedTuple):
    """An image that was sent to the model, without its contents: its name, if it had one, its type and its size in bytes."""

    name: str | None
    media_type: str
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What was sent to the model, without its words. `template` is the SHA-256 of the prompt of the session or the project, which
    has no recalled text in it; None for the default one. `more` counts the parts that are not listed. `conversation` are the
    messages of the session that were sent and that the client did not send itself. `is_of_client`: the client sent a prompt of its
    own, to which only what is remembered was added. The contents of `images` are not stored."""

    prompt: Literal["default", "project", "session"]
    template: str | None
    placeholders: tuple[str, ...]
    parts: tuple[SentPart, ...]
    more: int = 0
    conversation: tuple[MessageId, ...] = ()
    tools: int = 0
    is_of_client: bool = False
    images: tuple[SentImage, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """How a reply was made: by which model, with how many tokens as its server counts them, and how long it took, in
    milliseconds from the beginning of the turn."""

    model: str
    status: str
    prompt_tokens: int | None
    completion_tokens: int | None
    recall_ms: float
    first_token_ms: float | None
    total_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What was given, and how. `tokens` are those of what was given. `key` is the API key of the caller, if there was one."""

    kind: ReceiptKind
    created_at: int
    terms: RecallTerms
    items: tuple[ReceiptItem, ...]
    left_out: Mapping[str, int]
    tokens: int
    key: KeyId | None = None
    sent: Sent | None = None
    answered: Answered | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredReceipt:
    """A receipt with its id, and where it belongs: to a session and a reply, or to neither."""

    id: ReceiptId
    receipt: Receipt
    session: SessionId | None = None
    session_name: str | None = None
    reply: MessageId | None = None


class ReceiptSummary(NamedTuple):
    """How many items a reply was given, and how many of them are strong and weak; the others are notes, pinned memories and others
    that were not searched for. Without `placeholders` its prompt had no room for any."""

    id: ReceiptId
    reply: MessageId
    given: int
    strong: int
    weak: int
    placeholders: bool


def summary_of(stored: StoredReceipt) -> ReceiptSummary:
    """The summary of the receipt of a reply."""
    assert stored.reply is not None
    strengths = [item.strength for item in stored.receipt.items]
    sent = stored.receipt.sent
    return ReceiptSummary(
        id=stored.id,
        reply=stored.reply,
        given=len(strengths),
        strong=strengths.count("strong"),
        weak=strengths.count("weak"),
        placeholders=sent is None or bool(sent.placeholders),
    )


def receipt_of_context(context: Context, *, now: int, key: KeyId | None = None) -> Receipt:
    """The receipt of a context."""
    terms = context.terms
    assert terms is not None
    return Receipt(
        kind="context",
        created_at=now,
        terms=terms,
        items=tuple(given_items(context)),
        left_out=context.left_out,
        tokens=context.tokens,
        key=key,
    )


def given_items(context: Context) -> Iterable[ReceiptItem]:
    """Everything in a context that was recalled; the current conversation is not."""
    messages = [
        ReceiptItem("message", message.id, "match" if source == "semantic" else "recent", score, relevance, is_excerpt)
        # By position, because names take longer than all the rest.
        for message, _, source, score, _, relevance, _, _, is_excerpt in context.relevant_history
    ]
    return [*messages, *_derived_items(context.derived)]


def _derived_items(derived: Derived) -> Iterator[ReceiptItem]:
    for stored in derived.memories:
        memory = stored.memory
        by: Rule = "pinned" if memory.pinned else "match"
        yield ReceiptItem("memory", memory.id, by, None, derived.memory_relevance.get(memory.id))
    for entity in derived.entities:
        yield ReceiptItem("entity", entity.id, "match", None, derived.entity_relevance.get(entity.id))
    for noted in derived.observations:
        yield ReceiptItem("observation", noted.observation.id, "note")
    known = {stored.memory.id for stored in derived.memories}
    for fact in derived.profile:
        for memory_id in fact.memories:
            if memory_id not in known:
                known.add(memory_id)
                yield ReceiptItem("memory", memory_id, "profile")


def receipt_of_search(
    hits: Sequence[ReceiptItem],
    terms: RecallTerms,
    left_out: Mapping[str, int],
    *,
    now: int,
    key: KeyId | None = None,
) -> Receipt:
    """The receipt of a search; it has no token budget."""
    return Receipt(kind="search", created_at=now, terms=terms, items=tuple(hits), left_out=left_out, tokens=0, key=key)
