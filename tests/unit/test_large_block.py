"""The block of a large pool: the same evidence and the same best messages as a full scan, however its rows came and went."""

import random
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from cloister.domain.recall.ranking import Evidence, best, rank
from cloister.index.exact.block import PoolBlock
from cloister.index.exact.large import block as large_block
from cloister.index.exact.large import candidates, lexicon
from cloister.index.exact.large.block import LargeBlock
from support.samples.index_rows import (
    DAY,
    DIMENSION,
    MAY_8_2023,
    StoredRow,
    conversation,
    embed_query,
    message,
    rows_of,
    vectors_of,
)

QUERY = "Did Ana play the violin on the mountain in May?"
QUERIES = [QUERY, "violin", "what did you recommend?", "puppy on 8 May 2023", "zzzz", "voilin lantern", "Bo"]
ALL = 10_000


def scanned(stored: Sequence[StoredRow], query: str) -> Evidence:
    block = PoolBlock(DIMENSION)
    block.append([rows_of(sorted(stored))])
    return block.evidence(query, embed_query)


def large_of(*batches: Sequence[StoredRow]) -> LargeBlock:
    block = LargeBlock(DIMENSION)
    stored = [row for batch in batches for row in batch]
    for batch in batches:
        block.append([rows_of(batch)], partial(vectors_of, stored))
    return block


def asked(block: LargeBlock, stored: Sequence[StoredRow], query: str, depth: int = ALL) -> Evidence:
    return block.evidence(query, embed_query, partial(vectors_of, stored), depth)


def assert_as_scanned(block: LargeBlock, stored: Sequence[StoredRow], query: str) -> None:
    """With candidates for all rows, every column is that of the full scan."""
    expected, found = scanned(stored, query), asked(block, stored, query)
    order, expected_order = np.argsort(found.ids), np.argsort(expected.ids)
    assert found.ids[order].tolist() == expected.ids[expected_order].tolist()
    ours = ("own_coverage", "own_semantic")
    for column in ("session_ids", "roles", "lexical", "semantic", "author", "date", "session_prior", "coverage", *ours):
        assert getattr(found, column)[order].tolist() == pytest.approx(
            getattr(expected, column)[expected_order].tolist(), rel=1e-4, abs=1e-5
        ), column
    assert rank(found)[order].tolist() == pytest.approx(rank(expected)[expected_order].tolist(), abs=1e-4)
    assert found.size == expected.size
    assert same_words(found) == same_words(expected)


def same_words(evidence: Evidence) -> set[frozenset[int]]:
    """The ids of messages that have the same words, without the numbers of their groups."""
    if evidence.copies is None:
        return set()
    groups = {number: evidence.ids[evidence.copies == number] for number in set(evidence.copies.tolist()) - {-1}}
    return {frozenset(ids.tolist()) for ids in groups.values() if len(ids) > 1}


@pytest.mark.parametrize("query", QUERIES)
def test_with_all_rows_as_candidates_evidence_is_that_of_a_full_scan(query: str) -> None:
    stored = conversation(1, 40, 1) + conversation(2, 7, 2) + conversation(3, 1, 3)
    stored += [message(4, at, "tea lantern", role="assistant") for at in range(9)]
    assert_as_scanned(large_of(stored), stored, query)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("compacted_at", [0, 4, 1_000])
