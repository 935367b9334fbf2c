"""A database of either engine as tests see it from outside: open it as often as wanted, and look at its rows past every wall."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Barrier, Lock
from typing import Any, TypeVar

import apsw
import psycopg
import pytest

from cloister.bootstrap import Services, wire
from cloister.domain.errors import CloisterError
from cloister.domain.timestamps import Clock, now
from cloister.domain.usage import Limits
from cloister.index.exact.index import LARGE, ExactIndex
from cloister.index.interface import Index
from cloister.models.interface import AdditionalEmbedder, ChatModel, Extractor
from cloister.models.static.embedder import StaticEmbedder
from cloister.storage.interface import Database
from cloister.storage.postgres.database import open_postgres
from cloister.storage.sqlite.database import DATABASE_FILE, open_sqlite
from support.databases.folders import quick_folder
from support.databases.pgbouncer import as_asked, through_pooler
from support.databases.postgres_server import PostgresServer
from support.servers.http_server import postgres_address

T = TypeVar("T")
Rows = list[tuple[object, ...]]
TABLES = (
    "tenant",
    "project",
    "pool",
    "session",
    "message",
    "message_vector",
    "idempotency",
    "index_removal",
    "api_key",
    "tenant_usage",
    "memory",
    "memory_source",
    "memory_replacement",
    "memory_revision",
    "entity",
    "mention",
    "entity_relation",
    "entity_change",
    "observation",
    "session_past",
    "session_item",
    "session_response",
    "prompt_template",
    "receipt",
    "exclusion",
    "memory_file",
    "entry",
    "sign_in",
)
# Loaded once for all tests of a process; it is pure.
EMBEDDER = StaticEmbedder()


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """`open` gives a new connection to the same data, as another process would have; `each` runs SQL as the owner of all rows."""

    name: str
    address: str
    """As `--data` takes it."""
    open: Callable[[], Database]
    each: Callable[[Sequence[str]], list[Rows]]
    closing: ExitStack = field(default_factory=ExitStack)

    def database(self) -> Database:
        database = self.open()
        self.closing.callback(database.close)
        return database

    def services(
        self,
        *,
        index: Index | None = None,
        clock: Clock = now,
        limits: Limits | None = None,
        extractor: Extractor | None = None,
        chat_model: ChatModel | None = None,
        additional_embedder: AdditionalEmbedder | None = None,
        allows_caller_keys: bool = False,
    ) -> Services:
        """A whole Cloister of its own over the same data."""
        services = wire(
            self.database(),
            index=index or exact_index(),
            embedder=EMBEDDER,
            clock=clock,
            limits=limits,
            extractor=extractor,
            chat_model=chat_model,
            additional_embedder=additional_embedder,
            allows_caller_keys=allows_caller_keys,
        )
        self.closing.callback(services.index.close)
        self.closing.callback(services.extractor.close)
        return services

    def rows(self, statement: str) -> Rows:
        (found,) = self.each([statement])
        return found

    def unchanged_by(
        self,
        kind: type[CloisterError] | tuple[type[CloisterError], ...],
        call: Callable[[], object],
        tenant: int | None = None,
    ) -> Any:
        """The error with which this is refused, and not one row changes, of all or of one tenant's."""
        before = self.dump(tenant)
        with pytest.raises(kind) as caught:
            call()
        assert self.dump(tenant) == before
        return caught.value

    def dump(self, tenant: int | None = None) -> dict[str, Rows]:
        """Every row, or every row of one tenant, whatever a transaction would show."""
        bound = "" if tenant is None else f" WHERE tenant_id = {tenant:d}"
        found = self.each([f"SELECT * FROM {table}{bound}" for table in TABLES])
        return {table: sorted(rows, key=repr) for table, rows in zip(TABLES, found, strict=True)}


def at_once(work: Callable[[int], T], threads: int = 8) -> list[T]:
    """What `work` answers on so many threads, each given its number and all let go at one moment."""
    together = Barrier(threads)

    def run(number: int) -> T:
        together.wait(30)
        return work(number)

    with ThreadPoolExecutor(threads) as running:
        return [each.result() for each in [running.submit(run, number) for number in range(threads)]]


def exact_index(megabytes: int = 64, large: int = LARGE) -> ExactIndex:
    """`large` is the number of messages from which a pool is answered in two stages."""
    return ExactIndex(EMBEDDER.embed_query, EMBEDDER.dimension, megabytes * 1_000_000, large)


@contextmanager
def opened_engine(kind: str, directory: Path, servers: Callable[[], PostgresServer]) -> Generator[Engine]:
    """New, of this kind, and closed with the block; a server is asked for only where one is needed. The kind `pgbouncer` is a
    PostgreSQL through a pooler."""
    if kind == "sqlite":
        made = sqlite_engine(directory)
        with made.closing:
            yield made
        return
    with servers().migrated_database() as url:
        made = postgres_engine(url, pooled=kind == "pgbouncer")
        with made.closing:
            yield made


def sqlite_engine(directory: Path) -> Engine:
    def each(statements: Sequence[str]) -> list[Rows]:
        connection: Any = apsw.Connection(str(directory / DATABASE_FILE))
        try:
            return [connection.execute(statement).fetchall() for statement in statements]
        finally:
            connection.close()

    def opened() -> Database:
        if not directory.exists():
            directory.mkdir(mode=0o700, parents=True)
            (directory / DATABASE_FILE).write_bytes(_migrated_file())
            (directory / DATABASE_FILE).chmod(0o600)
        return open_sqlite(directory)

    return Engine(name="sqlite", address=str(directory), open=opened, each=each)


@cache
def _migrated_file() -> bytes:
    """A new database after all migrations, which take longer than most tests."""
    with quick_folder() as folder:
        open_sqlite(folder).close()
        return (folder / DATABASE_FILE).read_bytes()


def postgres_engine(url: str, *, pooled: bool = False) -> Engine:
    looking = _Looking(url)
    used = through_pooler(url) if pooled else as_asked(url)
    made = Engine(name="postgres", address=postgres_address(used), open=lambda: open_postgres(used), each=looking.each)
    made.closing.callback(looking.close)
    return made


class _Looking:
    """One connection for all that a test looks at: opening one takes longer than most statements. After its end, one each."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection[Any] | None = None
        self._lock = Lock()
        self._ended = False

    def each(self, statements: Sequence[str]) -> list[Rows]:
        if self._ended:
            with psycopg.connect(self._url, autocommit=True) as once:
                return _run(once, statements)
        with self._lock:
            if self._connection is None or self._connection.closed:
                self._connection = psycopg.connect(self._url, autocommit=True)
            try:
                return _run(self._connection, statements)
            except psycopg.OperationalError:
                # Somebody ended it, as some tests do to all of them.
                self._connection = psycopg.connect(self._url, autocommit=True)
                return _run(self._connection, statements)

    def close(self) -> None:
        self._ended = True
        if self._connection is not None:
            self._connection.close()


def _run(connection: psycopg.Connection[Any], statements: Sequence[str]) -> list[Rows]:
    """Several are sent before the first is answered."""
    with connection.pipeline() if len(statements) > 1 else nullcontext():
        cursors = [connection.execute(statement.encode()) for statement in statements]
    return [cursor.fetchall() if cursor.description else [] for cursor in cursors]
