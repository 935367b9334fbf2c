"""Tokenising: text → words → terms, without stop words. A term is the CRC-32 of a word's stem.

So neither the index nor its rows in storage contain words. These are pure functions of the text; the tables only cache results.
"""

import sys
import threading
import unicodedata
from array import array
from collections.abc import Sequence
from typing import Protocol, cast
from zlib import crc32

import Stemmer  # pyright: ignore[reportMissingTypeStubs]

from cloister.domain.patterns import anchored, linear

VERSION = 2
"""Raise it when the same message would give other terms; `cloister reindex` then derives them again."""
BYTES = 4
"""The length of one encoded term."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_SPACED_WORD = linear(r"[^\W_]{2,}")
_ANY_WORD = linear(rf"[{_UNSPACED}]+|(?:[^\W_{_UNSPACED}][{_MARKS}]*){{2,}}")
_IS_UNSPACED = anchored(f"[{_UNSPACED}]")
_KEPT_WORDS = 100_000
_LONGEST_KEPT_WORD = 40
# NFKC turns this character into eighteen, so normalising a text full of it takes long. No other character becomes more than eight,
# and text of any language stays far below twice its length; the rest is cut off.
_LONGEST_EXPANSION = "\ufdfa"
_MOST_LONG_EXPANSIONS = 8
_MOST_EXPANDED = 2
_ALWAYS_EXPANDED = 64

_STOP_WORDS = (
    "about above after again against ain all also am an and any anybody anyone anything are aren around as at be "
    "became because been before being below between both but by came can cannot cant come could couldn did didn do "
    "does doesn doing don done down during each either else ever every everybody everyone everything few for from "
    "further gave get gets getting give given go goes going gone got had hadn has hasn have haven having he her here "
    "hers herself him himself his how however if in into is isn it its itself just let ll made make makes making "
    "many me might mightn mine more most much must mustn my myself need needn neither no nobody none nor not nothing "
    "now of off often oh ok okay on once one only onto or other others our ours ourselves out over own please quite "
    "rather re really said same say says shall shan she should shouldn since so some somebody someone something "
    "still such than that the their theirs them themselves then there these they thing things this those though "
    "through thus to too toward towards under until up upon us use used ve very was wasn way we well went were weren "
    "what whatever when where whether which while who whoever whom whose why will with within without won would "
    "wouldn yeah yes yet you your yours yourself yourselves"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English function words. Not "may": it is a month."""


def encode(text: str) -> bytes:
    """The terms of a text in order, one per occurrence and without stop words, as little-endian unsigned 32-bit integers."""
    return b"".join(map(_PIECES.__getitem__, text.split(" ")))


def term_list(text: str) -> list[int]:
    """The terms of a text as `encode` gives them, as integers."""
    return _swapped(array("I", encode(text))).tolist()


def _swapped(numbers: "array[int]") -> "array[int]":
    """Convert between this machine's byte order and little-endian, in place."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def term(word: str) -> int:
    """The term of one word as `words` gives it; 0 for a stop word."""
    return _TERMS[word]


def words(text: str) -> list[str]:
    """Lower-case words of two or more letters or digits; pairs of characters where a script has no spaces."""
    if text.isascii():
        return _SPACED_WORD.findall(text.lower())
    found: list[str] = []
    if text.count(_LONGEST_EXPANSION) > _MOST_LONG_EXPANSIONS:
        text = text.replace(_LONGEST_EXPANSION, " ")
    most = _MOST_EXPANDED * len(text) + _ALWAYS_EXPANDED
    for word in _ANY_WORD.findall(unicodedata.normalize("NFKC", text)[:most].lower()):
        if _IS_UNSPACED.match(word) and len(word) > 2:
            found += [word[at : at + 2] for at in range(len(word) - 1)]
        else:
            found.append(word)
    return found


class _Stemmer(Protocol):
    def stemWords(self, words: Sequence[str]) -> list[str]: ...  # noqa: N802


class _Terms(dict[str, int]):
    """A cache of the terms of words. The stemmer is not thread-safe, hence the lock."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmer = cast(_Stemmer, Stemmer.Stemmer("english", 0))  # pyright: ignore[reportUnknownMemberType]
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> int:
        found = 0 if word in STOP_WORDS else self.stems_to([word])[0]
        if len(word) <= _LONGEST_KEPT_WORD:
            if len(self) >= _KEPT_WORDS:
                self.clear()
            self[word] = found
        return found

    def stems_to(self, unseen: list[str]) -> list[int]:
        with self._lock:
            stems = self._stemmer.stemWords(unseen)
        return [hashed or 1 for hashed in map(crc32, map(str.encode, stems))]


class _Pieces(dict[str, bytes]):
    """A cache of the encoded terms of the pieces between spaces. No word extends across a space."""

    def __missing__(self, piece: str) -> bytes:
        found = _swapped(array("I", [term for word in words(piece) if (term := _TERMS[word])])).tobytes()
        if len(piece) <= _LONGEST_KEPT_WORD:
            if len(self) >= _KEPT_WORDS:
                self.clear()
            self[piece] = found
        return found


_TERMS = _Terms()
_PIECES = _Pieces()


def terms_of(candidates: list[str]) -> list[int]:
    """The terms of many words, past the cache; stop words are treated like others."""
    return _TERMS.stems_to(candidates)
