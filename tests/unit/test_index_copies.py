"""Which messages of a pool have the same words: after any changes as if all were added at once, at the cost of the change."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from cloister.index import terms
from cloister.index.exact.copies import Copies

WORDS = ["", "garden", "violin", "mountain", "recipe", "doctor", "hello garden"]


def said(words: list[str]) -> list[bytes]:
    return [terms.encode(word) for word in words]


def partition(groups: list[int], words: list[str], alive: list[bool]) -> set[tuple[int, ...]]:
    """The rows of each group of two or more live rows."""
    found: dict[int, list[int]] = {}
    for row, group in enumerate(groups):
        if group >= 0 and alive[row]:
            found.setdefault(group, []).append(row)
    return {tuple(rows) for rows in found.values() if len(rows) > 1}


def expected(words: list[str], alive: list[bool]) -> set[tuple[int, ...]]:
    by_words: dict[str, list[int]] = {}
    for row, word in enumerate(words):
        if word and alive[row]:
            by_words.setdefault(word.removeprefix("hello "), []).append(row)
    return {tuple(rows) for rows in by_words.values() if len(rows) > 1}


@settings(max_examples=300, deadline=None)
@given(
    first=some.lists(some.sampled_from(WORDS), min_size=1, max_size=40),
    steps=some.lists(
        some.one_of(
            some.lists(some.sampled_from([*WORDS, "lantern"]), min_size=1, max_size=3),
            some.sets(some.integers(0, 60), min_size=1, max_size=4),
            some.just("compact"),
        ),
        max_size=15,
    ),
)
def test_groups_after_changes_are_those_of_the_rows(first: list[str], steps: list[list[str] | set[int] | str]) -> None:
    """CTX-7: appended to, removed from and compacted in any order. What was read before does not change."""
    copies, words, alive = Copies(), list(first), [True] * len(first)
    copies.extend(said(first))
    copies.settle()
    for step in steps:
        before = copies.groups
        read = before.copy()
        if isinstance(step, list):
            copies.extend(said(step))
            copies.settle()
            words, alive = [*words, *step], [*alive, *[True] * len(step)]
            assert np.array_equal(before, read)
        elif isinstance(step, set):
            gone = sorted(row for row in step if row < len(words) and alive[row])
            if gone:
                copies.remove(np.array(gone, np.intp))
                alive = [live and row not in gone for row, live in enumerate(alive)]
        else:
            kept = [row for row, live in enumerate(alive) if live]
            copies.keep(np.array(kept, np.intp))
            words, alive = [words[row] for row in kept], [True] * len(kept)
            assert np.array_equal(before, read)
        groups: list[int] = copies.groups.tolist()
        assert partition(groups, words, alive) == expected(words, alive)
        assert copies.surplus == sum(len(rows) - 1 for rows in expected(words, alive))
        for rows in expected(words, alive):
            asked = copies.groups_of(np.array(rows[:1], np.intp))
            assert copies.rows_of(asked, 100).tolist() == list(rows)
            assert copies.rows_of(asked, 1).tolist() == [rows[-1]]


def test_appending_and_finding_look_at_what_is_added_and_found() -> None:
    """CTX-7: of 40,000 messages, one more makes at most a few small segments anew; ten digests are looked for, not 40,000."""
    copies = Copies()
    copies.extend(said([f"note number{at} of day{at % 7}x" for at in range(40_000)]))
    copies.settle()
    sizes = Counter[int]()
    for at in range(200):
        copies.extend(said([f"later remark{at}", "note number17 of day3x"]))
        before = {id(segment) for segment in copies._segments}  # pyright: ignore[reportPrivateUsage]
        copies.settle()
        for segment in copies._segments:  # pyright: ignore[reportPrivateUsage]
            if id(segment) not in before:
                sizes[len(segment.digests)] += 1
    assert max(sizes) <= 800
    assert sum(size * times for size, times in sizes.items()) <= 400 * 20
    group = copies.groups_of(np.array([17], np.intp))
    assert len(copies.rows_of(group, 1_000)) == 201
