"""The shapes of receipts (PRF-1) and explanations (PRF-2)."""

from collections.abc import Mapping
from dataclasses import dataclass

from cloister.domain.identifiers import format_message_id, format_receipt_id
from cloister.domain.receipts import receipt as domain
from cloister.domain.timestamps import iso
from cloister.interfaces.python.receipts.inline import FORMATS, ReceiptItem, ReceiptPool, key_id, pool_shape
from cloister.services.receipts.explain import Change as DomainChange
from cloister.services.receipts.explain import Explanation as DomainExplanation
from cloister.services.receipts.prompt import ShownPrompt
from cloister.services.receipts.reading import ShownItem, ShownReceipt


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredReceiptItem(ReceiptItem):
    """The same with its words as they are now, when they were said or made, and of whom they are. A message has a `role` and
    perhaps an `author`, an entity `notes`, and all but entities a session; a memory has a `status`, may be `pinned` now, and names
    the messages it came from. `same_session`: it is of the session of the receipt. `is_changed`: the words were others then,
    because somebody corrected them, or the entity was mentioned again."""

    content: str
    session_id: str | None
    user_id: str | None = None
    role: str | None = None
    author: str | None = None
    status: str | None = None
    notes: str | None = None
    created_at: str = ""
    same_session: bool = False
    pinned: bool | None = None
    source_message_ids: tuple[str, ...] = ()
    is_changed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SentPart:
    """A message to the model: `kind` is `system_prompt`, `conversation`, `tool_result` or `question`. `characters` is its length;
    none for the system prompt of a session that was in another project then, nor for that of a project, for a key of one user."""

    role: str
    kind: str
    characters: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SentImage:
    """An image that was sent to the model, without its contents. `size` is in bytes."""

    name: str | None
    media_type: str
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SentPrompt:
    """What was sent to the model, without its words. `prompt` is `default`, `project` or `session`; of the prompt of a project or a
    session there is the SHA-256, unless the session was in another project then; that of a project is not shown to a key of one
    user. Without `placeholders`, nothing that is remembered was given; null if the session was in another project then.
    `conversation_ids` are the messages of the session that were sent, as far as they exist; `more_parts` are not listed. The
    contents of `images` are not stored."""

    prompt: str
    template_sha256: str | None
    placeholders: tuple[str, ...] | None
    parts: tuple[SentPart, ...]
    more_parts: int
    conversation_ids: tuple[str, ...]
    tools: int
    images: tuple[SentImage, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyFacts:
    """How a reply was made. Times are milliseconds from its beginning."""

    model: str
    status: str
    prompt_tokens: int | None
    completion_tokens: int | None
    recall_ms: float
    first_token_ms: float | None
    total_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A stored receipt, as its reader may see it now. `kind` is `reply`, `context` or `search`. Items that are no longer in the
    pool they were recalled from, and all items after the session has left it, are only counted in `hidden`, and `summary` says so
    in words; `pool` is then null, and so is what would tell of its prompt and of their length (`tokens`)."""

    id: str
    kind: str
    session_id: str | None
    message_id: str | None
    question_id: str | None
    query: str | None
    created_at: str
    pool: ReceiptPool | None
    key_id: str | None
    min_relevance: float
    given: int
    items: tuple[StoredReceiptItem, ...]
    hidden: Mapping[str, int]
    summary: tuple[str, ...]
    left_out: Mapping[str, int]
    tokens: int | None
    sent: SentPrompt | None
    reply: ReplyFacts | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptMessage:
    """A message to the model, with its words as they are now."""

    role: str
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptPrompt:
    """The prompt of a reply, as its reader may see it now. Unless it `is_exact`, `missing` says what is not as it was then, such as
    a memory that was corrected, an item that was forgotten or has moved, or a system prompt that was changed."""

    messages: tuple[PromptMessage, ...]
    is_exact: bool
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptSummary:
    """The receipt of a reply in numbers: how many items it was `given`, and how many of them are `strong` and `weak`. Without
    `placeholders` its prompt had no room for what is remembered."""

    id: str
    message_id: str
    given: int
    strong: int
    weak: int
    placeholders: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptChange:
    """What is different since a receipt was made: the version of the pool then and now, whether the message would be recalled now,
    with which rank and for which reason; the ids of the messages, memories, entities and observations that would be recalled now
    and were not (`entered`), and of those that were and would not be (`dropped`); and how many items are no longer there
    (`hidden`)."""

    version_then: int
    version_now: int
    recalled: bool
    rank: int | None
    relevance: float | None
    reason: str
    entered: tuple[str, ...]
    dropped: tuple[str, ...]
    hidden: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a message was, or was not, recalled. `reason` is `recalled`, `limit`, `weak`, `duplicate`, `budget`, `quotation`,
    `excluded` or `not_indexed`, and `detail` says more. `rank` is its position, from 1, among the candidates, and `parts` are those
    of its score; both are null or empty where it is no candidate. `changed` is null unless a receipt was named and its pool has
    changed."""

    message_id: str
    recalled: bool
    rank: int | None
    relevance: float | None
    parts: Mapping[str, float]
    reason: str
    detail: str
    changed: ReceiptChange | None


def receipt_shape(shown: ShownReceipt) -> Receipt:
    receipt, stored = shown.receipt, shown.stored
    sent, answered = receipt.sent, receipt.answered
    question = receipt.terms.question_id
    return Receipt(
        id=format_receipt_id(stored.id),
        kind=receipt.kind,
        session_id=stored.session_name,
        message_id=None if stored.reply is None else format_message_id(stored.reply),
        question_id=None if question is None else format_message_id(question),
        query=receipt.terms.question,
        created_at=iso(receipt.created_at),
        pool=None if shown.version is None else pool_shape(receipt, shown.version),
        key_id=key_id(receipt),
        min_relevance=receipt.terms.floor,
        given=len(receipt.items),
        items=tuple(_stored_item(item, stored.session_name) for item in shown.items),
        hidden=shown.hidden,
        summary=shown.summary,
        left_out=receipt.left_out,
        tokens=None if shown.version is None else receipt.tokens,
        sent=None if sent is None else _sent(sent, shown),
        reply=None
        if answered is None
        else ReplyFacts(
            model=answered.model,
            status=answered.status,
            prompt_tokens=None if shown.version is None else answered.prompt_tokens,
            completion_tokens=answered.completion_tokens,
            recall_ms=answered.recall_ms,
            first_token_ms=answered.first_token_ms,
            total_ms=answered.total_ms,
        ),
    )


def receipt_prompt_shape(shown: ShownPrompt) -> ReceiptPrompt:
    return ReceiptPrompt(
        messages=tuple(PromptMessage(role=message.role, content=message.content) for message in shown.messages),
        is_exact=shown.is_exact,
        missing=shown.missing,
    )


def receipt_summary_shape(summary: domain.ReceiptSummary) -> ReceiptSummary:
    return ReceiptSummary(
        id=format_receipt_id(summary.id),
        message_id=format_message_id(summary.reply),
        given=summary.given,
        strong=summary.strong,
        weak=summary.weak,
        placeholders=summary.placeholders,
    )


def explanation_shape(explained: DomainExplanation) -> Explanation:
    return Explanation(
        message_id=format_message_id(explained.message),
        recalled=explained.recalled,
        rank=explained.rank,
        relevance=explained.relevance,
        parts=explained.parts,
        reason=explained.reason,
        detail=explained.detail,
        changed=None if explained.changed is None else _change(explained.changed),
    )


def _change(change: DomainChange) -> ReceiptChange:
    now = change.now
    return ReceiptChange(
        version_then=change.version_then,
        version_now=change.version_now,
        recalled=now.recalled,
        rank=now.rank,
        relevance=now.relevance,
        reason=now.reason,
        entered=tuple(FORMATS[kind](number) for kind, number in change.entered),
        dropped=tuple(FORMATS[kind](number) for kind, number in change.dropped),
        hidden=change.hidden,
    )


def _stored_item(shown: ShownItem, session: str | None) -> StoredReceiptItem:
    item, words = shown
    return StoredReceiptItem(
        kind=item.kind,
        id=FORMATS[item.kind](item.id),
        rule=item.rule,
        score=item.score,
        relevance=item.relevance,
        strength=item.strength,
        is_excerpt=item.is_excerpt,
        content=words.content,
        session_id=words.session,
        user_id=words.user,
        role=words.role,
        author=words.author,
        status=words.status,
        notes=words.notes,
        created_at=iso(words.created_at),
        same_session=words.session is not None and words.session == session,
        pinned=words.pinned,
        source_message_ids=tuple(map(format_message_id, words.sources)),
        is_changed=words.is_changed,
    )


def _sent(sent: domain.Sent, shown: ShownReceipt) -> SentPrompt:
    return SentPrompt(
        prompt=sent.prompt,
        template_sha256=sent.template if shown.shows_template else None,
        placeholders=None if shown.version is None else sent.placeholders,
        parts=tuple(
            SentPart(role=part.role, kind=part.kind, characters=None if _is_hidden(part, shown) else part.characters)
            for part in sent.parts
        ),
        more_parts=sent.more,
        conversation_ids=tuple(map(format_message_id, shown.conversation)),
        tools=sent.tools,
        images=tuple(SentImage(name=name, media_type=kind, size=size) for name, kind, size in sent.images),
    )


def _is_hidden(part: domain.SentPart, shown: ShownReceipt) -> bool:
    """The length of a system prompt tells of the prompt of a project, and of what was recalled."""
    return part.kind == "system_prompt" and not shown.shows_template
