"""Asks the index itself what it names in one pool, before storage is asked: an audit sees there what storage would hide (PRF-3)."""

from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.services.recall.recall import IndexedIds, Recall
from cloister.services.recall.snapshot import read_snapshot
from cloister.storage.interface import Database


class IndexProbe:
    """Ids only, of one scope at a time."""

    def __init__(self, database: Database, recall: Recall, clock: Clock) -> None:
        self._database = database
        self._recall = recall
        self._clock = clock

    def named(self, reach: Reach, scope: Scope, text: str, most: int) -> IndexedIds | None:
        """The messages, memories and entities that the index names for a text; None if the pool has more messages than `most`."""
        return read_snapshot(
            self._database,
            reach,
            lambda transaction: self._recall.indexed(transaction, scope, text, self._clock(), most),
        )
