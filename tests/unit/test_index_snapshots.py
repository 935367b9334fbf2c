"""Blocks that are cached follow the reader's snapshot: never one that is older, and never from a block that was changed by half."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from cloister.domain.conversation import ROLES
from cloister.domain.identifiers import SEQUENCE_BITS, PoolId, SessionId
from cloister.domain.recall.ranking import rank
from cloister.domain.scope import Reach
from cloister.index.cache import PoolCache
from cloister.index.exact import columns, second_vectors
from cloister.index.exact import index as exact_index
from cloister.index.exact.derived import DerivedBlocks
from cloister.index.exact.index import ExactIndex
from cloister.index.exact.second_vectors import SecondVectors, Similarities
from cloister.index.interface import SnapshotTooOld
from cloister.services.recall.snapshot import read_snapshot
from support.samples.index_rows import DIMENSION, conversation, embed_query, ids_by

QUERY = "Did Ana play the violin on the mountain in May?"
WIDTH = 4


class Broken(Exception):
    """The connection was lost while rows were read."""


@dataclass
class Pool:
    """One pool at one snapshot, of messages, of memories or of vectors; `breaks_after` so many rows the connection is lost."""

    rows: dict[int, list[Any]]
    at: int
    changed: list[int] = field(default_factory=list[int])
    breaks_after: int | None = None
    tenant = 1
    pool = PoolId(1)
    kind = "memory"
    partition = 1

    def version(self) -> int:
        return self.at

    def size(self) -> int:
        return sum(map(len, self.rows.values()))

    def members(self) -> list[SessionId]:
        return [SessionId(session) for session in self.rows]

    def changes(self, version: int) -> list[tuple[SessionId, int]]:
        return [(SessionId(session), 0) for session in self.changed]

    def all_rows(self) -> Iterator[Any]:
        for number, row in enumerate(row for session in sorted(self.rows) for row in self.rows[session]):
            if number == self.breaks_after:
                raise Broken
            yield row

    def session_rows(self, session: SessionId, after: int) -> Iterator[Any]:
        for number, row in enumerate(row for row in self.rows[session] if row[0] > after):
            if number == self.breaks_after:
                raise Broken
            yield row

    def vectors(self, ids: object) -> dict[int, bytes]:
        return {}


class Messages(Pool):
    def state(self) -> tuple[int, int]:
        return self.at, 0


class Vectors(Pool):
    def state(self) -> tuple[int, int, int]:
        return self.at, 0, self.at

    def rebuilt(self, version: int) -> list[SessionId]:
        return []

    def extended(self, vectors_version: int) -> list[SessionId]:
        return [SessionId(session) for session in self.changed]


SAID = {
    session: [(row[0], ROLES[row[2]], *row[3:]) for row in conversation(session, 8, session)] for session in (1, 2, 3)
}
EARLIER = {1: SAID[1], 2: SAID[2][:3]}


def new_index() -> ExactIndex:
    return ExactIndex(embed_query, DIMENSION, 1_000_000)


def found(index: ExactIndex, pool: Pool) -> dict[int, float]:
    evidence = index.within(pool).evidence(QUERY, 0)  # pyright: ignore[reportArgumentType]
    return ids_by(evidence, rank(evidence))


def vector_rows(session: int, count: int) -> list[tuple[int, bytes, int]]:
    draw = np.random.default_rng(session)
    return [
        ((session << SEQUENCE_BITS) + number, draw.normal(size=WIDTH).astype("<f2").tobytes(), 40)
        for number in range(1, count + 1)
    ]


def similar(matrices: SecondVectors, pool: Pool) -> Similarities:
    ids = np.array([row[0] for session in sorted(pool.rows) for row in pool.rows[session]])
    made = matrices.similarities(pool, ids, np.ones(WIDTH, np.float32))  # pyright: ignore[reportArgumentType]
    assert made is not None
    return made


@pytest.mark.parametrize("breaks_after", range(6))
@pytest.mark.parametrize("is_first", [False, True])
def test_a_block_that_was_filled_by_half_is_not_used(
    monkeypatch: pytest.MonkeyPatch, is_first: bool, breaks_after: int
) -> None:
    """The next question is answered as by an index that never failed."""
    monkeypatch.setattr(exact_index, "_CHUNK", 1)
    monkeypatch.setattr(columns, "_FEW", 1)
    index = new_index()
    if not is_first:
        found(index, Messages(EARLIER, 1))
    with pytest.raises(Broken):
        found(index, Messages(SAID, 2, [2, 3], breaks_after))
    now = Messages(SAID, 2, [2, 3])
    assert found(index, now) == pytest.approx(found(new_index(), now))


@pytest.mark.parametrize("breaks_after", range(4))
@pytest.mark.parametrize("is_first", [False, True])
def test_a_matrix_that_was_filled_by_half_is_not_used(
    monkeypatch: pytest.MonkeyPatch, is_first: bool, breaks_after: int
) -> None:
    monkeypatch.setattr(second_vectors, "_CHUNK", 1)
    rows = {session: vector_rows(session, 6) for session in (1, 2)}
    matrices = SecondVectors(PoolCache(1_000_000))
    if not is_first:
        similar(matrices, Vectors({1: rows[1], 2: rows[2][:2]}, 1))
    with pytest.raises(Broken):
        similar(matrices, Vectors(rows, 2, [2], breaks_after))
    now = Vectors(rows, 2, [2])
    again, fresh = similar(matrices, now), similar(SecondVectors(PoolCache(1_000_000)), now)
    assert again.windowed == pytest.approx(fresh.windowed) and again.own == pytest.approx(fresh.own)
    assert again.usual == pytest.approx(fresh.usual)


def test_an_older_snapshot_is_never_answered_from_a_newer_block() -> None:
    """It would miss what was deleted since, and find what was not there."""
    index, newer, older = new_index(), Messages(SAID, 2), Messages(EARLIER, 1)
    found(index, newer)
    with pytest.raises(SnapshotTooOld):
        found(index, older)
    assert found(index, newer) == found(new_index(), newer)

    derived = DerivedBlocks(embed_query, DIMENSION, PoolCache(1_000_000))
    derived.within(newer).evidence(QUERY, 0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SnapshotTooOld):
        derived.within(older).evidence(QUERY, 0)  # pyright: ignore[reportArgumentType]

    rows = {1: vector_rows(1, 6)}
    matrices = SecondVectors(PoolCache(1_000_000))
    similar(matrices, Vectors(rows, 2))
    with pytest.raises(SnapshotTooOld):
        similar(matrices, Vectors(rows, 1))


@dataclass
class Snapshots:
    """A database that notes how often it was read."""

    taken: int = 0

    def read(self, reach: Reach) -> "Snapshots":
        self.taken += 1
        return self

    def __enter__(self) -> int:
        return self.taken

    def __exit__(self, *_: object) -> None: ...


def test_a_snapshot_that_is_too_old_is_taken_again() -> None:
    def work(number: Any) -> int:
        if number < 3:
            raise SnapshotTooOld
        return number

    database: Any = Snapshots()
    assert read_snapshot(database, Reach(tenant=1), work) == 3  # pyright: ignore[reportArgumentType]
