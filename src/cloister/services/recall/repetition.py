"""Recognises messages that say the same again, and messages that only repeat the question or do not know its answer (CTX-7).

Two messages say the same if they have the same words in the same order, apart from case, punctuation and words of politeness;
long ones also if they differ in a word of ten. Messages of different speakers never say the same. Words of one letter
or digit count, though the index does not have them: "Team A" is not "Team B".
"""

from collections.abc import Hashable
from functools import cache, cached_property

from cloister.domain.conversation import Message
from cloister.domain.patterns import IGNORECASE, linear
from cloister.index import terms

_LONGEST_COMPARED = 8_192
_LONG = 12
_SAME_SHARE = 0.9
_LONGEST_QUESTION = 400
# The share of the words of a question that has to be in the other one for both to ask the same.
_SAME_QUESTION = 0.6
_POLITE = frozenset(
    ("a", "an", "the", "please", "hi", "hello", "hey", "well", "so", "oh", "um", "just", "then", "ok", "okay", "thanks")
)
_NEGATION_WORDS = """
no not never none nobody nothing neither nor without cannot cant don didn doesn isn aren wasn weren won wouldn couldn shouldn haven
hasn hadn ain nicht kein keine nie niemals nunca nada pas jamais non mai não niet geen
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_ASKS = linear(
    r"\s{0,8}(?:please[\s,]{1,4})?(?:(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|"
    r"has|have|had|should|shall|may|any)\b|(?:tell|remind|show|give)\s+me\b)",
    IGNORECASE,
)
# The first letters of what `_ASKS` matches, which are tested before it.
_ASKING_LETTERS = frozenset("wihadcsmprtg")
_UNKNOWING = """
know known sure sorry apologize apologise idea unfortunately afraid information info remember recall find found see access tell told
provide provided mention mentioned share shared answer help assist context detail details memory record records conversation
previous previously personal currently available unable able let
"""
_DOES_NOT_KNOW = linear(
    r"\s{0,8}(?:(?:(?:i['’]m|i\s+am)\s+)?(?:so\s+|very\s+)?(?:sorry|afraid)|unfortunately|i\s+apologi[sz]e)?[\s,.!]{0,4}(?:but\s+)?(?:that\s+)?"
    r"(?:i|we)(?:\s+do(?:n['’]t|\s+not)|\s+can(?:not|['’]t|\s+not)|['’]m\s+not|\s+am\s+not|\s+have\s+no|\s+haven['’]t|\s+could(?:n['’]t|\s+not))\b",
    IGNORECASE,
)
_QUESTION_MARKS = ("?", "？", "؟")
_SENTENCE_ENDS = (". ", "! ", "。", "！")
_CLOSING = "\"'”’)»] \n\r\t"
_PUNCTUATION = ".,;:!?…\"'`()[]{}<>«»“”„‘’*_~。！？、，؟"


@cache
def _unknowing_terms() -> frozenset[int]:
    return frozenset(terms.term_list(_UNKNOWING))


class Said:
    """A message's words in the forms that are compared. What is needed of few messages is made when it is asked for."""

    __slots__ = ("_set_found", "_speaker", "_terms_found", "_text", "_words", "is_question", "key")

    def __init__(self, message: Message, user: str | None) -> None:
        self._text = message.content[:_LONGEST_COMPARED]
        self._speaker = (message.role, user, message.author)
        self._words = [
            piece if piece.isalnum() else piece.strip(_PUNCTUATION) or piece for piece in self._text.lower().split()
        ]
        self._terms_found: frozenset[int] | None = None
        self._set_found: frozenset[str] | None = None
        self.is_question = _is_question(self._text)
        """Whether the message only asks."""
        words = self._words
        if not _POLITE.isdisjoint(words):
            words = [word for word in words if word not in _POLITE] or words
        self.key: Hashable = (self._speaker, self.is_question, " ".join(words))
        """Equal for messages that say the same in the same words."""

    @property
    def is_long(self) -> bool:
        return len(self._words) >= _LONG

    def is_nearly(self, other: "Said") -> bool:
        """Whether two long messages of one speaker differ in few words. Other numbers, names or negations are another statement."""
        if (
            self._speaker != other._speaker
            or not (self.is_long and other.is_long)
            or self.is_question != other.is_question
        ):
            return False
        ours, theirs = self._set, other._set
        if abs(len(ours) - len(theirs)) > (1 - _SAME_SHARE) * (len(ours) + len(theirs)):
            return False
        different = ours ^ theirs
        if len(different) > (1 - _SAME_SHARE) * (len(ours) + len(theirs)):
            return False
        if different & (self._capitalised() | other._capitalised()):
            return False
        return not any(len(word) == 1 or _negates(word) or any(map(str.isdigit, word)) for word in different)

    def repeats(self, question: "AskedWords") -> bool:
        """Whether the message only asks the same again, and says nothing that the question does not say. A query that is no
        question, but some words to find, is not asked again by a message with these words."""
        return (
            question.is_question
            and self.is_question
            and bool(self._terms)
            and self._terms <= question.terms
            and self._has_negation() == question.has_negation
            and (len(self._terms) >= _SAME_QUESTION * len(question.terms))
        )

    def does_not_know(self, question: "AskedWords") -> bool:
        """Whether the message is an assistant's, and only says that the answer is not known: "I'm sorry, I don't know the code." It
        begins so and is one sentence, without another word that the question does not have."""
        if self._speaker[0] != "assistant" or len(self._text) > _LONGEST_QUESTION:
            return False
        begins = _DOES_NOT_KNOW.match(self._text)
        if begins is None:
            return False
        rest = self._text[begins.end() :].rstrip(_CLOSING)
        if any(mark in rest[:-1] for mark in (*_SENTENCE_ENDS, "? ", ";", ":", " but ", "\n")):
            return False
        more = self._terms - question.terms
        return bool(more) and more <= _unknowing_terms()

    def asks_about(self, question: "AskedWords") -> bool:
        """Whether the message is a question about the same subject."""
        return self.is_question and 2 * len(self._terms & question.terms) >= max(len(self._terms), 1)

    def _has_negation(self) -> bool:
        return any(map(_negates, self._words))

    def _capitalised(self) -> frozenset[str]:
        pieces = (piece.strip(_PUNCTUATION) for piece in self._text.split())
        return frozenset(word.lower() for word in pieces if word and word[0].isupper())

    @property
    def _set(self) -> frozenset[str]:
        if self._set_found is None:
            self._set_found = frozenset(self._words)
        return self._set_found

    @property
    def _terms(self) -> frozenset[int]:
        if self._terms_found is None:
            self._terms_found = frozenset(terms.term_list(self._text))
        return self._terms_found


class AskedWords:
    """The terms of the query, which are made when they are needed, and whether it is a question."""

    def __init__(self, question: str) -> None:
        self._text = question
        self.is_question = _is_question(question)

    @cached_property
    def has_negation(self) -> bool:
        return any(map(_negates, terms.words(self._text))) or "n't" in self._text

    @cached_property
    def terms(self) -> frozenset[int]:
        return frozenset(terms.term_list(self._text))


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))


def _is_question(text: str) -> bool:
    """Whether a text is one sentence that ends with a question mark or begins as a question does."""
    end = text.rstrip(_CLOSING)
    if not end or len(end) > _LONGEST_QUESTION:
        return False
    ends_asking = end[-1] in _QUESTION_MARKS
    if not ends_asking and (text.lstrip()[:1].lower() not in _ASKING_LETTERS or _ASKS.match(text) is None):
        return False
    inner = end.strip()[:-1]
    if "\n" in inner or any(mark in inner for mark in _SENTENCE_ENDS):
        return False
    return ends_asking or not any(mark in inner for mark in _QUESTION_MARKS)
