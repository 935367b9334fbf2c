"""Splitting a text into words, in any script. No stems, no stop words, no terms."""

import unicodedata
from collections.abc import Iterator

from cloister.domain.normalization import normalized
from cloister.domain.patterns import anchored, linear
from cloister.index.terms.stop_words import IDEOGRAPHS

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_SPACED_WORD = linear(r"[^\W_]{2,}")
_ANY_WORD = linear(rf"[{_UNSPACED}]+|(?:[^\W_{_UNSPACED}][{_MARKS}]*){{2,}}")
_IS_UNSPACED = anchored(f"[{_UNSPACED}]")
_IDEOGRAPH = linear("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
# NFKC turns this character into eighteen, so normalising a text full of it takes long. No other character becomes more than eight,
# and text of any language stays far below twice its length; the rest is cut off.
_LONGEST_EXPANSION = "\ufdfa"
_MOST_LONG_EXPANSIONS = 8
_MOST_EXPANDED = 2
_ALWAYS_EXPANDED = 64


def words(text: str) -> list[str]:
    """Lower-case words of two or more letters or digits. Where a script has no spaces: pairs of characters, and each ideograph, as
    many words of Chinese and Japanese are a single one; without those ideographs, and pairs of them, that are function words."""
    return _SPACED_WORD.findall(text.lower()) if text.isascii() else list(_any_words(text, ideographs=True))


def name_words(name: str) -> list[str]:
    """The words of a person's name. Its ideographs are no words of their own, because each stands in many other words."""
    return _SPACED_WORD.findall(name.lower()) if name.isascii() else list(_any_words(name, ideographs=False))


def _any_words(text: str, *, ideographs: bool) -> Iterator[str]:
    if text.count(_LONGEST_EXPANSION) > _MOST_LONG_EXPANSIONS:
        text = text.replace(_LONGEST_EXPANSION, " ")
    most = _MOST_EXPANDED * len(text) + _ALWAYS_EXPANDED
    for word in _ANY_WORD.findall(normalized("NFKC", text)[:most].lower()):
        if not _IS_UNSPACED.match(word):
            yield word
            continue
        for at in range(max(len(word) - 1, 1)):
            pair = word[at : at + 2]
            if not IDEOGRAPHS.issuperset(pair):
                yield pair
        if ideographs and len(word) > 1:
            yield from (one for one in _IDEOGRAPH.findall(word) if one not in IDEOGRAPHS)


def without_marks(word: str) -> str:
    """A word without its accents, umlauts and other marks: people leave them out."""
    if word.isascii():
        return word
    decomposed = normalized("NFD", word.replace("œ", "oe").replace("ß", "ss"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
