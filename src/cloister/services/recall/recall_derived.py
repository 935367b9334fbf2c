"""Recall of what derives: the memories of a scope's pool, the entities of its project, the notes of its session or user.

As with messages, the index names ids and storage says what is there; what it does not find under the same scope is never shown.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from cloister.domain.entity import Entity
from cloister.domain.memory import StoredMemory
from cloister.domain.recall.ranking import Evidence, Weights, best, rank
from cloister.domain.scope import Scope
from cloister.index.interface import Index, PoolIndex
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.pools import PoolStore

T = TypeVar("T")
_WEIGHTS = Weights(author=0, date=0, session_prior=0, favour_author=False)


class DerivedRecall:
    """`foreign_hits` counts as that of `Recall` does."""

    def __init__(self, index: Index, generation: int) -> None:
        self._index = index
        self._generation = generation
        self._counting = threading.Lock()
        self.foreign_hits = 0

    def memories(
        self, transaction: Transaction, scope: Scope, question: str, limit: int
    ) -> list[tuple[StoredMemory, float]]:
        """The best of the scope's pool, best first."""
        pool = PoolStore(transaction, self._generation).rows(scope)
        if pool is None:
            return []
        rows = StoredMemories(transaction, pool.pool, self._generation)
        return self._best(self._index.memories_within(rows), rows.found, question, limit)

    def entities(self, transaction: Transaction, scope: Scope, question: str, limit: int) -> list[tuple[Entity, float]]:
        """Of the scope's project, and of its user's part of a private one (ISO-10); there are none outside a project (ISO-3)."""
        if scope.entities is None or not transaction.reach.covers(scope):
            return []
        rows = StoredEntities(transaction, scope.entities, scope.pool.user, self._generation)
        return self._best(self._index.entities_within(rows), rows.found, question, limit)

    def _best(
        self,
        place: PoolIndex,
        found: Callable[[Sequence[int]], Mapping[int, T]],
        question: str,
        limit: int,
    ) -> list[tuple[T, float]]:
        chosen = _chosen(place.evidence(question), limit) if limit else {}
        if not chosen:
            return []
        there = found(list(chosen))
        if len(there) < len(chosen):
            with self._counting:
                self.foreign_hits += len(chosen) - len(there)
        return [(there[identity], score) for identity, score in chosen.items() if identity in there]


def _chosen(evidence: Evidence, limit: int) -> dict[int, float]:
    scores = rank(evidence, _WEIGHTS)
    return {
        int(evidence.ids[position]): round(float(scores[position]), 6) for position in best(evidence, scores, limit)
    }
