"""The matrix of an additional embedder's vectors gives what a scan of all vectors with their windows gives, after any changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from cloister.domain.identifiers import SEQUENCE_BITS
from cloister.domain.recall.ranking import Evidence, blended_semantic, rank
from cloister.index import terms
from cloister.index.exact.second_vectors import VectorMatrix

WIDTH = 6
Stored = tuple[int, bytes, int]


def row(session: int, sequence: int) -> Stored:
    draw = np.random.default_rng((session, sequence))
    vector = draw.normal(size=WIDTH)
    vector /= np.linalg.norm(vector)
    return (
        (session << SEQUENCE_BITS) + sequence,
        vector.astype("<f2").tobytes(),
        int(draw.integers(1, 40)) * terms.BYTES,
    )


def expected(rows: list[Stored], query: np.ndarray) -> dict[int, float]:
    """By the definition: each vector plus the weighted ones of the two messages before and after, at unit length."""
    found: dict[int, float] = {}
    for session in {identity >> SEQUENCE_BITS for identity, _, _ in rows}:
        own = sorted(one for one in rows if one[0] >> SEQUENCE_BITS == session)
        vectors = [np.frombuffer(vector, "<f2").astype(np.float64) for _, vector, _ in own]
        lent = [min(1, 12 / (length / terms.BYTES)) for _, _, length in own]
        for at, (identity, _, _) in enumerate(own):
            window = vectors[at].copy()
            for distance in (-2, -1, 1, 2):
                if 0 <= at + distance < len(own):
                    window += 0.5 ** abs(distance) * lent[at + distance] * vectors[at + distance]
            found[identity] = float(window @ query / np.linalg.norm(window))
    return found


@settings(max_examples=60, deadline=None)
@given(
    steps=some.lists(
        some.tuples(some.integers(1, 4), some.one_of(some.just(0), some.integers(1, 5))), min_size=1, max_size=12
    )
)
def test_the_matrix_agrees_with_a_scan(steps: list[tuple[int, int]]) -> None:
    """Each step appends messages to a session, or with 0 drops it."""
    matrix, stored, numbers = VectorMatrix(), list[Stored](), dict[int, int]()
    query = np.array([0.5, 0.5, 0.5, 0.5, 0, 0], np.float32)
    for session, count in steps:
        if not count:
            matrix.drop([session])
            stored = [one for one in stored if one[0] >> SEQUENCE_BITS != session]
            continue
        begin = numbers.get(session, 0) + 1
        numbers[session] = begin + count - 1
        added = [row(session, number) for number in range(begin, begin + count)]
        stored += added
        matrix.append(added)
        unknown = (9 << SEQUENCE_BITS) + 1
        ids = np.array([*sorted(one[0] for one in stored), unknown], np.int64)[::-1]
        for _ in range(2):
            similar = matrix.similarities(ids, query)
            assert similar is not None
            found = similar.windowed
            by_scan = expected(stored, query.astype(np.float64))
            assert np.isnan(found[0])
            assert np.allclose(found[1:], [by_scan[int(identity)] for identity in ids[1:]], atol=4e-3)
            of_pool = list(by_scan.values())
            usual = float(np.median(of_pool)) if len(of_pool) >= 20 else min(of_pool)
            few = matrix.similarities(ids[1:2], query)
            assert few is not None and few.usual == similar.usual == pytest.approx(usual, abs=4e-3), "of the whole pool"
    assert matrix.sessions == {
        session: max(one[0] for one in stored if one[0] >> SEQUENCE_BITS == session)
        for session in {one[0] >> SEQUENCE_BITS for one in stored}
    }


def test_an_empty_matrix_and_a_query_of_another_length_give_nothing() -> None:
    matrix = VectorMatrix()
    ids = np.array([(1 << SEQUENCE_BITS) + 1], np.int64)
    assert matrix.similarities(ids, np.ones(WIDTH, np.float32)) is None
    matrix.append([row(1, 1), (ids[0] + 1, b"\x00\x3c", terms.BYTES)])
    assert matrix.similarities(ids, np.ones(WIDTH + 1, np.float32)) is None
    assert matrix.similarities(ids + 1, np.ones(WIDTH, np.float32)) is None, "its length is another model's"
    assert matrix.similarities(ids, np.ones(WIDTH, np.float32)) is not None


def evidence(semantic: list[float], second: list[float] | None) -> Evidence:
    nothing = np.zeros(len(semantic), np.float32)
    return Evidence(
        size=len(semantic),
        ids=np.arange(len(semantic), dtype=np.int64),
        session_ids=np.zeros(len(semantic), np.int64),
        roles=np.zeros(len(semantic), np.int8),
        lexical=nothing,
        semantic=np.array(semantic, np.float32),
        author=nothing,
        date=nothing,
        session_prior=nothing,
        coverage=nothing,
        second=None if second is None else np.array(second, np.float32),
    )


def test_where_a_message_has_no_second_vector_the_table_stands_for_both() -> None:
    nan = float("nan")
    blended = blended_semantic(evidence([0.0, 0.5, 1.0, 0.25], [0.9, 0.1, nan, 0.5]), 0.4)
    assert np.allclose(blended, [0.4, 0.3, 1.0, 0.6 * 0.25 + 0.4 * 0.5])
    assert np.array_equal(rank(evidence([0.1, 0.7], None)), rank(evidence([0.1, 0.7], [nan, nan])))
