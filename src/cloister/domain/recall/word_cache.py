"""A cache of what is computed from words, whose size does not depend on how many different words there are."""

from typing import Generic, TypeVar

V = TypeVar("V")


class WordCache(dict[str, V], Generic[V]):
    """Values by word, in two halves. When the newer half is full it becomes the older one, and the words of the older one that were
    not asked for since are dropped. So numbers and other words that come once do not displace the frequent ones.

    Reading a cached word costs a lookup in a dictionary. Thread-safe without a lock: a value depends on its word only, so a word
    that another thread adds while the halves change is computed again.
    """

    def __init__(self, most: int, longest: int) -> None:
        """At most so many words, none of them longer than `longest` characters."""
        super().__init__()
        self._half = most // 2
        self._longest = longest
        self._older: dict[str, V] = {}

    def computed(self, word: str, /) -> V:
        """The value of a word that is not cached."""
        raise NotImplementedError

    def knows(self, word: str) -> bool:
        """Whether a word is cached."""
        return word in self or word in self._older

    def is_kept(self, word: str) -> bool:
        return len(word) <= self._longest

    def __missing__(self, word: str) -> V:
        older = self._older
        found = older[word] if word in older else self.computed(word)
        if self.is_kept(word):
            if len(self) >= self._half:
                self._older = self.copy()
                self.clear()
            self[word] = found
        return found
