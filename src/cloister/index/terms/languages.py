"""The languages whose words are stemmed, and which of them a text is in.

A text is in the language whose function words it has most of, else in English: an unknown language, a single name and a
list of numbers are treated as English. Scripts without spaces have no stems, so Chinese and Japanese are not distinguished here.
"""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

from cloister.domain.recall.word_cache import WordCache
from cloister.index.terms import stop_words
from cloister.index.terms.tokens import words

_MOST_PIECES = 64
_LONGEST_PIECE = 512
_LONGEST_KEPT_PIECE = 40
_KEPT_PIECES = 32_768
_CERTAIN = 3
_PERHAPS = 1
_BITS = 24
_FIELD = (1 << _BITS) - 1


class Language(StrEnum):
    """A language; the value is the name of its Snowball stemmer."""

    ENGLISH = "english"
    GERMAN = "german"
    SPANISH = "spanish"
    FRENCH = "french"
    ITALIAN = "italian"
    PORTUGUESE = "portuguese"
    DUTCH = "dutch"
    RUSSIAN = "russian"


OTHERS: tuple[Language, ...] = tuple(language for language in Language if language is not Language.ENGLISH)
"""All languages but English."""

STOP_WORDS: Mapping[Language, frozenset[str]] = {
    Language.ENGLISH: stop_words.ENGLISH,
    Language.GERMAN: stop_words.GERMAN,
    Language.SPANISH: stop_words.SPANISH,
    Language.FRENCH: stop_words.FRENCH,
    Language.ITALIAN: stop_words.ITALIAN,
    Language.PORTUGUESE: stop_words.PORTUGUESE,
    Language.DUTCH: stop_words.DUTCH,
    Language.RUSSIAN: stop_words.RUSSIAN,
}

# Function words of other languages that are also English words or abbreviations: they say nothing about the language of a text.
_ENGLISH_HOMOGRAPHS = (
    "ad ai ali alla allen ante ate aura ben bent bin car col com comment dado dan dice dies dis doe dont door dove "
    "era eras esse even fare fast fez font fora gab ha halt han hat hay heel hen ins later logo mag man mas meme met "
    "nas nee net non nun ons op ora per plus poi pour pro pure qua quest sag sage sea sean sera sim sin sob sola solo "
    "son sous soy state tale tales tan tel toe ton tun tut van vas vers want war"
)
# Words that occur in English texts now and then, most of them in names and titles ("Los Angeles", "Der Spiegel", "La La Land"): one
# or two of them do not tell the language of a text.
_WORDS_IN_NAMES = (
    "ab af al alle als au aux bei bien bis ce che chi ci con da dal das de degli dei del dell della delle dem den der "
    "des di die dit dos du echt ed el ella elle em en er es esa est esta este et eu fa fait fra gar gli hem ho hun il "
    "im io ir ja je kan la las le lei les li lo los ma mai mal mee mein mes mi mia mio mis mit mon na nada ne nell ni "
    "nos notre nu ob om os ou par para pas por que qui sa sai sans sao se sei ser ses si sta su sue sur são ta tal te "
    "tem ter tes ti todo tot tout tres tu tue um un una uno va vi von vor vos vous wat weil wer wo ya yo ze zo"
)

_LETTERS = {"¿": (Language.SPANISH, 3), "¡": (Language.SPANISH, 3), "ß": (Language.GERMAN, 2)}
_NO_CLUES = frozenset(_ENGLISH_HOMOGRAPHS.split())
_WEAK_CLUES = frozenset(_WORDS_IN_NAMES.split())


def language_of(pieces: Sequence[str]) -> Language:
    """The language of a text that was split at its spaces; English where it is not certain."""
    counted = sum(map(_COUNTS.__getitem__, pieces[:_MOST_PIECES]))
    return _most(counted, OTHERS, _CERTAIN) if counted > _FIELD else Language.ENGLISH


def certain_language_of(query: str, spoken: Collection[Language]) -> Language | None:
    """The language of a query, or None where it is not certain. Less is needed for a language that is `spoken` in the pool."""
    counted = sum(map(_COUNTS.__getitem__, query.split(" ", _MOST_PIECES)[:_MOST_PIECES]))
    if counted > _FIELD:
        for among, least in ((OTHERS, _CERTAIN), (spoken, _PERHAPS)):
            found = _most(counted, among, least)
            if found is not Language.ENGLISH:
                return found
    return Language.ENGLISH if counted & _FIELD else _by_stop_words(query, spoken)


def _by_stop_words(query: str, spoken: Collection[Language]) -> Language | None:
    """The spoken language of which a query has most stop words, also such as English has ("Was hat Anna ...?"), if two or more."""
    if not spoken:
        return None
    asked = words(query[:_LONGEST_PIECE])
    most, found = max(1, sum(word in STOP_WORDS[Language.ENGLISH] for word in asked)), None
    for language in spoken:
        count = sum(word in STOP_WORDS[language] for word in asked)
        if count > most:
            most, found = count, language
    return found


def _most(counted: int, among: Collection[Language], least: int) -> Language:
    """The language that was counted most, if it is one of `among` and was counted more than English, and at least so much."""
    most, found = max(least - 1, counted & _FIELD), Language.ENGLISH
    for at, language in enumerate(OTHERS, 1):
        count = counted >> at * _BITS & _FIELD
        if count > most and language in among:
            most, found = count, language
    return found


def _clues() -> dict[str, int]:
    """How much each function word counts for each language, as one number with a field per language; English is the lowest."""
    foreign = frozenset[str]().union(*(STOP_WORDS[language] for language in OTHERS))
    clues = dict.fromkeys(STOP_WORDS[Language.ENGLISH] - foreign, _CERTAIN)
    for at, language in enumerate(OTHERS, 1):
        for word in STOP_WORDS[language] - STOP_WORDS[Language.ENGLISH] - _NO_CLUES:
            clues[word] = clues.get(word, 0) + ((_PERHAPS if word in _WEAK_CLUES else _CERTAIN) << at * _BITS)
    return clues


class _Counts(WordCache[int]):
    """A cache of the sums of the clues in pieces of text, which are split at spaces. Only the beginning of a long piece counts."""

    def __init__(self) -> None:
        super().__init__(_KEPT_PIECES, _LONGEST_KEPT_PIECE)
        self._clues = _clues()
        self._letters = {
            letter: weight << (OTHERS.index(language) + 1) * _BITS for letter, (language, weight) in _LETTERS.items()
        }

    def computed(self, piece: str, /) -> int:
        beginning = piece[:_LONGEST_PIECE]
        found = sum(self._clues.get(word, 0) for word in words(beginning))
        if not beginning.isascii():
            found += sum(clue for letter, clue in self._letters.items() if letter in beginning)
        return found


_COUNTS = _Counts()
