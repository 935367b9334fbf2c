"""Recognises messages that say the same again (CTX-7). What only asks the question again is in `asked_again.py`.

Two messages say the same if they have the same words in the same order, apart from case, punctuation, contractions and words
that add nothing; long ones also if they differ in a word of ten. In scripts without spaces characters are compared instead of
words. Messages of different speakers never say the same. Words of one letter or digit count, though the index does not have
them: "Team A" is not "Team B".
"""

from collections.abc import Hashable
from itertools import pairwise

from cloister.domain.conversation import Message
from cloister.domain.patterns import anchored, linear
from cloister.services.recall.repetition.asked_again import is_question, negates

_LONGEST_COMPARED = 8_192
_LONG = 12
_LONG_UNSPACED = 20
_SAME_SHARE = 0.9
# Pairs of characters: a character that differs is in two of them.
_SAME_PAIRS = 0.8
_EMPTY_WORDS = frozenset(
    (
        *(
            "a",
            "an",
            "the",
            "please",
            "hi",
            "hello",
            "hey",
            "well",
            "so",
            "oh",
            "um",
            "just",
            "then",
            "ok",
            "okay",
            "thanks",
        ),
        *("really", "actually", "very", "quite", "also", "again", "anyway", "btw", "fyi"),
    )
)
_BEGINNINGS = frozenset(("remember", "reminder", "note", "and", "but", "yes", "yeah", "right"))
_CONTRACTIONS = {
    **{f"{who}'re": (who, "are") for who in ("you", "we", "they")},
    **{f"{who}'ve": (who, "have") for who in ("i", "you", "we", "they")},
    **{f"{who}'ll": (who, "will") for who in ("i", "you", "he", "she", "it", "we", "they")},
    **{
        f"{who}'s": (who, "is")
        for who in ("it", "he", "she", "that", "there", "here", "what", "who", "where", "how", "when")
    },
    **{f"{verb}n't": (verb, "not") for verb in ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had")},
    **{f"{verb}n't": (verb, "not") for verb in ("would", "could", "should", "must")},
    "i'm": ("i", "am"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
}
_PUNCTUATION = ".,;:!?…\"'`()[]{}<>«»“”„‘’*_~。！？、，؟¿¡"
_UNSPACED = linear("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_CHARACTER = linear(r"\w")
# Endings of politeness: "4417です" is "4417だよ".
_POLITE_ENDING = anchored(r"(?P<said>.{1,8192}?)(?:です|ます|だ)?(?:よね|よ|ね|わ)?[啊呀哦嘛啦]?\Z")
_NUMERALS = frozenset("〇一二三四五六七八九十百千万亿億两")
# Characters that add nothing; without those of negations (ない, ません, ぬ, ず).
_EMPTY_CHARACTERS = frozenset(
    "はがをにへとでもやのねよわさまいうくすたてだしるれこそあおごけどから的了啊呀呢吧哦嘛啦就也都还很真请您你"
)


class Said:
    """A message's words in the forms that are compared. What is needed of few messages is made when it is asked for."""

    __slots__ = ("_asks", "_key", "_set_found", "_speaker", "_text", "_unspaced", "_words")

    def __init__(self, message: Message, user: str | None) -> None:
        self._text = text = message.content[:_LONGEST_COMPARED]
        self._speaker = (message.role, user, message.author)
        self._unspaced = not text.isascii() and _UNSPACED.search(text) is not None
        self._words = _characters(text) if self._unspaced else _words(text)
        self._set_found: frozenset[str] | None = None
        self._asks: bool | None = None
        self._key: Hashable = None

    @property
    def key(self) -> Hashable:
        """Equal for messages that say the same in the same words."""
        if self._key is None:
            words = self._words if self._unspaced else _significant(self._words)
            end = self._text[-4:]
            self._key = (self._speaker, "?" in end or "？" in end, *words)
        return self._key

    @property
    def is_question(self) -> bool:
        """Whether the message only asks."""
        if self._asks is None:
            self._asks = is_question(self._text)
        return self._asks

    @property
    def is_long(self) -> bool:
        return len(self._words) >= (_LONG_UNSPACED if self._unspaced else _LONG)

    def is_nearly(self, other: "Said") -> bool:
        """Whether two long messages of one speaker differ in few words. Other numbers, names or negations are another statement."""
        if self._speaker != other._speaker or self._unspaced != other._unspaced or not (self.is_long and other.is_long):
            return False
        ours, theirs = self._set, other._set
        most = (1 - (_SAME_PAIRS if self._unspaced else _SAME_SHARE)) * (len(ours) + len(theirs))
        if abs(len(ours) - len(theirs)) > most:
            return False
        different = ours ^ theirs
        if len(different) > most or self.is_question != other.is_question:
            return False
        if self._unspaced:
            return (frozenset(self._words) ^ frozenset(other._words)) <= _EMPTY_CHARACTERS and _numbers(
                self._words
            ) == _numbers(other._words)
        if different & (self._capitalised() | other._capitalised()):
            return False
        return not any(len(word) == 1 or negates(word) or any(map(str.isdigit, word)) for word in different)

    def _capitalised(self) -> frozenset[str]:
        pieces = (piece.strip(_PUNCTUATION) for piece in self._text.split())
        return frozenset(word.lower() for word in pieces if word and word[0].isupper())

    @property
    def _set(self) -> frozenset[str]:
        if self._set_found is None:
            words = self._words
            pairs = map("".join, pairwise(words)) if self._unspaced else words
            self._set_found = frozenset(pairs)
        return self._set_found


def _words(text: str) -> list[str]:
    return [piece if piece.isalnum() else piece.strip(_PUNCTUATION) or piece for piece in text.lower().split()]


def _significant(words: list[str]) -> list[str]:
    """The words, contractions written out, without those that add nothing; all of them if there are no others."""
    if any("'" in word or "’" in word for word in words):
        words = [part for word in words for part in _CONTRACTIONS.get(word.replace("’", "'"), (word,))]
    if not _EMPTY_WORDS.isdisjoint(words):
        words = [word for word in words if word not in _EMPTY_WORDS] or words
    return words[1:] if len(words) > 3 and words[0] in _BEGINNINGS else words


def _characters(text: str) -> list[str]:
    """The letters and digits of a text in a script without spaces, without an ending of politeness."""
    found = "".join(_CHARACTER.findall(text.lower()))
    polite = _POLITE_ENDING.fullmatch(found)
    return list(found if polite is None else polite["said"])


def _numbers(characters: list[str]) -> list[str]:
    return [character for character in characters if character.isdigit() or character in _NUMERALS]
