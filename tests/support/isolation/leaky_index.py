"""An index that lies: whatever place it is asked of, it names what it was told to above everything true."""

from dataclasses import dataclass, field

import numpy as np

from cloister.domain.identifiers import SessionId
from cloister.domain.recall.ranking import Evidence
from cloister.index.cache import PoolCache
from cloister.index.interface import DEPTH, DerivedReader, EntityReader, Ids, Index, PoolIndex, PoolReader
from support.databases.engines import exact_index


@dataclass(kw_only=True, slots=True)
class LeakyIndex:
    """An honest index with lies put above what it says."""

    honest: Index = field(default_factory=exact_index)
    lies: list[int] = field(default_factory=list[int])
    of_memories: list[int] = field(default_factory=list[int])
    of_entities: list[int] = field(default_factory=list[int])

    @property
    def cache(self) -> PoolCache:
        return self.honest.cache

    def within(self, pool: PoolReader) -> PoolIndex:
        return _LeakyPool(honest=self.honest.within(pool), lies=self.lies)

    def memories_within(self, pool: DerivedReader) -> PoolIndex:
        return _LeakyPool(honest=self.honest.memories_within(pool), lies=self.of_memories)

    def entities_within(self, entities: EntityReader) -> PoolIndex:
        return _LeakyPool(honest=self.honest.entities_within(entities), lies=self.of_entities)

    def close(self) -> None:
        self.honest.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class _LeakyPool:
    honest: PoolIndex
    lies: list[int]

    def evidence(
        self,
        question: str,
        asked_at: int,
        depth: int = DEPTH,
        session: SessionId | None = None,
        allowed: Ids | None = None,
    ) -> Evidence:
        """Each lie as a user's and as an assistant's message, so that it is picked whatever is asked for."""
        true = self.honest.evidence(question, asked_at, depth, session, allowed)
        ids = np.array([*self.lies, *self.lies], np.int64)
        top = np.full(len(ids), 1_000, np.float32)
        roles = np.repeat(np.array([0, 1], np.int8), len(self.lies))

        def above(column: np.ndarray[tuple[int], np.dtype[np.float32]]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
            return np.concatenate((top, column))

        return Evidence(
            size=true.size,
            ids=np.concatenate((ids, true.ids)),
            session_ids=np.concatenate((ids >> 21, true.session_ids)),
            roles=np.concatenate((roles, true.roles)),
            lexical=above(true.lexical),
            semantic=above(true.semantic),
            author=above(true.author),
            date=above(true.date),
            session_prior=above(true.session_prior),
            coverage=above(true.coverage),
        )
