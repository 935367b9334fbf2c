"""The cache of pools: what entries are said to take is what they take, and their sum stays under the limit."""

import gc
import json
import os
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from cloister.index.cache import CachePart, PoolCache
from cloister.index.exact.block import PoolBlock
from cloister.index.exact.large.block import LargeBlock
from cloister.index.exact.second_vectors import VectorMatrix
from cloister.services.recall.validity import MemoryValidity
from support.samples.index_rows import DIMENSION, StoredRow, embed_query, message, rows_of, vectors_of

WORDS = [f"{left}{right}" for left in ("gar", "vio", "moun", "rec", "doc", "pup") for right in ("den", "lin", "tain")]
Make = Callable[[list[StoredRow]], PoolBlock | LargeBlock | VectorMatrix | MemoryValidity]


def conversation(seed: int, messages: int, sessions: int) -> list[StoredRow]:
    rng = random.Random(seed)
    authors = [None, "Ana", "Bo Berg"]
    return sorted(
        message(1 + at % sessions, at // sessions, " ".join(rng.choices(WORDS, k=12)), rng.choice(authors))
        for at in range(messages)
    )


def small_block(stored: list[StoredRow]) -> PoolBlock:
    block = PoolBlock(DIMENSION)
    block.reserve(len(stored))
    block.append([rows_of(stored)])
    block.evidence("garden violin", embed_query)
    return block


def large_block(stored: list[StoredRow]) -> LargeBlock:
    block = LargeBlock(DIMENSION)
    block.reserve(len(stored))
    block.append([rows_of(stored)], lambda ids: vectors_of(stored, ids))
    block.evidence("garden violin", embed_query, lambda ids: vectors_of(stored, ids), 5)
    return block


def matrix(stored: list[StoredRow]) -> VectorMatrix:
    made = VectorMatrix()
    made.append((row[0], row[5] or b"", len(row[6])) for row in stored)
    return made


def validity(stored: list[StoredRow]) -> MemoryValidity:
    return MemoryValidity(
        [(row[0], None, b"d", 1, 1, None, None, None, None, 0, f"s{at}") for at, row in enumerate(stored)]
    )


SIZES = ((1, 1), (5, 1), (5, 5), (40, 4), (1_000, 30))
MAKERS: dict[str, Make] = {each.__name__: each for each in (small_block, large_block, matrix, validity)}


def measured(make: Make, messages: int, sessions: int) -> tuple[int, int]:
    """The bytes that blocks of this size are counted with, and those that they take."""
    copies = max(2, 60 // messages)
    stored = [conversation(seed, messages, sessions) for seed in range(copies)]
    make(stored[0])
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        made = [make(each) for each in stored]
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    return sum(each.nbytes for each in made), taken


@pytest.fixture(scope="module")
def measurements() -> dict[str, tuple[int, int]]:
    """Of all makers and sizes, made in a process of its own: servers of other tests run in this one, and allocate meanwhile."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("messages, sessions", SIZES)
@pytest.mark.parametrize("maker", MAKERS)
def test_the_bytes_that_are_counted_are_those_that_are_taken(
    measurements: dict[str, tuple[int, int]], maker: str, messages: int, sessions: int
) -> None:
    """OPS-7: with spare capacity and Python's own objects, of pools of any size."""
    counted, taken = measurements[f"{maker} {messages} {sessions}"]
    assert 0.75 * taken <= counted <= 1.5 * taken


def test_an_entry_of_the_cache_costs_about_what_is_counted_for_it() -> None:
    """OPS-7: a hundred thousand entries without a value would be tens of megabytes."""
    cache = PoolCache(10**9)
    part = CachePart[list[int]](cache, "lists")
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for tenant in range(20_000):  # so many that what other threads allocate meanwhile does not count
            part.put(("memories", tenant << 40, (tenant, f"user {tenant}")), [], 0)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.75 * taken <= cache.nbytes <= 1.5 * taken


@settings(max_examples=200, deadline=None)
@given(
    steps=some.lists(
        some.tuples(some.sampled_from(["put", "make", "resize", "use"]), some.integers(0, 9), some.integers(0, 30_000)),
        max_size=60,
    )
)
def test_the_total_is_that_of_the_entries_and_stays_under_the_limit(steps: list[tuple[str, int, int]]) -> None:
    """OPS-7: only one entry that is too large for itself may be above the limit. A value of no size is not kept by `resize`."""
    cache = PoolCache(40_000)
    parts = [CachePart[list[int]](cache, kind) for kind in ("messages", "derived")]
    for what, key, nbytes in steps:
        part = parts[key % 2]
        if what == "put":
            part.put(key, [key], nbytes)
        elif what == "make":
            part.get_or_make(key, list)
        elif what == "resize":
            value = part.get(key)
            if value is not None:
                part.resize(key, value, nbytes)
        else:
            part.get(key)
        assert cache.nbytes <= 40_000 or len(cache) == 1
        assert (cache.nbytes > 0) == (len(cache) > 0)
    for key in range(10):
        value = parts[key % 2].get(key)
        if value is not None:
            parts[key % 2].resize(key, value, 0)
    assert (cache.nbytes, len(cache)) == (0, 0)


def test_what_was_not_used_for_longest_goes_first_of_whichever_kind() -> None:
    """OPS-7: one limit for all."""
    cache = PoolCache(10_000)
    messages, vectors = CachePart[str](cache, "messages"), CachePart[str](cache, "vectors")
    messages.put(1, "old", 3_000)
    vectors.put(1, "other", 3_000)
    assert messages.get(1) == "old"
    vectors.put(2, "new", 3_000)
    assert (messages.get(1), vectors.get(1), vectors.get(2)) == ("old", None, "new")


def test_a_value_that_was_evicted_meanwhile_does_not_come_back_by_its_size() -> None:
    """OPS-7: nor does it take the place of the one that came after it."""
    cache = PoolCache(10_000)
    part = CachePart[list[int]](cache, "messages")
    first = part.get_or_make(1, list)
    part.put(2, [], 9_900)
    second = part.get_or_make(1, list)
    assert second is not first
    part.resize(1, first, 5_000)
    assert part.get(1) is second
    assert cache.nbytes < 12_000


if __name__ == "__main__":
    every = {f"{name} {size[0]} {size[1]}": measured(make, *size) for name, make in MAKERS.items() for size in SIZES}
    sys.stdout.write(json.dumps(every))
