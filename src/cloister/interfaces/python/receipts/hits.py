"""The hits of a search: a list, with the receipt of the search."""

from collections.abc import Iterable

from cloister.interfaces.python.recall.shapes import Hit
from cloister.interfaces.python.receipts.inline import InlineReceipt


class Hits(list[Hit]):
    """A list of hits, best first. `receipt` says what was found by which rule, and what was left out; `receipt_id` is its id, if
    the project stores receipts. `stale` is as in `Context`."""

    def __init__(
        self,
        hits: Iterable[Hit],
        receipt: InlineReceipt | None = None,
        receipt_id: str | None = None,
        stale: int | None = None,
    ) -> None:
        super().__init__(hits)
        self.receipt = receipt
        self.receipt_id = receipt_id
        self.stale = stale
