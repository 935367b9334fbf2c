"""Take text that is forgotten out of the quotations of messages that stay.

A quotation is not the text itself: it was normalised, made harmless and shortened, and stands behind a day and a speaker. Texts are
compared by their first letters and digits, without case and in one Unicode form. The same words of somebody else are taken out too:
in doubt a quotation goes. The work grows with the length of the quotation and no faster, however many texts are forgotten.
"""

from collections.abc import Iterable

from cloister.domain.memory import normalised, quoted_lines, split_recalled, with_recalled, without_note
from cloister.domain.normalization import normalized
from cloister.domain.patterns import anchored
from cloister.domain.prompts.recalled_text import QUOTATION_FORGOTTEN, own_words

KEY_LENGTH = 24
_SHORTEST_KEY = 4
_READ = 200
"""Of a text only so much is read: a quotation may be cut behind it."""
# Letters to Unicode, but invisible: `harmless` takes them out of what is quoted.
_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
_ASCII_REST = {code: None for code in range(128) if not chr(code).isalnum()}
_DAY = anchored(r"- \d{4}-\d{2}-\d{2}, ")


class ForgottenTexts:
    """The texts that are forgotten, each by its key: its first letters and digits."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._keys: set[str] = set()
        self._lengths: dict[str, set[int]] = {}
        """The lengths of the keys that begin with the same four characters."""
        self._short: set[str] = set()
        """Texts that are too short for a key: only a line that says nothing else is a quotation of one."""
        for text in texts:
            self.add(text)

    def __len__(self) -> int:
        return len(self._keys) + len(self._short)

    def add(self, text: str) -> None:
        beginning = normalised(text)[:_READ]
        key = _folded(beginning)[:KEY_LENGTH]
        if len(key) >= _SHORTEST_KEY:
            self._keys.add(key)
            self._lengths.setdefault(key[:_SHORTEST_KEY], set()).add(len(key))
        elif short := _short(beginning):
            self._short.add(short)

    def are_in(self, quotation: str) -> bool:
        """Whether a quotation, of one line or of several, holds any of the texts."""
        folded = _folded(quotation)
        for start in range(len(folded) - _SHORTEST_KEY + 1):
            for length in self._lengths.get(folded[start : start + _SHORTEST_KEY], ()):
                if folded[start : start + length] in self._keys:
                    return True
        return bool(self._short) and any(map(self._is_short, quotation.splitlines()))

    def _is_short(self, line: str) -> bool:
        """With or without a speaker's name before it."""
        return _short(line) in self._short or _short(line.rpartition(": ")[2]) in self._short


def without_forgotten(content: str, forgotten: ForgottenTexts) -> str:
    """A message without the quoted lines that hold one of these texts; without all that it quotes where the quotation is not as we
    make it, line by line, or where no line is left. Its own words stay; where it has none, a sentence of ours says so."""
    recalled = split_recalled(content).recalled
    if recalled is None:
        return content
    head, lines = quoted_lines(recalled)
    words = [_without_label(line) for line in lines]
    head_words = without_note(head)
    if not forgotten.are_in("\n".join((head_words, *words))):
        return content
    kept = [at for at, said in enumerate(words) if not forgotten.are_in(said)]
    if kept and not forgotten.are_in("\n".join((head_words, *(words[at] for at in kept)))):
        return with_recalled(content, "".join((head, *(lines[at] for at in kept))))
    return own_words(content) or QUOTATION_FORGOTTEN


def _without_label(line: str) -> str:
    """A quoted line without the day and the speaker before its words: these are not what was said. A name may hold a colon, so no
    more than up to the first is left out."""
    label, colon, words = line.partition(": ")
    return words if colon and _DAY.match(label) else line.removeprefix("- ")


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower().translate(_ASCII_REST)
    plain = normalized("NFKC", normalized("NFKC", text).casefold())
    return "".join(c for c in plain if c.isalnum() and c not in _INVISIBLE_LETTERS)


def _short(text: str) -> str:
    """A short text by its letters and digits, or by all that it has where it has none of them."""
    return (_folded(text) or "".join(text.split()))[:KEY_LENGTH]
