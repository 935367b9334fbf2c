"""The interface of an index: evidence for a question within one pool, as ids and scores, never content.

An index may be late or wrong: the caller reads the rows back from storage under the same scope, and drops ids that are not there.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from cloister.domain.identifiers import PoolId, SessionId
from cloister.domain.recall.ranking import Evidence
from cloister.index.cache import PoolCache

Row = tuple[int | str | bytes | None, ...]
Ids = npt.NDArray[np.int64]
WINDOW_REACH = 3
"""How many messages before and after a message, in its session, contribute to its score."""


DEPTH = 100
"""How many candidates of each role are returned unless the caller says otherwise."""


class SnapshotTooOld(Exception):
    """The index has a later state of the pool than the reader's snapshot: retry with a new snapshot."""


class PoolReader(Protocol):
    """The index rows of one pool at one snapshot."""

    @property
    def tenant(self) -> int: ...

    @property
    def pool(self) -> PoolId: ...

    def state(self) -> tuple[int, int]: ...

    def size(self) -> int: ...

    def members(self) -> list[SessionId]: ...

    def changes(self, version: int) -> list[tuple[SessionId, int]]: ...

    def all_rows(self) -> Iterator[Row]: ...

    def session_rows(self, session: SessionId, after: int) -> list[Row]: ...

    def vectors(self, ids: Sequence[int]) -> dict[int, bytes]: ...


class DerivedReader(Protocol):
    """The memories of one pool, or the entities of one project, at one snapshot. `kind` and `partition` identify them in a
    tenant."""

    @property
    def kind(self) -> str: ...

    @property
    def tenant(self) -> int: ...

    @property
    def partition(self) -> Hashable: ...

    def version(self) -> int | None:
        """None if there is no such pool or project."""
        ...

    def all_rows(self) -> Iterator[Row]: ...


class EntityReader(DerivedReader, Protocol):
    """The entities of one project, or of one user's part of it."""

    @property
    def project(self) -> int: ...

    @property
    def user(self) -> str | None: ...

    def size(self) -> int: ...


class PoolIndex(Protocol):
    """An index bound to one pool, or to the entities of one project; it cannot answer from any other."""

    def evidence(
        self,
        question: str,
        asked_at: int,
        depth: int = DEPTH,
        session: SessionId | None = None,
        allowed: Ids | None = None,
    ) -> Evidence:
        """Evidence for a question that is asked at this time, in microseconds since the epoch: for at least the `depth` best rows
        of each role, and of a session if one is given, as far as there are so many. With `allowed`, which are sorted ids, so many
        of these rows. An index may return more rows, or all: the caller leaves out those that are not allowed. Statistics are
        always of all rows."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A message as it is put into an external index (ISO-8): ids, terms and a vector, but no words."""

    message: int
    tenant: int
    session: int
    role: str
    author: str | None
    created_at: int
    vector: bytes | None
    terms: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityPoint:
    """An entity as it is put into an external index (ISO-8): with its words, which the index never returns."""

    entity: int
    tenant: int
    project: int
    user: str | None
    name: str
    type: str
    notes: str
    created_at: int
    vector: bytes | None
    terms: bytes


class Index(Protocol):
    """An index that reads the rows of the database itself, so that it finds what was committed. `cache` is the memory that recall
    uses for pools, whatever it keeps of them."""

    @property
    def cache(self) -> PoolCache: ...

    def within(self, pool: PoolReader) -> PoolIndex: ...

    def memories_within(self, pool: DerivedReader) -> PoolIndex: ...

    def entities_within(self, entities: EntityReader) -> PoolIndex: ...

    def close(self) -> None: ...


@runtime_checkable
class ExternalIndex(Index, Protocol):
    """An index outside the database. Points are put into it and removed from it through the queue of unindexed rows."""

    def put(self, run: Sequence[Point], first: int, last: int) -> None:
        """Put the points of a run from the message id `first` to `last`. A run is a contiguous part of one session, in order; the
        points before and after these only contribute to their scores. Idempotent."""
        ...

    def forget_sessions(self, tenant: int, sessions: Sequence[int]) -> None:
        """Remove the points of a tenant's sessions. Another tenant may have a session with the same id."""
        ...

    def forget_messages(self, tenant: int, messages: Sequence[int]) -> None: ...

    def put_entities(self, entities: Sequence[EntityPoint]) -> None:
        """Put entities, or replace them where their project or user has changed. Idempotent."""
        ...

    def forget_entities(self, tenant: int, entities: Sequence[int]) -> None: ...

    def count(self, tenant: int, sessions: Sequence[int], messages: Sequence[int], entities: Sequence[int]) -> int:
        """How many points there are of these sessions, messages and entities, for checks of what was forgotten."""
        ...
