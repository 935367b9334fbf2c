"""Relevance: a number that means the same in every pool (CTX-6)."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cloister.domain.errors import InvalidRequest
from cloister.domain.recall.ranking import Evidence
from cloister.domain.recall.relevance import (
    DEFAULT_MIN_RELEVANCE,
    checked_min_relevance,
    lowest_match,
    matches,
    relevance,
    strength_of,
)


def evidence(size: int, semantic: list[float], coverage: list[float]) -> Evidence:
    nothing = np.zeros(len(semantic), np.float32)
    return Evidence(
        size=size,
        ids=np.arange(len(semantic)),
        session_ids=np.arange(len(semantic)),
        roles=np.zeros(len(semantic), np.int8),
        lexical=nothing,
        semantic=np.array(semantic, np.float32),
        author=nothing,
        date=nothing,
        session_prior=nothing,
        coverage=np.array(coverage, np.float32),
    )


def test_relevance_is_between_0_and_1_and_grows_with_the_match() -> None:
    found = [relevance(match, 9.0) for match in (-1.0, 0.0, 0.3, 0.6, 1.0, 2.0, 50.0)]
    assert found == sorted(found)
    assert found[0] == found[1] == 0
    assert 0.99 < found[-1] < 1


def test_no_message_is_more_relevant_than_the_best_of_the_pool_allows() -> None:
    assert relevance(0.9, 0.9) < DEFAULT_MIN_RELEVANCE
    assert relevance(0.9, 1.5) > DEFAULT_MIN_RELEVANCE
    assert relevance(1.5, 1.5) == relevance(9.0, 1.5)


def test_the_same_match_means_less_in_a_larger_pool() -> None:
    small, large = (float(matches(evidence(size, [0.4], [0.1]))[0]) for size in (10, 100_000))
    assert small > large > 0


def test_an_additional_embedder_counts_from_what_is_usual_in_the_pool() -> None:
    """Some models give 0.7 to any two texts."""
    plain = evidence(4, [0.1, 0.1, 0.1, 0.1], [0.0] * 4)
    nan = float("nan")
    for usual in (0.05, 0.7):
        found = matches(replace(plain, second=np.array([0.95, usual, usual, nan], np.float32), usual_second=usual))
        assert found[0] > 4 * found[1]
        assert found[1] == found[3] == matches(plain)[1]
    assert matches(replace(plain, second=np.full(4, nan, np.float32))).tolist() == matches(plain).tolist()


def test_the_pool_of_one_message_and_the_empty_pool_have_a_level_too() -> None:
    assert math.isfinite(float(matches(evidence(1, [0.5], [0.0]))[0]))
    assert matches(evidence(0, [], [])).tolist() == []


@pytest.mark.parametrize("floor", [0.01, 0.2, 0.5, 0.9])
def test_a_match_below_the_lowest_never_reaches_the_floor(floor: float) -> None:
    lowest = lowest_match(floor)
    assert relevance(lowest * 0.999, math.inf) < floor <= relevance(lowest * 1.001, math.inf)


def test_a_floor_of_0_keeps_everything_and_one_of_1_nothing() -> None:
    assert lowest_match(0) == -math.inf
    assert lowest_match(1) == math.inf


def test_strength_says_on_which_side_of_one_half_it_is() -> None:
    assert [strength_of(found) for found in (0.2, 0.499, 0.5, 1.0)] == ["weak", "weak", "strong", "strong"]


@pytest.mark.parametrize("given", [-0.1, 1.1, math.nan, math.inf, True, "0.2", None])
def test_a_floor_is_a_number_from_0_to_1(given: object) -> None:
    with pytest.raises(InvalidRequest, match="min_relevance"):
        checked_min_relevance(given)
    assert checked_min_relevance(0) == 0.0
    assert checked_min_relevance(1) == 1.0
