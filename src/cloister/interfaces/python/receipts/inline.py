"""The shape of a receipt that an answer has inline (PRF-1): without words, which are in the answer. Every context and search makes
one, so it is made cheaply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cloister.domain import identifiers as ids
from cloister.domain.identifiers import ReceiptId, format_key_id, format_project_id, format_receipt_id
from cloister.domain.recall.relevance import strength_of
from cloister.domain.receipts import receipt as domain
from cloister.domain.timestamps import iso

MadeReceipt = tuple[domain.Receipt, ReceiptId | None]
"""A receipt, and its id if it was stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptItem:
    """Something that was given, and the `rule` that let it in: `match`, `recent`, `pinned`, `note` or `profile`. What was searched
    for has a `score`, a `relevance` and a `strength`, as in a context."""

    kind: str
    id: str
    rule: str
    score: float | None
    relevance: float | None
    strength: str | None
    is_excerpt: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptPool:
    """The pool that was recalled from: the project, None for none, and the number of the pool's version then; in a stored receipt
    also now."""

    project_id: str | None
    version: int
    version_now: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InlineReceipt:
    """What an answer was made of: the items without their words, which are in the answer, and how many candidates were `left_out`,
    as beyond the `limit`, `weak`, `duplicate`, beyond the `budget`, a `quotation` only, or `excluded`. Receipts are equal if they
    say the same, whenever and with whichever key it was asked."""

    kind: str
    created_at: str = field(compare=False)
    pool: ReceiptPool
    key_id: str | None = field(compare=False)
    min_relevance: float
    items: tuple[ReceiptItem, ...]
    left_out: Mapping[str, int]
    tokens: int


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "message": ids.format_message_id,
    "memory": ids.format_memory_id,
    "entity": ids.format_entity_id,
    "observation": ids.format_observation_id,
}


def inline_receipt_shape(receipt: domain.Receipt) -> InlineReceipt:
    return InlineReceipt(
        kind=receipt.kind,
        created_at=iso(receipt.created_at),
        pool=pool_shape(receipt, None),
        key_id=key_id(receipt),
        min_relevance=receipt.terms.floor,
        items=tuple(map(_item_shape, receipt.items)),
        left_out=receipt.left_out,
        tokens=receipt.tokens,
    )


def receipt_fields(made: MadeReceipt) -> dict[str, Any]:
    """The fields of an answer that has a receipt: the receipt, and its id if it was stored."""
    receipt, id = made
    return {"receipt": inline_receipt_shape(receipt), "receipt_id": None if id is None else format_receipt_id(id)}


def pool_shape(receipt: domain.Receipt, now: int | None) -> ReceiptPool:
    project = receipt.terms.project
    name = None if project is None else format_project_id(project)
    return ReceiptPool(project_id=name, version=receipt.terms.version, version_now=now)


def key_id(receipt: domain.Receipt) -> str | None:
    return None if receipt.key is None else format_key_id(receipt.key)


# The slots of an item. The constructor of a frozen dataclass takes three times as long as setting them.
_new = object.__new__
_set_kind, _set_id, _set_rule, _set_score, _set_relevance, _set_strength, _set_is_excerpt = (
    getattr(ReceiptItem, name).__set__
    for name in ("kind", "id", "rule", "score", "relevance", "strength", "is_excerpt")
)


def _item_shape(item: domain.ReceiptItem) -> ReceiptItem:
    kind, number, rule, score, relevance, is_excerpt = item
    shape = _new(ReceiptItem)
    _set_kind(shape, kind)
    _set_id(shape, FORMATS[kind](number))
    _set_rule(shape, rule)
    _set_score(shape, score)
    _set_relevance(shape, relevance)
    _set_strength(shape, None if relevance is None else strength_of(relevance))
    _set_is_excerpt(shape, is_excerpt)
    return shape
