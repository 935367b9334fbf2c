"""Recall messages, memories and entities: ask the index of one scope, rank, and read the best back from storage.

The index names ids, and storage decides: an id that is not found under the same scope is never shown.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cloister.domain.context import Item
from cloister.domain.conversation import ROLES, Message, Role
from cloister.domain.entity import Entity
from cloister.domain.identifiers import MessageId, SessionId
from cloister.domain.memory import StoredMemory
from cloister.domain.prompts.recalled_text import shown_outside_session
from cloister.domain.recall.ranking import Evidence, Weights, best, rank
from cloister.domain.scope import Reach, Scope
from cloister.index.interface import Index, PoolIndex
from cloister.services.recall.additional import AdditionalRecall, QueryVector
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.pools import PoolStore

T = TypeVar("T")
Id = TypeVar("Id", bound=int)
_DERIVED_WEIGHTS = Weights(author=0, date=0, session_prior=0, favour_author=False)
_DIGITS = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Pick:
    """How many of the best messages to take: of one role, of one session, or of all."""

    limit: int
    role: Role | None = None
    session: SessionId | None = None

    def takes(self, message: Message) -> bool:
        return self.role in (None, message.role) and self.session in (None, message.session)


class Recall:
    """`foreign_hits` counts the ids that an index returned and storage did not find in the scope. It is zero if all is well."""

    def __init__(self, index: Index, generation: int, additional: AdditionalRecall | None = None) -> None:
        self._index = index
        self._generation = generation
        self.additional = additional
        self._lock = threading.Lock()
        self.foreign_hits = 0

    def query_vector(self, reach: Reach, question: str) -> QueryVector | None:
        """The question's vector by the additional embedder, if there is one and it answers. Call it before the snapshot is taken:
        the embedder may take a second."""
        return None if self.additional is None else self.additional.query_vector(reach, question)

    def messages(
        self,
        transaction: Transaction,
        scope: Scope,
        question: str,
        picks: Sequence[Pick],
        without: Collection[MessageId] = (),
        vector: QueryVector | None = None,
    ) -> list[Item]:
        """The best messages of the scope's pool, best first. `vector` is the question's; see `query_vector`."""
        rows = PoolStore(transaction, self._generation).rows(scope)
        if rows is None:
            return []
        evidence = self._index.within(rows).evidence(question)
        if vector is not None and vector.question == question and self.additional is not None:
            second = self.additional.similarities(transaction, rows.pool, evidence.ids, vector)
            evidence = replace(evidence, second=second)
        scores = rank(evidence)
        chosen: dict[MessageId, float] = {}
        for pick in picks:
            positions = best(evidence, scores, pick.limit, where=_wanted(evidence, pick, without))
            chosen.update(zip(evidence.ids[positions].tolist(), scores[positions].tolist(), strict=True))
        found = self._read_back(rows.messages, list(chosen))
        ordered = sorted(found, key=lambda message: (-chosen[message], message))
        return [
            Item(message, found[id].session, "semantic", round(chosen[id], _DIGITS), found[id].user)
            for id in ordered
            if (message := shown_outside_session(found[id].message)) is not None
        ]

    def memories(
        self, transaction: Transaction, scope: Scope, question: str, limit: int
    ) -> list[tuple[StoredMemory, float]]:
        """The best memories of the scope's pool with their scores, best first."""
        pool = PoolStore(transaction, self._generation).rows(scope)
        if pool is None:
            return []
        rows = StoredMemories(transaction, pool.pool, self._generation)
        return self._best(self._index.memories_within(rows), rows.found, question, limit)

    def entities(self, transaction: Transaction, scope: Scope, question: str, limit: int) -> list[tuple[Entity, float]]:
        """The best entities of the scope's project with their scores, best first: of a private project, those of the scope's user
        (ISO-10); outside a project there are none (ISO-3)."""
        if scope.entities is None or not transaction.reach.covers(scope):
            return []
        rows = StoredEntities(transaction, scope.entities, scope.pool.user, self._generation)
        return self._best(self._index.entities_within(rows), rows.found, question, limit)

    def _best(
        self, index: PoolIndex, find: Callable[[Sequence[int]], Mapping[int, T]], question: str, limit: int
    ) -> list[tuple[T, float]]:
        if not limit:
            return []
        evidence = index.evidence(question)
        scores = rank(evidence, _DERIVED_WEIGHTS)
        positions = best(evidence, scores, limit)
        chosen: dict[int, float] = dict(zip(evidence.ids[positions].tolist(), scores[positions].tolist(), strict=True))
        found = self._read_back(find, list(chosen))
        return [(found[id], round(score, _DIGITS)) for id, score in chosen.items() if id in found]

    def _read_back(self, find: Callable[[Sequence[Id]], Mapping[Id, T]], ids: Sequence[Id]) -> Mapping[Id, T]:
        """The rows of these ids that storage finds in the scope."""
        found: Mapping[Id, T] = find(ids) if ids else {}
        if len(found) < len(ids):
            with self._lock:
                self.foreign_hits += len(ids) - len(found)
        return found


def _wanted(evidence: Evidence, pick: Pick, without: Collection[MessageId]) -> npt.NDArray[np.bool_]:
    wanted = np.ones(len(evidence.ids), np.bool_) if pick.role is None else evidence.roles == ROLES.index(pick.role)
    if pick.session is not None:
        wanted &= evidence.session_ids == pick.session
    if without:
        wanted &= ~np.isin(evidence.ids, np.fromiter(without, np.int64, len(without)))
    return wanted
