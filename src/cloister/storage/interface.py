"""What storage promises: transactions bound to a reach, and maintenance apart from them.

A transaction adds its tenant, and the project its caller is confined to, to every query it runs; no caller can pass another.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from cloister.domain.scope import Reach
from cloister.storage.notifications import Notifier

Value = int | str | bytes | None
Row = tuple[Value, ...]
CursorKey = tuple[int, int]
"""The (time, id) of the last row of a page; the next page begins after it."""
FIRST_PAGE: CursorKey = (-(1 << 63), 0)
A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


class RowRemoved(Exception):
    """A transaction found a row that another transaction removed before this one could change it. As the cause of a `StorageBusy`
    it makes the database run the transaction again."""

    def __init__(self) -> None:
        super().__init__("another transaction removed the row")


class Transaction(Protocol):
    """Queries by name, inside one transaction and one reach."""

    @property
    def reach(self) -> Reach: ...

    def rows(self, query: str, **parameters: Value) -> list[Row]: ...

    def row(self, query: str, **parameters: Value) -> Row | None: ...

    def stream(self, query: str, **parameters: Value) -> Iterator[Row]:
        """Rows one by one, for results too large to hold at once; exhaust it before the transaction ends."""
        ...

    def execute(self, query: str, **parameters: Value) -> int:
        """Run a statement and say how many rows it changed."""
        ...

    def execute_each(self, query: str, parameters: Sequence[dict[str, Value]]) -> None:
        """Run a statement once for each."""
        ...


class Maintenance(Protocol):
    """Cross-tenant work: queues, reindexing, health. It answers ids and counts, never what was said."""

    def rows(self, query: str, **parameters: Value) -> list[Row]: ...

    def write(self, query: str, **parameters: Value) -> list[Row]:
        """Run a statement, durably; gives what it returns."""
        ...

    def schema_version(self) -> int: ...

    def check(self) -> list[str]:
        """What is wrong with the database, one sentence each; empty when all is well."""
        ...

    def scrub(self) -> None:
        """After something was forgotten: leave as little of it as can be left in the engine's own files."""
        ...

    def remains(self) -> str | None:
        """What the engine's own files may still hold of what was forgotten, and what to do about it; none where nothing is left."""
        ...

    def excess_rights(self) -> str | None:
        """What the database's login may do that it need not, and how to take that away; none where all is well."""
        ...

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others read and write."""
        ...


class Database(Protocol):
    """The source of truth. Safe to use from any thread."""

    embedded: bool
    """Whether it runs in this process, so that a small read is sooner done than handed to another thread."""

    def read(self, reach: Reach) -> AbstractContextManager[Transaction]:
        """One snapshot: all that is read inside is of one moment."""
        ...

    def write(self, reach: Reach, work: Callable[[Transaction], T]) -> T:
        """Run `work` in one transaction; when this returns, what it wrote is durable. If it raises, nothing was written.
        PostgreSQL may run `work` again after a deadlock, or a `RowRemoved`, so it touches nothing but its transaction."""
        ...

    def write_batch(
        self,
        items: Sequence[tuple[Reach, A]],
        prepare: Callable[[Sequence[A]], Sequence[B]],
        work: Callable[[Transaction, Sequence[B]], Sequence[T | Exception]],
    ) -> list[T | BaseException]:
        """The same for many small writes at once, each in its own reach: one answer each, or why it was not written. `prepare` runs
        before the transaction, and may be given the items of all that wait to be written; `work` those of one reach. Each answers
        one for each, and depends on nothing else. Where `work` answers an exception, nothing of that item was written."""
        ...

    @property
    def maintenance(self) -> Maintenance: ...

    @property
    def notifier(self) -> Notifier: ...

    def close(self) -> None: ...


def integers(values: Sequence[int]) -> str:
    """A list of ids as the JSON text that `json_each` reads."""
    return f"[{','.join(map(str, values))}]"
