"""Index rows of the current generation for what another generation has indexed, made while they are read (OPS-7).

After an upgrade the stored terms and vectors are of another tokeniser or embedder, and must not be ranked with those of this one.
Until a worker has rebuilt them, the rows of a pool are made from the stored text, in memory, so that recall is not empty meanwhile;
so is what a newer process beside an older one has rebuilt already. Nothing is stored here.
"""

from collections.abc import Hashable, Iterator, Sequence, Set
from functools import cached_property
from itertools import chain, islice
from typing import cast

from cloister.domain.identifiers import PoolId, SessionId
from cloister.index.interface import DerivedReader, EntityReader, PoolReader, Row
from cloister.services.indexing.entities import entity_text
from cloister.services.indexing.indexer import Indexer
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.pools import StoredPool

MOST_ROWS = 1_000
"""So many rows of a kind are made for one reader, of messages the last. What is beyond is not recalled until it is rebuilt."""
_CHUNK = 100


class CurrentRows:
    """Readers for an index that see every row as of the indexer's generation."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer

    def messages(self, pool: StoredPool) -> PoolReader:
        return _CurrentPool(pool, self._indexer) if pool.is_stale and pool.stale() else pool

    def memories(self, rows: StoredMemories) -> DerivedReader:
        return _CurrentMemories(rows, self._indexer)

    def entities(self, rows: StoredEntities) -> EntityReader:
        return _CurrentEntities(rows, self._indexer)


class _CurrentPool:
    """A pool with stale messages."""

    def __init__(self, pool: StoredPool, indexer: Indexer) -> None:
        self._pool = pool
        self._indexer = indexer
        self.tenant = int(pool.tenant)
        self.pool: PoolId = pool.pool

    def state(self) -> tuple[int, int]:
        return self._pool.state()

    def size(self) -> int:
        return self._pool.size()

    def members(self) -> list[SessionId]:
        return self._pool.members()

    def changes(self, version: int) -> list[tuple[SessionId, int]]:
        return self._pool.changes(version)

    def all_rows(self) -> Iterator[Row]:
        return self._current(self._pool.all_rows_with_words())

    def session_rows(self, session: SessionId, after: int) -> list[Row]:
        return list(self._current(iter(self._pool.session_rows_with_words(session, after))))

    def vectors(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The vectors of the messages with these ids, made where they are of another generation."""
        stored = self._pool.vectors(ids)
        wanted = set(ids).difference(stored)
        if self._made is not None:
            wanted &= self._made
        if not wanted:
            return stored
        made = {row[0]: cast(bytes, row[4]) for row in self.all_rows() if row[0] in wanted}
        return stored | made

    @cached_property
    def _made(self) -> Set[int] | None:
        """The stale messages of which rows are made; None for all."""
        return None if self._pool.stale() <= MOST_ROWS else self._pool.newest_stale(MOST_ROWS)

    def _is_read(self, row: Row) -> bool:
        return row[-1] is None or self._made is None or row[0] in self._made

    def _current(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows in their order, without the text; a message without words of its own is left out."""
        rows = filter(self._is_read, rows)
        while chunk := list(islice(rows, _CHUNK)):
            stale = [row for row in chunk if row[-1] is not None]
            said = [(cast(str, row[-1]), cast(str | None, row[2]), cast(int, row[3])) for row in stale]
            made = iter(self._indexer.embed_messages(said, 0) if said else ())
            for row in chunk:
                if row[-1] is None:
                    yield row[:-1]
                elif (indexed := next(made)).vector != b"":
                    yield (*row[:4], indexed.vector, indexed.terms)


class _CurrentMemories:
    kind = StoredMemories.kind

    def __init__(self, rows: StoredMemories, indexer: Indexer) -> None:
        self._rows = rows
        self._indexer = indexer
        self.tenant = rows.tenant
        self.partition: Hashable = rows.partition

    def version(self) -> int | None:
        return self._rows.version()

    def all_rows(self) -> Iterator[Row]:
        stale = self._rows.stale_words(MOST_ROWS)
        made = self._indexer.embed([(text, None, at) for _, at, text in stale], 0, is_a_point=False) if stale else []
        return chain(
            self._rows.all_rows(),
            ((id, "user", None, at, new.vector, new.terms) for (id, at, _), new in zip(stale, made, strict=True)),
        )


class _CurrentEntities:
    kind = StoredEntities.kind

    def __init__(self, rows: StoredEntities, indexer: Indexer) -> None:
        self._rows = rows
        self._indexer = indexer
        self.tenant = rows.tenant
        self.partition: Hashable = rows.partition
        self.project = int(rows.project)
        self.user = rows.user

    def version(self) -> int | None:
        return self._rows.version()

    def size(self) -> int:
        return self._rows.size()

    def all_rows(self) -> Iterator[Row]:
        stale = self._rows.stale_entities(MOST_ROWS)
        made = self._indexer.embed([entity_text(each) for each in stale], 0) if stale else []
        return chain(
            self._rows.all_rows(),
            (
                (each.id, "user", None, each.created_at, new.vector, new.terms)
                for each, new in zip(stale, made, strict=True)
            ),
        )
