"""The language of a message, by its script and its function words, for extraction (MEM-15)."""

import unicodedata
from collections import Counter
from collections.abc import Mapping

from cloister.index.terms.languages import STOP_WORDS, Language, language_of
from cloister.index.terms.tokens import words

_MOST_CHARACTERS = 2_000
_FEWEST_WORDS = 5
_CODES: Mapping[Language, str] = {
    Language.ENGLISH: "en",
    Language.GERMAN: "de",
    Language.SPANISH: "es",
    Language.FRENCH: "fr",
    Language.ITALIAN: "it",
    Language.PORTUGUESE: "pt",
    Language.DUTCH: "nl",
    Language.RUSSIAN: "ru",
}
_SCRIPTS = {
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh",
    "HANGUL": "ko",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "THAI": "th",
    "GREEK": "el",
}
OTHER = "other"


def language_code(text: str) -> str | None:
    """The code of the language, `other` for a language that is none of those that can be told apart, and None if the text is too
    short to tell. Only the beginning of a long text is read."""
    head = text[:_MOST_CHARACTERS]
    scripts = Counter(unicodedata.name(letter, "").split(" ", 1)[0] for letter in head if letter.isalpha())
    if not scripts:
        return None
    script = scripts.most_common(1)[0][0]
    if script == "CJK" and (scripts["HIRAGANA"] or scripts["KATAKANA"]):
        return "ja"
    if script in _SCRIPTS:
        return _SCRIPTS[script]
    found = language_of(head.split(" "))
    if found is not Language.ENGLISH:
        return _CODES[found]
    if script != "LATIN":
        return OTHER
    spoken = [word for word in words(head) if word.isalpha()]
    if any(word in STOP_WORDS[Language.ENGLISH] for word in spoken):
        return "en"
    return OTHER if len(spoken) >= _FEWEST_WORDS else None
