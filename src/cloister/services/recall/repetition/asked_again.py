"""Recognises messages that only ask the question again, and replies that only say that its answer is not known (CTX-7).

Both have the words of the question, often all of them, and would take the first places before its answer.
"""

from collections.abc import Iterable, Sequence
from functools import cache, cached_property, lru_cache
from typing import Literal

from cloister.domain.recall.small_talk import is_small_talk
from cloister.domain.recall.wording.questions import LONGEST_QUESTION, asks, requests, sentences, wishes
from cloister.domain.recall.wording.requests import ATTRIBUTE_WORDS, REQUEST_WORDS, UNSPACED_REQUESTS
from cloister.domain.recall.wording.unknowing import (
    KNOWS_NOT,
    KNOWS_NOT_WORDS,
    OFFERS,
    UNKNOWING,
    UNKNOWING_WORDS,
    says_only_unknowing,
)
from cloister.index import terms

# The share of the words of a question that has to be in the other one for both to ask the same.
_SAME_QUESTION = 0.6
# The same share of the words of its subject, for a question that has other words too.
_SAME_SUBJECT = 0.75
_SPACE_AROUND = 16
# A greeting before a question may have so many words that the question does not have.
_MOST_IN_GREETING = 4
_NO_NAMES = frozenset({"i", "i'm", "i’m", "i've", "i'd", "i'll", "hi", "hey", "hello", "thanks", "please"})
_PARTICLES = frozenset("的了是吗呢么吧啊在有我你您他她它们这那哪什多少几谁何")
_NEGATION_WORDS = """
no not never none nobody nothing neither nor without cannot cant don didn doesn isn aren wasn weren won wouldn couldn shouldn haven
hasn hadn ain nicht kein keine nie niemals nunca nada pas jamais non mai não niet geen
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_MARKS = frozenset(terms.LANGUAGE_TERMS.values())
_LANGUAGES = tuple(terms.Language)
# A text without any of these denies nothing; most messages are not looked at further.
_NEGATING = (
    *(
        "n't",
        "n’t",
        "not",
        "no ",
        "No ",
        "never",
        "unable",
        "nicht",
        "kein",
        "Kein",
        "pas",
        "aucun",
        "non ",
        "Non ",
        "ness",
    ),
    *("ão", "niet", "geen", "не ", "Не ", "нет", "不", "没", "無", "无", "未", "ません", "ない", "存じ"),
)
_NEGATING_IN_ASCII = tuple(filter(str.isascii, _NEGATING))
_GOES_ON = (";", ":", " but ", " aber ", " pero ", " mais ", " ma ", " mas ", " maar ", " но ", "但", "が、", "けど")
_WISHES = frozenset(
    {"need", "needs", "want", "wants", "forgot", "forget", "forgotten", "wonder", "looking", "searching"}
)


def negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))


def has_negation(text: str) -> bool:
    return "n't" in text or "n’t" in text or any(map(negates, terms.words(text)))


@cache
def request_terms() -> frozenset[int]:
    """The terms of words that say that something is asked for, but not what."""
    return _terms_of(REQUEST_WORDS)


@cache
def _requests_and_marks() -> frozenset[int]:
    return request_terms() | _MARKS


@cache
def _attribute_terms() -> frozenset[int]:
    """The terms of words for what may be asked of a thing."""
    return _terms_of(ATTRIBUTE_WORDS)


@cache
def _unknowing_terms() -> frozenset[int]:
    """Also function words of other languages: a short reply is often taken for English."""
    return _terms_of(UNKNOWING_WORDS | _foreign_words()) | request_terms()


@cache
def _foreign_words() -> frozenset[str]:
    """The function words of other languages than English."""
    return frozenset[str]().union(*(terms.STOP_WORDS[language] for language in terms.OTHERS))


def _terms_of(words: Iterable[str]) -> frozenset[int]:
    """The terms of words in every language."""
    return frozenset[int]().union(*map(_terms_of_word, words))


# Of words that people ask with, which are few. The terms of a word do not depend on who asks.
@lru_cache(maxsize=2_048)
def _terms_of_word(word: str) -> frozenset[int]:
    return frozenset(terms.term(word, language) for language in _LANGUAGES) - {0}


class AskedWords:
    """The words of the query, in the forms that messages are compared with; each is made when it is needed."""

    def __init__(self, question: str) -> None:
        self.text = question

    @cached_property
    def is_question(self) -> bool:
        return is_question(self.text) or ends_asking(self.text)

    @cached_property
    def has_negation(self) -> bool:
        return has_negation(self.text)

    @cached_property
    def _spoken(self) -> str:
        """The text without greetings and thanks."""
        found = sentences(self.text)
        if len(found) == 1 and found[0] == self.text:  # most questions: all of it, whatever it is
            return self.text
        return " ".join(each for each in found if not is_small_talk(each)) or self.text

    @cached_property
    def terms(self) -> frozenset[int]:
        return frozenset(terms.term_list(self._spoken)) - _MARKS

    @cached_property
    def any_terms(self) -> frozenset[int]:
        """The terms in every language: that of a short text is not certain."""
        return self.terms.union(*self._by_word.values())

    @cached_property
    def subject(self) -> Sequence[frozenset[int]]:
        """The words that say what is asked for, or all if there are no others, each as its terms in every language."""
        words = [word for word, found in self._by_word.items() if not self.terms.isdisjoint(found)]
        asked = [word for word in words if word not in _foreign_words() and word not in REQUEST_WORDS]
        things = [word for word in asked if word not in ATTRIBUTE_WORDS]
        return [self._by_word[word] for word in things or asked or words]

    def others(self, found: frozenset[int]) -> frozenset[int]:
        """The terms that a message which asks the same does not have: neither the question's own nor of requests."""
        return found - self.any_terms - _requests_and_marks()

    @cached_property
    def characters(self) -> frozenset[str]:
        return _content_characters(self.text)

    def share_of_subject(self, found: frozenset[int]) -> float:
        """The share of the subject's words that these terms have."""
        return sum(not each.isdisjoint(found) for each in self.subject) / max(len(self.subject), 1)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(terms.words(self._spoken))

    @cached_property
    def _by_word(self) -> dict[str, frozenset[int]]:
        """The terms of each word in every language."""
        return {word: _terms_of_word(word) for word in sorted(self.words)}


