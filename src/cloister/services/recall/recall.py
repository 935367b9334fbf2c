"""Recall: ask the index of one pool, rank, and read back from storage under the same scope only what is really there."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.domain.context import Item
from cloister.domain.conversation import ROLES, Message, Role
from cloister.domain.identifiers import MessageId, SessionId
from cloister.domain.prompts.recalled_text import shown_outside_session
from cloister.domain.recall.ranking import Evidence, best, rank
from cloister.domain.scope import Scope
from cloister.index.interface import Index
from cloister.storage.interface import Transaction
from cloister.storage.stores.pools import PoolStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Pick:
    """How many of the best to take: of one role, of one session, or of all."""

    limit: int
    role: Role | None = None
    session: SessionId | None = None

    def takes(self, message: Message) -> bool:
        return self.role in (None, message.role) and self.session in (None, message.session)


class Recall:
    """`foreign_hits` counts what an index named that storage did not find in the pool: never shown, and zero when all is well."""

    def __init__(self, index: Index, generation: int) -> None:
        self._index = index
        self._generation = generation
        self._counting = threading.Lock()
        self.foreign_hits = 0

    def best(
        self,
        transaction: Transaction,
        scope: Scope,
        question: str,
        picks: Sequence[Pick],
        without: Collection[MessageId] = (),
    ) -> list[Item]:
        """The best messages of the scope's pool, best first."""
        rows = PoolStore(transaction, self._generation).rows(scope)
        if rows is None:
            return []
        evidence = self._index.within(rows).evidence(question)
        scores = rank(evidence)
        chosen: dict[MessageId, float] = {}
        for pick in picks:
            positions = best(evidence, scores, pick.limit, where=_wanted(evidence, pick, without))
            chosen.update(zip(evidence.ids[positions].tolist(), scores[positions].tolist(), strict=True))
        found = rows.messages(list(chosen))
        if len(found) < len(chosen):
            with self._counting:
                self.foreign_hits += len(chosen) - len(found)
        ordered = sorted(found, key=lambda message: (-chosen[message], message))
        return [
            Item(message, found[id].session, "semantic", round(chosen[id], 6), found[id].user)
            for id in ordered
            if (message := shown_outside_session(found[id].message)) is not None
        ]


def _wanted(evidence: Evidence, pick: Pick, without: Collection[MessageId]) -> npt.NDArray[np.bool_]:
    wanted = np.ones(len(evidence.ids), np.bool_) if pick.role is None else evidence.roles == ROLES.index(pick.role)
    if pick.session is not None:
        wanted &= evidence.session_ids == pick.session
    if without:
        wanted &= ~np.isin(evidence.ids, np.fromiter(without, np.int64, len(without)))
    return wanted
