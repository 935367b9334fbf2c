"""The receipts of contexts and searches: made for every answer, and stored where the project says so (PRF-1)."""

from cloister.domain.context import Context
from cloister.domain.identifiers import KeyId, ReceiptId
from cloister.domain.receipts.receipt import Receipt, ReceiptItem, receipt_of_context, receipt_of_search
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.recall.search import EntityHit, EpisodeHit, Hit, SearchResult
from cloister.services.receipts.storing import ReceiptStoring


class RecallReceipts:
    """`key` is the API key of the caller, if there is one. Returns the receipt, and its id if it was stored."""

    def __init__(self, storing: ReceiptStoring, clock: Clock) -> None:
        self._storing = storing
        self._clock = clock

    def of_context(self, reach: Reach, context: Context, key: KeyId | None) -> tuple[Receipt, ReceiptId | None]:
        receipt = receipt_of_context(context, now=self._clock(), key=key)
        return receipt, self._storing.store(reach, receipt, context.session)

    def of_search(
        self, reach: Reach, result: SearchResult, session: str | None, key: KeyId | None
    ) -> tuple[Receipt, ReceiptId | None]:
        items = [item_of_hit(hit) for hit in result.hits]
        receipt = receipt_of_search(items, result.terms, result.left_out, now=self._clock(), key=key)
        return receipt, self._storing.store(reach, receipt, session)


def item_of_hit(hit: Hit) -> ReceiptItem:
    """The item of a receipt for a hit of a search."""
    match hit:
        case EpisodeHit(item=item):
            return ReceiptItem("message", item.message.id, "match", hit.score, hit.relevance)
        case EntityHit(entity=entity):
            return ReceiptItem("entity", entity.id, "match", hit.score, hit.relevance)
        case _:
            return ReceiptItem("memory", hit.stored.memory.id, "match", hit.score, hit.relevance)
