"""Text → terms, without stop words. A term is the CRC-32 of a word's stem.

So neither the index nor its rows in storage contain words. These are pure functions of the text; the tables only cache results.
Stems are those of the text's language. A text in another language than English also has one term that marks this language, and its
stems have no accents.
"""

import sys
import threading
from array import array
from collections.abc import Sequence
from typing import Protocol, cast
from zlib import crc32

import Stemmer  # pyright: ignore[reportMissingTypeStubs]

from cloister.domain.recall.word_cache import WordCache
from cloister.index.terms.languages import OTHERS, STOP_WORDS, Language, language_of
from cloister.index.terms.tokens import without_marks, words

VERSION = 3
"""Raise it when the same message would give other terms; `cloister reindex` then derives them again."""
BYTES = 4
"""The length of one encoded term."""

_KEPT_WORDS = {Language.ENGLISH: 65_536}
_KEPT_WORDS_OF_OTHERS = 4_096
_LONGEST_KEPT_WORD = 40
# The stemmers of some languages take quadratic time; that of English does not. The rest of a longer word is ignored.
_LONGEST_STEMMED = 128


def encode(text: str) -> bytes:
    """The terms of a text in order, one per occurrence and without stop words, as little-endian unsigned 32-bit integers."""
    pieces = text.split(" ")
    language = language_of(pieces)
    found = b"".join(map(_PIECES[language].__getitem__, pieces))
    return found + _MARKS[language] if found else found


def term_list(text: str) -> list[int]:
    """The terms of a text as `encode` gives them, as integers."""
    return _swapped(array("I", encode(text))).tolist()


def _swapped(numbers: "array[int]") -> "array[int]":
    """Convert between this machine's byte order and little-endian, in place."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def term(word: str, language: Language = Language.ENGLISH) -> int:
    """The term of one word as `words` gives it; 0 for a stop word."""
    return _TERMS[language][word]


def terms_of(candidates: list[str], language: Language = Language.ENGLISH) -> list[int]:
    """The terms of many words, past the cache; stop words are treated like others."""
    return _TERMS[language].stems_to(candidates)


class _Stemmer(Protocol):
    def stemWords(self, words: Sequence[str]) -> list[str]: ...  # noqa: N802


class _Terms(WordCache[int]):
    """A cache of the terms of words of one language. The stemmer is not thread-safe, hence the lock."""

    def __init__(self, language: Language) -> None:
        super().__init__(_KEPT_WORDS.get(language, _KEPT_WORDS_OF_OTHERS), _LONGEST_KEPT_WORD)
        self._stemmer = cast(_Stemmer, Stemmer.Stemmer(language, 0))  # pyright: ignore[reportUnknownMemberType]
        self._is_english = language is Language.ENGLISH
        self._stop_words = STOP_WORDS[language]
        self._lock = threading.Lock()

    def is_kept(self, word: str) -> bool:
        return not _is_number(word) and super().is_kept(word)

    def computed(self, word: str, /) -> int:
        if _is_number(word):
            return crc32(word.encode()) or 1
        return 0 if word in self._stop_words else self.stems_to([word])[0]

    def stems_to(self, unseen: list[str]) -> list[int]:
        if self._is_english:
            stems = self._stemmed(unseen)
        else:
            stems = map(without_marks, self._stemmed([word[:_LONGEST_STEMMED] for word in unseen]))
        return [hashed or 1 for hashed in map(crc32, map(str.encode, stems))]

    def _stemmed(self, unseen: Sequence[str]) -> list[str]:
        with self._lock:
            return self._stemmer.stemWords(unseen)


def _is_number(word: str) -> bool:
    """Whether a word is the same in every language, and no use to keep: there are very many numbers."""
    return word.isdigit() and word.isascii()


class _Pieces(WordCache[bytes]):
    """A cache of the encoded terms of the pieces between spaces, in one language. No word extends across a space."""

    def __init__(self, language: Language) -> None:
        super().__init__(_KEPT_WORDS.get(language, _KEPT_WORDS_OF_OTHERS), _LONGEST_KEPT_WORD)
        self._terms = _TERMS[language]

    def computed(self, piece: str, /) -> bytes:
        return _swapped(array("I", [term for word in words(piece) if (term := self._terms[word])])).tobytes()


_TERMS = {language: _Terms(language) for language in Language}
_PIECES = {language: _Pieces(language) for language in Language}
LANGUAGE_TERMS = {language: crc32(f"language {language}".encode()) for language in OTHERS}
"""The term that marks a text in a language. It is no word's: no stem has a space."""
_MARKS = {language: _swapped(array("I", [mark])).tobytes() for language, mark in LANGUAGE_TERMS.items()} | {
    Language.ENGLISH: b""
}
