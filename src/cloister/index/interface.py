"""What an index promises: evidence for a question within one pool, as ids and scores. It never answers content.

An index may be late or wrong: whoever asks reads the rows back from storage under the same scope, and what is not there vanishes.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from cloister.domain.identifiers import PoolId, SessionId
from cloister.domain.recall.ranking import Evidence

Row = tuple[int | str | bytes | None, ...]
# How far a message borrows evidence from its neighbours in the session.
NEIGHBOURS = 3


class SnapshotTooOld(Exception):
    """The index already knows a later state of the pool than the reader's snapshot; read again from a new one."""


class PoolReader(Protocol):
    """One pool's rows at one moment, as storage gives them."""

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


class DerivedReader(Protocol):
    """The memories of one pool or the entities of one project at one moment. `kind` and `partition` name it inside its tenant."""

    @property
    def kind(self) -> str: ...

    @property
    def tenant(self) -> int: ...

    @property
    def partition(self) -> Hashable: ...

    def version(self) -> int | None:
        """None where there is no such place."""
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
    """An index bound to one pool, or to one place of what derives: there is no other that its answers could come from."""

    def evidence(self, question: str) -> Evidence: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A message as an index that lives outside the database holds it (ISO-8): integers and numbers, no words."""

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
    """An entity as an index that lives outside the database holds it (ISO-8): with its words, which it never answers."""

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
    """`immediate` says that what storage committed is already found; the others are fed through the queue of unindexed rows."""

    immediate: bool

    def within(self, pool: PoolReader) -> PoolIndex: ...

    def memories_within(self, pool: DerivedReader) -> PoolIndex: ...

    def entities_within(self, place: EntityReader) -> PoolIndex: ...

    def put(self, run: Sequence[Point], first: int, last: int) -> None:
        """Make the points of a run from the message id `first` to `last` findable. A run is an unbroken part of one session, in
        order; what lies before and behind is there only because the others borrow from it. Repeating it changes nothing."""
        ...

    def forget_sessions(self, sessions: Sequence[int]) -> None: ...

    def forget_messages(self, messages: Sequence[int]) -> None: ...

    def put_entities(self, entities: Sequence[EntityPoint]) -> None:
        """Make them findable where they are now, and no longer where they were. Repeating it changes nothing."""
        ...

    def forget_entities(self, entities: Sequence[int]) -> None: ...

    def close(self) -> None: ...
