"""Observations without a model: the most informative sentence of every few messages."""

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

_GROUP_SIZE = 6
_FEWEST_MESSAGES = 3
_FEWEST_INFORMATIVE = 4
_MOST_INFORMATIVE = 14
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
    """At most one note for every six messages, in order: the speaker and a sentence in their own words, on one line."""
    parsed = [(statement, sentences(statement.content)) for statement in said]
    rarity = _rarity(parsed)
    found: list[tuple[str, tuple[MessageId, ...]]] = []
    for begin in range(0, len(parsed), _GROUP_SIZE):
        group = parsed[begin : begin + _GROUP_SIZE]
        if len(group) < _FEWEST_MESSAGES:
            break
        weighed = [(_weight(sentence, statement, rarity), statement, sentence) for statement, sentence in _each(group)]
        weight, statement, sentence = max(weighed, key=lambda candidate: candidate[0], default=(0.0, None, None))
        if weight and statement and sentence:
            found.append((f"{_speaker(statement)}: {shortened(sentence.text, _LONGEST)}", (statement.id,)))
    return found


def _each(group: Sequence[tuple[Statement, list[Sentence]]]) -> Iterator[tuple[Statement, Sentence]]:
    for statement, spoken in group:
        for sentence in spoken:
            if not (sentence.asked or sentence.heads or refusals.is_refused(sentence)):
                yield statement, sentence


def _rarity(parsed: Sequence[tuple[Statement, list[Sentence]]]) -> dict[str, float]:
    """The inverse document frequency of each word: the fewer messages contain it, the higher."""
    used = Counter(word for _, spoken in parsed for word in {w for s in spoken for w in _informative_words(s.text)})
    return {word: math.log(1 + len(parsed) / count) for word, count in used.items()}


def _weight(sentence: Sentence, statement: Statement, rarity: dict[str, float]) -> float:
    """How informative a sentence is, zero if too little. Names and numbers add weight; "you", hedges and assistants halve it."""
    informative = {word: rarity[word] for word in _informative_words(sentence.text)}
    if len(informative) < _FEWEST_INFORMATIVE:
        return 0.0
    highest = sorted(informative.values(), reverse=True)[:_MOST_INFORMATIVE]
    weight = sum(highest) / math.sqrt(len(highest))
    weight += math.log(1 + len(_NAME_OR_NUMBER.findall(sentence.text)))
    text = sentence.text
    halved = refusals.speaks_of_the_reader(text) + refusals.is_hedged(text) + (statement.role != "user")
    return weight / 2**halved


def _informative_words(text: str) -> list[str]:
    return [word for word in map(str.lower, _WORD.findall(text)) if word not in _COMMON]


def _speaker(statement: Statement) -> str:
    """The name if it is clearly one, else the role with the name in quotes."""
    name, role = statement.author, statement.role.capitalize()
    if name is None:
        return role
    return name if statement.role == "user" and is_plain_name(name) else f"{role} {in_quotes(name)}"