def may_ask(text: str) -> bool:
    """Whether a text is short enough for a question, and has a question mark or begins as a question or request does. Most
    messages are not looked at further."""
    if len(text) > LONGEST_QUESTION + _SPACE_AROUND:
        return False
    if "?" in text or (not text.isascii() and ("？" in text or "؟" in text)):
        return True
    stripped = text.strip()
    return bool(stripped) and asks(stripped)


def is_question(text: str) -> bool:
    """Whether a text consists of questions and requests, besides greetings and thanks."""
    if not may_ask(text):
        return False
    found = sentences(text)
    asking = [asks(sentence) for sentence in found]
    return any(asking) and all(a or is_small_talk(sentence) for a, sentence in zip(asking, found, strict=True))


def ends_asking(text: str) -> bool:
    """Whether the last sentence that is no greeting or thanks asks, whatever was said before it."""
    if not may_ask(text):
        return False
    for sentence in reversed(sentences(text)):
        if asks(sentence):
            return True
        if not is_small_talk(sentence):
            return False
    return False


def repeats(text: str, found: frozenset[int], question: AskedWords) -> bool:
    """Whether a message, of which these are the terms, only asks the same again, and says nothing that the question does not say. A
    query that is no question, but some words to find, is not asked again by a message with these words."""
    # In this order, because most messages have other words.
    has_same = _has_same_characters(text, question) if is_unspaced(text) else _has_same_words(text, found, question)
    if not has_same or not question.is_question:
        return False
    if not ends_asking(text) or has_negation(text) != question.has_negation:
        return False
    # "I need the code" answers who needs it: the word by which something is asked for is not one that is asked for.
    wishes = [sentence for sentence in sentences(text) if requests(sentence)]
    return not any(_WISHES & question.words & frozenset(terms.words(wish)) for wish in wishes)


