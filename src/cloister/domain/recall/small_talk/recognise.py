"""Recognises small talk: a text that consists of phrases of small talk and nothing else."""

import unicodedata
from functools import cache

from cloister.domain.patterns import linear
from cloister.domain.recall.small_talk import other_languages, unspaced
from cloister.domain.recall.small_talk.english import ENGLISH
from cloister.domain.recall.small_talk.grammar import Grammar, vocabulary
from cloister.domain.recall.small_talk.phrases import ADDRESSING, OTHERS, UNSPACED, are_known_phrases

_MOST_CHARACTERS = 120
_MOST_WORDS = 16
_APOSTROPHES = str.maketrans("", "", "'’ʼ`´")
_SAME_CHARACTERS = str.maketrans({"您": "你", "妳": "你", "謝": "谢", "嗎": "吗", "們": "们", "樣": "样", "麼": "么"})
_WORD = linear(r"[^\W_]+")
_UNSPACED_TEXT = linear("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
Language = tuple[str, str, str]
"""The rules of a language, the name of its phrases, and the name of what may stand between phrases."""


def is_small_talk(query: str) -> bool:
    """Whether a query is only small talk, or has no words at all."""
    if len(query) > _MOST_CHARACTERS:
        return False
    text = query
    if not query.isascii():
        text = unicodedata.normalize("NFKC", query)
        if _UNSPACED_TEXT.search(text):
            return _is_unspaced_small_talk("".join(_WORD.findall(text)))
    original = _WORD.findall(text.translate(_APOSTROPHES))
    if not original:
        return True
    if len(original) > _MOST_WORDS:
        return False
    words = [word.casefold() for word in original]
    return are_known_phrases(original, words, asks="?" in text) or _follows_grammar(original, words)


def _follows_grammar(original: list[str], words: list[str]) -> bool:
    """Whether several words follow the grammar of a language. What may be a name is a word after the first, with a capital."""
    if len(words) == 1:
        return False
    names = [at > 0 and word[0].isupper() and not word.isupper() for at, word in enumerate(original)]
    words = [word if word.isascii() else _plain(word) for word in words]
    unnamed = {word for word, is_name in zip(words, names, strict=True) if not is_name}
    if not unnamed <= _all_words():
        return False
    possible = [number for number, known in enumerate(_vocabularies()) if known >= unnamed]
    return any(_grammar(number).matches(words, names) for number in possible)


def _is_unspaced_small_talk(text: str) -> bool:
    text = text.casefold().translate(_SAME_CHARACTERS)
    found = frozenset(text)
    return any(
        _characters(number) >= found and _unspaced_grammar(number).matches(text, [False] * len(text))
        for number in range(len(_UNSPACED))
    )


def _plain(word: str) -> str:
    """A word without accents."""
    return "".join(each for each in unicodedata.normalize("NFD", word) if not unicodedata.combining(each))


def _language(rules: str, phrases: str, between: str, table: str) -> Language:
    """The grammar of a language, with the phrases of a table."""
    return f"{rules}TABLE = {table}\nANY = {phrases}|TABLE\n", "ANY", between


def _table(*phrases: str) -> str:
    return "|".join(phrase for each in phrases for phrase in " ".join(each.split()).split("; "))


_LANGUAGES = (
    _language(ENGLISH, "TALK", "AND", _plain(_table(ADDRESSING, OTHERS))),
    *(_language(*language, _plain(_table(ADDRESSING))) for language in other_languages.LANGUAGES),
)
_UNSPACED = tuple(_language(*language, _table(UNSPACED).translate(_SAME_CHARACTERS)) for language in unspaced.LANGUAGES)


# Vocabularies are quickly made, and most queries have a word that is in none. A grammar takes some milliseconds.
@cache
def _vocabularies() -> tuple[frozenset[str], ...]:
    return tuple(vocabulary(rules) for rules, _, _ in _LANGUAGES)


@cache
def _all_words() -> frozenset[str]:
    return frozenset[str]().union(*_vocabularies())


@cache
def _characters(number: int) -> frozenset[str]:
    return frozenset("".join(vocabulary(_UNSPACED[number][0])))


@cache
def _grammar(number: int) -> Grammar:
    return Grammar(*_LANGUAGES[number])


@cache
def _unspaced_grammar(number: int) -> Grammar:
    return Grammar(*_UNSPACED[number], split=tuple)
