"""Evidence → scores → order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cloister.domain.recall.ranking import Bounds, Evidence, Weights, best, rank


def evidence(
    *,
    ids: Sequence[int],
    lexical: Sequence[float] | None = None,
    semantic: Sequence[float] | None = None,
    author: Sequence[float] | None = None,
    date: Sequence[float] | None = None,
    session_prior: Sequence[float] | None = None,
) -> Evidence:
    nothing = [0.0] * len(ids)
    return Evidence(
        size=len(ids),
        ids=np.array(ids, np.int64),
        session_ids=np.ones(len(ids), np.int64),
        roles=np.zeros(len(ids), np.int8),
        lexical=np.array(lexical or nothing, np.float32),
        semantic=np.array(semantic or nothing, np.float32),
        author=np.array(author or nothing, np.float32),
        date=np.array(date or nothing, np.float32),
        session_prior=np.array(session_prior or nothing, np.float32),
        coverage=np.array(nothing, np.float32),
    )


def test_each_kind_of_evidence_counts_by_its_weight() -> None:
    found = evidence(
        ids=[1, 2], lexical=[0, 8], semantic=[-0.5, 0.5], author=[0, 1], date=[0, 0.5], session_prior=[0, 3]
    )
    assert rank(found).tolist() == pytest.approx([0, (0.5 + 0.5 + 0.05 + 0.1) * 1.38])


def test_evidence_without_differences_orders_nothing_and_counts_as_it_is() -> None:
    found = rank(evidence(ids=[1, 2], lexical=[3, 3], semantic=[0.2, 0.2])).tolist()
    assert found == pytest.approx([0.5 + 0.1, 0.5 + 0.1])
    assert rank(evidence(ids=[1], lexical=[0], semantic=[-0.2])).tolist() == [0]


def test_the_author_counts_for_nothing_when_not_favoured() -> None:
    found = evidence(ids=[1, 2], author=[0, 1])
    assert rank(found, Weights(favour_author=False)).tolist() == [0, 0]


def test_equal_scores_are_ordered_by_id_at_the_cut_too() -> None:
    found = evidence(ids=[9, 3, 7, 1, 5])
    scores = np.array([0.5, 0.5, 0.5, 0.5, 0.9], np.float32)
    assert [int(found.ids[at]) for at in best(found, scores, 3)] == [5, 1, 3]


def test_differences_below_a_millionth_are_ties() -> None:
    found = evidence(ids=[2, 1])
    assert best(found, np.array([0.5000001, 0.5], np.float32), 1).tolist() == [1]


def test_only_allowed_messages_are_chosen() -> None:
    found = evidence(ids=[1, 2, 3, 4])
    scores = np.array([4, 3, 2, 1], np.float32)
    assert best(found, scores, 2, where=np.array([False, True, False, True])).tolist() == [1, 3]
    assert best(found, scores, 2, where=np.zeros(4, np.bool_)).tolist() == []


def test_a_limit_beyond_the_evidence_gives_all_of_it() -> None:
    found = evidence(ids=[1, 2])
    assert best(found, np.array([0, 1], np.float32), 10).tolist() == [1, 0]
    assert best(found, np.array([0, 1], np.float32), 0).tolist() == []


def test_no_evidence_ranks_to_nothing() -> None:
    found = evidence(ids=[])
    assert best(found, rank(found), 5).tolist() == []


def test_with_the_bounds_of_the_pool_a_part_of_it_scores_as_in_the_whole() -> None:
    whole = evidence(
        ids=[1, 2, 3, 4],
        lexical=[0, 2, 8, 4],
        semantic=[-0.5, 0.1, 0.3, 0.5],
        author=[0, 1, 1, 0],
        session_prior=[0, 1, 3, 3],
    )
    bounds = Bounds(lexical=(0, 8), semantic=(-0.5, 0.5), session_prior=(0, 3))
    part = evidence(ids=[2, 4], lexical=[2, 4], semantic=[0.1, 0.5], author=[1, 0], session_prior=[1, 3])
    assert rank(replace(part, bounds=bounds)).tolist() == pytest.approx(rank(whole)[[1, 3]].tolist())
