"""Caches of words keep their size, however many different words texts have, and keep the frequent ones."""

import gc
import json
import random
import subprocess
import sys
import tracemalloc

from cloister.domain.recall.passage import Passage
from cloister.domain.recall.word_cache import WordCache
from cloister.index.terms.encoding import encode
from cloister.models.static.embedder import StaticEmbedder

_WORDS = 30_000


class Lengths(WordCache[int]):
    def __init__(self, most: int) -> None:
        super().__init__(most, longest=8)
        self.asked: list[str] = []

    def computed(self, word: str, /) -> int:
        self.asked.append(word)
        return len(word)


def test_a_cache_of_words_keeps_its_size_and_the_frequent_words() -> None:
    """OPS-7: words that come once displace each other only."""
    cache = Lengths(100)
    for number in range(1_000):
        assert cache["water"] == 5
        assert cache[str(number)] == len(str(number))
        assert len(cache) + len(cache._older) <= 100  # pyright: ignore[reportPrivateUsage]
    assert cache.asked.count("water") == 1
    assert len(cache.asked) == 1_001
    assert cache.knows("water") and cache.knows("999") and not cache.knows("0")


def test_a_long_word_is_computed_each_time() -> None:
    cache = Lengths(100)
    assert [cache["watercolour"], cache["watercolour"]] == [11, 11]
    assert (len(cache), len(cache.asked)) == (0, 2)


def test_words_that_never_come_again_take_little_memory() -> None:
    """OPS-2, OPS-7: 30,000 different numbers in messages and questions took 95 MB, and were kept: a server in a soak grew by 18
    MB a minute. In a process of its own: servers of other tests allocate in this one."""
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows, megabytes = json.loads(done.stdout)
    assert rows < 100  # each would take another kilobyte, that is not counted here
    assert megabytes < 30


def _main() -> None:
    rng = random.Random(1)
    embedder = StaticEmbedder()

    def say(text: str) -> None:
        encode(text)
        embedder.embed([Passage("", text)])
        embedder.embed_query(text, lambda words: [1.0] * len(words))

    say("We planted the tomatoes")
    gc.collect()
    tracemalloc.start()
    for _ in range(_WORDS):
        say(f"We planted {rng.random()}")
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] / 1e6
    rows = len(embedder._loaded.sums._row_of)  # pyright: ignore[reportPrivateUsage]
    sys.stdout.write(json.dumps([rows, taken]))


if __name__ == "__main__":
    _main()