def _has_same_words(text: str, found: frozenset[int], question: AskedWords) -> bool:
    more = question.others(found)
    if len(more) > _MOST_IN_GREETING or question.share_of_subject(found) < _SAME_QUESTION:
        return False
    if not more:
        return True
    spoken = " ".join(sentence for sentence in sentences(text) if not is_small_talk(sentence))
    return not question.others(frozenset(terms.term_list(spoken))) and bool(spoken)


def _has_same_characters(text: str, question: AskedWords) -> bool:
    """Pairs of characters, which are the terms of scripts without spaces, depend on particles between words."""
    found = _content_characters(text)
    return bool(found) and found <= question.characters and len(found) >= _SAME_QUESTION * len(question.characters)


def _content_characters(text: str) -> frozenset[str]:
    """The characters of a text without those of particles, endings and requests."""
    for phrase in UNSPACED_REQUESTS:
        text = text.replace(phrase, "")
    return frozenset(each for each in text.lower() if each.isalnum() and not "\u3040" <= each <= "\u309f") - _PARTICLES


def asks_about(text: str, found: frozenset[int], question: AskedWords) -> Literal["same", "subject"] | None:
    """Whether a message, of which these are the terms, is a question about the same subject, or asks the same in other words:
    it has nearly all words of the question's subject, and not many others. What looks for some words and asks nothing is not
    asked in other words either."""
    common = found & question.any_terms
    said = (found - request_terms()) | common
    if 2 * len(common) < len(said) or not is_question(text) or _states_something(text, question):
        return None
    is_same = question.is_question and question.share_of_subject(found) >= _SAME_SUBJECT
    return "same" if is_same and not _names_something(text, question) else "subject"


def _states_something(text: str, question: AskedWords) -> bool:
    """Whether a wish says more than what is asked for: "I need the code 4417", "I forgot my keys at Ben's"."""
    return any(
        not _attribute_terms().issuperset(question.others(frozenset(terms.term_list(each))))
        for each in sentences(text)
        if wishes(each)
    )


def _names_something(text: str, question: AskedWords) -> bool:
    """Whether a message has a number or a name that the question does not have: "Is the code 4417?"."""
    words = text.split()
    named = (word for at, word in enumerate(words) if any(map(str.isdigit, word)) or (at and word[0].isupper()))
    return any(
        not question.words.issuperset(terms.words(word))
        for word in named
        if word.casefold().strip("'’") not in _NO_NAMES
    )


def does_not_know(text: str, question: AskedWords) -> bool:
    """Whether a reply only says that the answer is not known, asks for it, or offers help: "I'm sorry, I don't know the code. Could
    you tell me?" It has no other word that the question does not have."""
    if len(text) > LONGEST_QUESTION or not _may_negate(text):
        return False
    unspaced = is_unspaced(text)
    found = frozenset[int]() if unspaced else frozenset(terms.term_list(text)) - _MARKS
    others = found - _unknowing_terms()
    if others and not question.any_terms.issuperset(others):
        return False
    more = found - question.any_terms
    said = sentences(text)
    unknowing = [_says_unknowing(sentence, question) for sentence in said]
    if not any(unknowing) or not all(
        known or asks(sentence) or OFFERS.match(sentence) or is_small_talk(sentence)
        for known, sentence in zip(unknowing, said, strict=True)
    ):
        return False
    if unspaced:
        return all(says_only_unknowing(sentence, question.text) for sentence in said)
    return bool(more) or (KNOWS_NOT.search(text) is not None and KNOWS_NOT_WORDS.isdisjoint(question.words))


def _may_negate(text: str) -> bool:
    return any(map(text.__contains__, _NEGATING_IN_ASCII if text.isascii() else _NEGATING))


def _says_unknowing(sentence: str, question: AskedWords) -> bool:
    """Whether a sentence says so, and neither says something about the question before nor goes on to something else."""
    found = UNKNOWING.search(sentence)
    if found is None or any(mark in sentence[found.end() : -1] for mark in _GOES_ON):
        return False
    before, comma, _ = sentence[: found.start()].rpartition(",")
    return not comma or question.any_terms.isdisjoint(terms.term_list(before))


def is_unspaced(text: str) -> bool:
    return not text.isascii() and any("\u3040" <= character <= "\u9fff" for character in text)
