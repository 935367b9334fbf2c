"""Observations without a model: of each stretch of a conversation, the one sentence that carries most."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.patterns import linear
from cloister.domain.prompts.speaker import in_quotes, is_plain_name
from cloister.models.rules import refusals
from cloister.models.rules.sentences import Sentence, sentences, shortened
from cloister.models.rules.tables.notation import words

STRETCH = 6
_FEWEST_MESSAGES = 3
_FEWEST_TELLING = 4
_MOST_TELLING = 14
_LONGEST = 200
_WORD = linear(r"[^\W_][\w'-]{2,40}")
_NAME_OR_NUMBER = linear(r"(?<=\w )(?:[A-ZÀ-Þ]\w+|\d[\d.,:]*)")
_COMMON = words(
    "the and for are was were but not you your yours all any can had has have her his him how its our out she they them this "
    "that these those there then than too very what when where which who whom why will with would could should from into "
    "just like also about been being did does doing done get got going here i'm i've i'll i'd it's let's really some such "
    "sure thanks thank yeah yes well know think good great nice make made much more most one only over own say said see something "
    "sounds still take thing things time too try want way yet"
)


def notes(said: Sequence[Statement]) -> list[tuple[str, tuple[MessageId, ...]]]:
    """At most one note for every six messages, in order: the speaker and their own words, on one line."""
    told = [(statement, sentences(statement.content)) for statement in said]
    rarity = _rarity(told)
    found: list[tuple[str, tuple[MessageId, ...]]] = []
    for begin in range(0, len(told), STRETCH):
        stretch = told[begin : begin + STRETCH]
        if len(stretch) < _FEWEST_MESSAGES:
            break
        weighed = [
            (_weight(sentence, statement, rarity), statement, sentence) for statement, sentence in _each(stretch)
        ]
        weight, statement, sentence = max(weighed, key=lambda candidate: candidate[0], default=(0.0, None, None))
        if weight and statement and sentence:
            found.append((f"{_speaker(statement)}: {shortened(sentence.text, _LONGEST)}", (statement.id,)))
    return found


def _each(stretch: Sequence[tuple[Statement, list[Sentence]]]) -> Iterator[tuple[Statement, Sentence]]:
    for statement, told in stretch:
        for sentence in told:
            if not (sentence.asked or sentence.heads or refusals.is_refused(sentence)):
                yield statement, sentence


def _rarity(told: Sequence[tuple[Statement, list[Sentence]]]) -> dict[str, float]:
    """How telling a word is here: the fewer messages use it, the more."""
    used = Counter(word for _, sentences_told in told for word in {w for s in sentences_told for w in _telling(s.text)})
    return {word: math.log(1 + len(told) / count) for word, count in used.items()}


def _weight(sentence: Sentence, statement: Statement, rarity: dict[str, float]) -> float:
    """Zero for what tells too little. Names and numbers count more, what speaks to the reader half, and so does the assistant."""
    telling = {word: rarity[word] for word in _telling(sentence.text)}
    if len(telling) < _FEWEST_TELLING:
        return 0.0
    weight = sum(sorted(telling.values(), reverse=True)[:_MOST_TELLING]) / math.sqrt(min(len(telling), _MOST_TELLING))
    weight += math.log(1 + len(_NAME_OR_NUMBER.findall(sentence.text)))
    halved = (
        refusals.speaks_of_the_reader(sentence.text) + refusals.is_hedged(sentence.text) + (statement.role != "user")
    )
    return weight / 2**halved


def _telling(text: str) -> list[str]:
    return [word for word in map(str.lower, _WORD.findall(text)) if word not in _COMMON]


def _speaker(statement: Statement) -> str:
    """By name where it can be read as nothing else, else with the role."""
    name, role = statement.author, statement.role.capitalize()
    if name is None:
        return role
    return name if statement.role == "user" and is_plain_name(name) else f"{role} {in_quotes(name)}"