def test_a_block_grown_and_shrunk_step_by_step_equals_one_built_at_once(
    seed: int, compacted_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compacted never, sometimes, or after every change; scanned in chunks of a few rows."""
    monkeypatch.setattr(large_block, "_COMPACTED_AT", compacted_at)
    monkeypatch.setattr(large_block, "KEPT_VECTORS", seed % 2 * 40)
    monkeypatch.setattr(large_block, "_THREADED", seed % 4 * 20)
    monkeypatch.setattr(candidates, "_FIRST_CHUNK", 2)
    monkeypatch.setattr(candidates, "_CHUNK", 7)
    monkeypatch.setattr(lexicon, "_CHUNK", 4)
    monkeypatch.setattr(lexicon, "_DENSE_SHARE", seed % 3)
    rng = random.Random(seed)
    waiting = {session: conversation(session, rng.randint(1, 14), seed * 10 + session) for session in range(1, 9)}
    every = [row for rows in waiting.values() for row in rows]
    block, stored = LargeBlock(DIMENSION), list[StoredRow]()
    while any(waiting.values()):
        batches: list[list[StoredRow]] = []
        for _ in range(rng.randint(1, 3)):
            batches.append([])
            for session in rng.sample(sorted(waiting), 3):
                taken = rng.randint(0, 4)
                batches[-1] += waiting[session][:taken]
                del waiting[session][:taken]
        block.append([rows_of(batch) for batch in batches], partial(vectors_of, every))
        stored += [row for batch in batches for row in batch]
        if rng.random() < 0.3 and stored:
            gone = {rng.choice(stored)[1] for _ in range(2)}
            block.drop(gone)
            stored = [row for row in stored if row[1] not in gone]
            for session in gone:
                back = rng.random() < 0.5
                waiting[session] = [row for row in every if row[1] == session] if back else []
        if stored and rng.random() < 0.3:
            assert_as_scanned(block, stored, QUERY)
    assert len(block) == len(stored)
    assert block.sessions == {row[1] for row in stored}
    assert all(block.last_message(row[1]) >= row[0] for row in stored)
    for query in QUERIES if stored else []:
        assert_as_scanned(block, stored, query)


@pytest.mark.parametrize("kept_vectors", [0, 10_000])
def test_the_best_of_each_role_are_those_of_a_full_scan(kept_vectors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_block, "KEPT_VECTORS", kept_vectors)
    stored = [row for session in range(1, 40) for row in conversation(session, 50, session)]
    stored += [message(session, 60, "violin lesson", role="assistant") for session in range(1, 40)]
    stored.sort()
    block = large_of(stored)
    shared = total = 0
    for query in (QUERY, "recipe of the doctor", "sunrise painting train"):
        expected, found = scanned(stored, query), asked(block, stored, query, depth=20)
        assert len(found) < len(expected)
        for role in (0, 1):
            tops = [
                set(one.ids[best(one, rank(one), 20, where=one.roles == role)].tolist()) for one in (expected, found)
            ]
            shared += len(tops[0] & tops[1])
            total += len(tops[0])
    # With sixteen dimensions the estimates are rough; `benchmarks/stages.py` measures real vectors.
    assert shared / total >= 0.95


def test_candidates_of_a_session_are_found_though_others_are_better() -> None:
    stored = [row for session in range(1, 30) for row in conversation(session, 40, session)]
    poor = [message(99, at, "tea", created_at=MAY_8_2023 - 900 * DAY) for at in range(30)]
    block = large_of(stored, poor)
    fetch = partial(vectors_of, stored + poor)
    found = block.evidence("violin mountain", embed_query, fetch, 5, session=99)
    assert np.count_nonzero(found.session_ids == 99) >= 5
    assert np.count_nonzero(block.evidence("violin", embed_query, fetch, 5, session=98).session_ids == 98) == 0


@pytest.mark.parametrize("kept_vectors", [0, 10_000])
def test_messages_without_a_vector_and_equal_messages_are_answered(
    kept_vectors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_block, "KEPT_VECTORS", kept_vectors)
    stored = [message(session, at, "same words", embedded=False) for session in range(1, 6) for at in range(400)]
    found = asked(large_of(stored), stored, "same words", depth=3)
    assert not found.semantic.any()
    assert 3 <= len(found) < len(stored)


def test_an_empty_block_answers_nothing() -> None:
    assert len(asked(LargeBlock(DIMENSION), [], "violin")) == 0
    stored = conversation(1, 9, 1)
    block = large_of(stored)
    block.drop([1])
    assert len(asked(block, [], "violin")) == 0
    block.append([rows_of(stored)], partial(vectors_of, stored))
    assert_as_scanned(block, stored, QUERY)


def test_a_vector_that_storage_no_longer_has_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_block, "KEPT_VECTORS", 0)
    stored = conversation(1, 30, 1)
    found = large_of(stored).evidence("violin", embed_query, lambda ids: {}, 5)
    assert not found.semantic.any()


def test_above_a_size_memory_does_not_include_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = conversation(1, 100, 1)
    kept = large_of(stored).nbytes
    monkeypatch.setattr(large_block, "KEPT_VECTORS", 50)
    vectors = (len(stored) + 1) * DIMENSION * 2
    assert vectors <= kept - large_of(stored).nbytes <= 2 * vectors
