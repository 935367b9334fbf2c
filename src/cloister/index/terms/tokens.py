"""Splitting a text into words, in any script. No stems, no stop words, no terms."""

import unicodedata

from cloister.domain.patterns import anchored, linear

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_SPACED_WORD = linear(r"[^\W_]{2,}")
_ANY_WORD = linear(rf"[{_UNSPACED}]+|(?:[^\W_{_UNSPACED}][{_MARKS}]*){{2,}}")
_IS_UNSPACED = anchored(f"[{_UNSPACED}]")
# NFKC turns this character into eighteen, so normalising a text full of it takes long. No other character becomes more than eight,
# and text of any language stays far below twice its length; the rest is cut off.
_LONGEST_EXPANSION = "\ufdfa"
_MOST_LONG_EXPANSIONS = 8
_MOST_EXPANDED = 2
_ALWAYS_EXPANDED = 64


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


def without_marks(word: str) -> str:
    """A word without its accents, umlauts and other marks: people leave them out."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.replace("œ", "oe").replace("ß", "ss"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
