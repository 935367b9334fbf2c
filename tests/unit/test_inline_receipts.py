"""PRF-1: the receipt inline in an answer has every field of every item, though its items are not made by their constructor."""

import dataclasses

import pytest

from cloister.domain.context import RecallTerms
from cloister.domain.identifiers import PoolId
from cloister.domain.receipts.receipt import Receipt
from cloister.domain.receipts.receipt import ReceiptItem as Given
from cloister.interfaces.python.receipts.inline import ReceiptItem, inline_receipt_shape

TERMS = RecallTerms(pool=PoolId(1), version=3, project=None, user=None, asked_at=1, floor=0.25)
GIVEN = (
    Given("message", 17, "match", 1.5, 0.9, is_excerpt=True),
    Given("message", 18, "recent"),
    Given("memory", 19, "pinned", None, 0.01),
    Given("entity", 20, "match", None, 0.4),
    Given("observation", 21, "note"),
)


def test_prf_1_an_item_is_what_its_constructor_would_make() -> None:
    receipt = Receipt(kind="context", created_at=1, terms=TERMS, items=GIVEN, left_out={}, tokens=0)
    shaped = inline_receipt_shape(receipt).items
    assert shaped[0] == ReceiptItem(
        kind="message",
        id="msg_0000000000000011",
        rule="match",
        score=1.5,
        relevance=0.9,
        strength="strong",
        is_excerpt=True,
    )
    assert [item.id[:4] for item in shaped] == ["msg_", "msg_", "mem_", "ent_", "obs_"]
    assert [item.strength for item in shaped] == [given.strength for given in GIVEN]
    for item in shaped:
        assert ReceiptItem(**dataclasses.asdict(item)) == item
        with pytest.raises(dataclasses.FrozenInstanceError):
            item.score = 0.0  # pyright: ignore[reportAttributeAccessIssue]
