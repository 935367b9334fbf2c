"""Recognises messages that say the same again, and messages that only repeat the question or do not know its answer (CTX-7).

Two messages say the same if they have the same words in the same order, apart from case, punctuation, endings and words of
politeness; long ones also if they differ in a word of ten. Messages of different speakers never say the same. Words of one letter
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
_UNKNOWING = """
know known sure sorry apologize apologise idea unfortunately afraid information info remember recall find found see access tell told
provide provided mention mentioned share shared answer help assist context detail details memory record records conversation
previous previously personal currently available unable able let
"""
_QUESTION_MARKS = ("?", "？", "؟")
_SENTENCE_ENDS = (". ", "! ", "。", "！")
_CLOSING = "\"'”’)»] "
_PUNCTUATION = ".,;:!?…\"'`()[]{}<>«»“”„‘’*_~。！？、，؟"


@cache
def _unknowing_terms() -> frozenset[int]:
    return frozenset(terms.term_list(_UNKNOWING))


class Said:
    """A message's words in the forms that are compared; each is made when it is first needed."""

    def __init__(self, message: Message, user: str | None) -> None:
        self._text = message.content[:_LONGEST_COMPARED]
        self._speaker = (message.role, user, message.author)

    @cached_property
    def key(self) -> Hashable:
        """Equal for messages that say the same in the same words."""
        kept = tuple(terms.term(word) or word for word in self._words if word not in _POLITE)
        return (self._speaker, kept or self._text)

    def is_nearly(self, other: "Said") -> bool:
        """Whether two long messages of one speaker differ in few words. Other numbers, names or negations are another statement."""
        if self._speaker != other._speaker or min(len(self._set), len(other._set)) < _LONG:
            return False
        different = self._set ^ other._set
        if len(different) > (1 - _SAME_SHARE) * (len(self._set) + len(other._set)):
            return False
        if different & (self._capitalised | other._capitalised) or not _NEGATIONS.isdisjoint(
            terms.words(" ".join(different))
        ):
            return False
        return not any(len(word) == 1 or any(map(str.isdigit, word)) for word in different)

    @cached_property
    def is_question(self) -> bool:
        """Whether the message only asks."""
        return _is_question(self._text)

    def repeats(self, question: "AskedWords") -> bool:
        """Whether the message only asks the same again, and says nothing that the question does not say. A query that is no
        question, but some words to find, is not asked again by a message with these words."""
        return (
            question.is_question
            and self.is_question
            and bool(self._terms)
            and self._terms <= question.terms
            and (len(self._terms) >= _SAME_QUESTION * len(question.terms))
        )

    def does_not_know(self, question: "AskedWords") -> bool:
        """Whether the message only says that the answer is not known: "I'm sorry, I don't know the gate code." """
        more = self._terms - question.terms
        return (
            bool(more)
            and len(self._text) <= _LONGEST_QUESTION
            and more <= _unknowing_terms()
            and not _NEGATIONS.isdisjoint(terms.words(self._text))
        )

    def asks_about(self, question: "AskedWords") -> bool:
        """Whether the message is a question about the same subject."""
        return self.is_question and 2 * len(self._terms & question.terms) >= max(len(self._terms), 1)

    @cached_property
    def _original(self) -> list[str]:
        return [word for piece in self._text.split() if (word := piece.strip(_PUNCTUATION))]

    @cached_property
    def _words(self) -> list[str]:
        return [word.lower() for word in self._original]

    @cached_property
    def _capitalised(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self._original if word[0].isupper())

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(self._words)

    @cached_property
    def _terms(self) -> frozenset[int]:
        return frozenset(terms.term_list(self._text))


class AskedWords:
    """The terms of the query, and whether it is a question."""

    def __init__(self, question: str) -> None:
        self.terms = frozenset(terms.term_list(question))
        self.is_question = _is_question(question)


def _is_question(text: str) -> bool:
    """Whether a text is one sentence that ends with a question mark or begins as a question does."""
    text = text.strip()
    if len(text) > _LONGEST_QUESTION or "\n" in text:
        return False
    end = text.rstrip(_CLOSING)
    if any(mark in end[:-1] for mark in _SENTENCE_ENDS):
        return False
    if end.endswith(_QUESTION_MARKS):
        return True
    return _ASKS.match(text) is not None and not any(mark in end for mark in _QUESTION_MARKS)
