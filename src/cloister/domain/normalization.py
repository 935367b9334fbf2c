"""Unicode normal forms of untrusted text, in linear time.

`unicodedata.normalize` sorts the combining marks of a run one by one, so 65,536 marks take seconds (ISO-13). Text is normalised in
parts, which are cut where a character begins that combines with none before it; after many marks they are cut anyway.
"""

import unicodedata
from typing import Literal

_LONGEST_PART = 512
_LONGEST_SEARCH = 32
# Vowels and final consonants of Korean, which combine with a letter before them though they are no marks.
_JAMO = range(0x1160, 0x1200)


def normalized(form: Literal["NFC", "NFKC", "NFD", "NFKD"], text: str) -> str:
    """The normal form of a text, as `unicodedata.normalize` gives it unless there are dozens of marks on one letter."""
    if len(text) <= _LONGEST_PART or text.isascii():
        return unicodedata.normalize(form, text)
    parts: list[str] = []
    begin = 0
    while begin < len(text):
        end = _boundary(text, begin + _LONGEST_PART)
        parts.append(unicodedata.normalize(form, text[begin:end]))
        begin = end
    return "".join(parts)


def _boundary(text: str, at: int) -> int:
    """The first position from `at` on where a part may end."""
    for position in range(at, min(at + _LONGEST_SEARCH, len(text))):
        if not unicodedata.combining(text[position]) and ord(text[position]) not in _JAMO:
            return position
    return at + _LONGEST_SEARCH
