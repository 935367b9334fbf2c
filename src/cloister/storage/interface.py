"""The interface of storage: transactions, each bound to a reach, and maintenance across tenants.

A transaction adds the tenant, project and user of its reach to the parameters of every query; callers cannot pass others.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from cloister.domain.errors import StorageError
from cloister.domain.maintenance.backup import BackupReport, StepProgress
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.domain.scope import Reach
from cloister.storage.notifications import Notifier
from cloister.storage.write_status import WriteStatus

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
    """Runs named queries in one database transaction, bound to one reach."""

    @property
    def reach(self) -> Reach: ...

    def rows(self, query: str, **parameters: Value) -> list[Row]: ...

    def row(self, query: str, **parameters: Value) -> Row | None: ...

    def stream(self, query: str, **parameters: Value) -> Iterator[Row]:
        """The rows one by one, for results too large for memory; read them before the transaction ends."""
        ...

    def execute(self, query: str, **parameters: Value) -> int:
        """Run a statement, and return the number of rows it changed."""
        ...

    def execute_each(self, query: str, parameters: Sequence[dict[str, Value]]) -> None:
        """Run a statement once for each set of parameters."""
        ...


class Maintenance(Protocol):
    """Runs queries across tenants, for queues, reindexing and health. They return ids and counts, never message content."""

    def rows(self, query: str, **parameters: Value) -> list[Row]: ...

    def write(self, query: str, **parameters: Value) -> list[Row]:
        """Run a statement in its own transaction, and return its rows when it is durable."""
        ...

    def schema_version(self) -> int: ...

    def check_writes(self) -> None:
        """Write and commit something that changes nothing; raises the reason why writes fail."""
        ...

    def check(self) -> list[str]:
        """The problems of the database, one sentence each; empty if there are none."""
        ...

    def scrub(self) -> None:
        """Remove deleted content from the engine's own files, as far as this process can: of PostgreSQL's it has none, and
        `remains` says so. Called by everything that forgets, which does not know its engine."""
        ...

    def remains(self) -> str | None:
        """Where deleted content may remain in the engine's own files, and what to do about it; None if it does not."""
        ...

    def rows_in_file(self, sessions: Sequence[int], largest: int) -> int | str:
        """How many rows of messages of these sessions are still in the engine's own file, also in pages that are no longer used; or
        a sentence why that was not looked for, such as that the file has more bytes than `largest`."""
        ...

    def excess_rights(self) -> str | None:
        """The rights of the database login that it does not need, and how to revoke them; None if there are none."""
        ...

    def log_bytes(self) -> int | None:
        """The size of the write-ahead log, where it is a file of this database's own."""
        ...

    def vacuum(self, progress: StepProgress) -> VacuumReport:
        """Give the space of deleted rows back, while other connections read."""
        ...

    def backup(self, target: Path, progress: StepProgress) -> BackupReport:
        """Write a consistent copy to a new file, while other connections read and write, and check it. The file gets its name when
        it is whole."""
        ...


class ProcessLocks(Protocol):
    """Locks by which the processes of a database see which of them are running: each has one, which ends with it."""

    def take(self, number: int) -> None:
        """Take the lock of this process, whose random number nobody else has."""
        ...

    def has(self, number: int) -> bool:
        """Whether this process has the lock: it may not have got it, or may have lost it for a while."""
        ...

    def release(self, number: int) -> None: ...

    def is_taken(self, number: int) -> bool | None:
        """Whether some process has the lock; None if that cannot be known. A running process may have lost its lock for a while."""
        ...

    def free(self, numbers: Sequence[int]) -> set[int]:
        """Those of these locks that no process has, as far as that can be known now."""
        ...


class Database(Protocol):
    """The source of truth. All methods are thread-safe."""

    embedded: bool
    """Whether it runs in this process, so that a small read is faster than a switch to another thread."""

    def read(self, reach: Reach) -> AbstractContextManager[Transaction]:
        """A read transaction on one snapshot."""
        ...

    def write(self, reach: Reach, work: Callable[[Transaction], T]) -> T:
        """Run `work` in one transaction, which is durable when this returns. If `work` raises, it is rolled back. PostgreSQL may
        run `work` again after a deadlock or a `RowRemoved`, so `work` must have no effect outside its transaction."""
        ...

    def write_batch(
        self,
        items: Sequence[tuple[Reach, A]],
        prepare: Callable[[Sequence[A]], Sequence[B]],
        work: Callable[[Transaction, Sequence[B]], Sequence[T | Exception]],
    ) -> list[T | BaseException]:
        """Write many small items, each in its own reach: one result per item, or the exception why it was not written. `prepare`
        runs before the transaction, on items of any reach and of other callers; `work` gets the items of one reach. Both return one
        result per item. If `work` returns an exception for an item, it has written nothing of that item."""
        ...

    @property
    def maintenance(self) -> Maintenance: ...

    @property
    def notifier(self) -> Notifier: ...

    @property
    def process_locks(self) -> ProcessLocks: ...

    @property
    def write_status(self) -> WriteStatus: ...

    def write_problem(self) -> StorageError | None:
        """Why writes fail now: the error of the last write of this process, or that its file is gone; None if they do not."""
        ...

    def close(self) -> None: ...


def bound_parameters(reach: Reach) -> dict[str, Value]:
    """The parameters that a transaction adds to every query."""
    return {"tenant_id": reach.tenant, "confined_to": reach.confined_to, "bound_user": reach.user}


def integers(values: Sequence[int]) -> str:
    """A list of ids as JSON text, for `json_each`."""
    return f"[{','.join(map(str, values))}]"
