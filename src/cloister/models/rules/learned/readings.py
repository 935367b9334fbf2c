"""What a message probably says about its sender where no pattern matches: read by classifiers, with what is known of them (MEM-12).

Patterns know wordings; a classifier weighs the words around a name, an occupation or a number, so that it also understands
sentences that nobody listed. It is asked after the patterns, and only about what they did not find.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cloister.domain.patterns import IGNORECASE, linear
from cloister.models.rules import refusals
from cloister.models.rules.changes.announcements import may_be_news
from cloister.models.rules.changes.stated import Family, Stated, overlap, value_words
from cloister.models.rules.changes.times import NOT_YET
from cloister.models.rules.grammar import expanded
from cloister.models.rules.learned.features import masked, of_span, of_text
from cloister.models.rules.learned.spans import Span, spans, tokens
from cloister.models.rules.learned.weights import Question, Weights, weights
from cloister.models.rules.sentences import Sentence

_MOST_TOGETHER = 3
_LONGEST_TOGETHER = 160
_MOST_KNOWN = 24
SURE = 0.95
LIKELY = 0.85
"""How likely a reading must be: of what nothing is known, and of what takes the place of a known value."""
_SAYS_I = linear(r"\b(?:i|my|me|our|we|us)\b", IGNORECASE)
_SAID_YES = linear(r"\b(?:she|he|they|i) said yes\b(?! to)", IGNORECASE)
_QUESTIONS: dict[str, Question] = {"name": "name", "workplace": "name", "role": "role", "number": "number"}
_FAMILIES: dict[str, Family] = {
    "home": "home",
    "former home": "home",
    "employer": "employer",
    "former employer": "employer",
    "role": "role",
    "former role": "role",
    "age": "age",
    "own name": "attribute",
}
_OLD: dict[Family, str] = {"home": "oldhome", "employer": "oldwork", "role": "oldrole", "age": "oldage"}
_NO_THING = frozenset(
    [
        "go",
        "to",
        "play",
        "drink",
        "eat",
        "us",
        "watch",
        "every",
        "day",
        "week",
        "do",
        "for",
        "in",
        "on",
        "at",
        "of",
        "lot",
        "with",
        "tak",
        "driv",
        "wear",
        "b",
        "not",
        "very",
        "much",
        "really",
        "often",
        "always",
    ]
)


_NOT_SO = linear(
    r"\b(?:want(?:s|ed)? to|wanting to|think(?:ing)? (?:of|about)|plan(?:s|ning)? (?:to|on|for)|hop(?:e|ing) to"
    r"|consider(?:ing)?"
    r"|dream(?:s|ing)? (?:of|about|home|job)|my dream|almost|nearly|by mistake|appl(?:y|ied|ying) (?:for|to|at)"
    r"|interview(?:ed|ing)?"
    r"|about to|by the time|looking (?:for|at)|looked at|used to dream|never|pretend|imagine|not yet|if"
    r"|when i (?:was|am)|will"
    r"|supposed to|trying to|tried to|have lived)\b",
    IGNORECASE,
)
"""What makes a statement a plan, a wish or a condition; classifiers are not trusted with these."""
_NO_HOME = linear(
    r"\b(?:holiday|vacation|airbnb|hotel|hostel|dream|second|also|another|rented out|summer (?:house|home)"
    r"|weekend|lovely flat"
    r"|conference|flying|flight|trip|visit(?:ing|ed)?|tonight|time zone|time for|last night|office|meeting"
    r"|layover)\b",
    IGNORECASE,
)
_AFTER_AGE = frozenset(
    [
        "<now>",
        "<past>",
        "years",
        "year",
        "and",
        "i",
        "but",
        ",",
        ".",
        "?",
        "!",
        ";",
        ":",
        "$",
        "or",
        "this",
        "it",
        "since",
        "of",
        "next",
        "last",
        "yo",
        "with",
        "on",
        "in",
        "feeling",
        "while",
        "happy",
        "still",
        "single",
    ]
)
_ONLY_IF_KNOWN: dict[str, Family] = {"number": "age", "role": "role"}
_NAMED = linear(r"\b[A-Z][a-z]")
_COUPLE = linear(
    r"\b(?:single|married|marry|engaged|divorc\w*|separated|split|broke|break|dump\w*|together|dating|seeing"
    r"|boyfriend|girlfriend"
    r"|partner|husband|wife|fianc\w+|ex|relationship|couple|item|wedding|vows|knot|hitched|eloped|ring|proposed"
    r"|question|widow\w*"
    r"|knot|taken|market|newlyweds?|bride|aisle|over|quits|ways|apart|remarried|yes|i do|passed away|died|solo"
    r"|dated|going out)\b",
    IGNORECASE,
)
_TIED = frozenset({"<while>", "<later>", "<long>", "today"})
SURE_OF_CHANGE = 0.97
CERTAIN = 0.98
"""How likely a change of a liking or habit must be, and how likely if patterns found another one in the message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What a text says: `what` is a class of `weights.CLASSES`, `value` the name, occupation or number, `text` the whole text."""

    what: str
    value: str
    chance: float
    text: str

    @property
    def family(self) -> Family:
        return _FAMILIES.get(self.what, "relationship")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reversal:
    """That the speaker no longer likes or does something known, or does again: `at` is its number among the known ones."""

    at: int
    chance: float
    text: str


def texts(said: Sequence[Sentence], known: Sequence[Stated]) -> list[str]:
    """What classifiers read of a message, in the speaker's own voice, as statements: nothing of a longer one, as they learned from
    short ones. What cannot state anything is left out first: most messages end here."""
    kept: list[Sentence] = []
    for sentence in said:
        if refusals.hands_over_the_voice(sentence):
            break
        kept.append(refusals.as_statement(sentence))
    if len(kept) > _MOST_TOGETHER or sum(len(one.text) for one in kept) > _LONGEST_TOGETHER:
        return []
    if not any(_may_state(one.text, known) for one in kept) or refusals.is_a_text_to_work_on([*said]):
        return []
    stated = [f"{expanded(one.text)}{'?' if one.asked else '.'}" for one in kept if not _is_refused(one)]
    together = " ".join(stated)
    return [together] if stated else []


def _may_state(text: str, known: Sequence[Stated]) -> bool:
    """Whether a sentence may be about the speaker and has a name in it, or the words for a couple, or something is known."""
    return bool(known or _NAMED.search(text, 1) or _COUPLE.search(text)) and may_concern(text, known)


def _is_refused(sentence: Sentence) -> bool:
    text = _SAID_YES.sub("agreed", expanded(sentence.text))
    return (
        refusals.is_refused(sentence)
        or refusals.is_hedged(text)
        or refusals.invalidates_rest(text)
        or bool(_NOT_SO.search(text) or NOT_YET.search(text))
    )


def readings(parts: Sequence[str], known: Sequence[Stated]) -> Iterator[Reading]:
    """What the parts of a message say of the speaker's home, employer, role, age, name and relationship; `known` is true until
    now. Without a known one, an age, an occupation or a name is left to patterns."""
    for text in parts:
        if may_concern(text, known):
            yield from _of_text(text, known, weights())


def may_concern(text: str, known: Sequence[Stated]) -> bool:
    """Whether the text may be about the speaker: in the first person, news without "I", or about a value that is known."""
    if _SAYS_I.search(text) or may_be_news(text):
        return True
    said = frozenset(value_words(text))
    return any(one.words and said.issuperset(one.words) for one in known)


def _of_text(text: str, known: Sequence[Stated], trained: Weights) -> Iterator[Reading]:
    found = tokens(text)
    candidates = spans(found, trained.common, trained.names)
    concerns_couple = bool(_COUPLE.search(text)) or any(one.family == "relationship" for one in known)
    if not candidates and not concerns_couple:
        return
    families = {one.family for one in known}
    old = {(span.begin, span.end): kind for span in candidates if (kind := _known_as(span, known))}
    words = masked(found, candidates, old)
    if not words:
        return
    for number, span in enumerate(candidates):
        if span.type in _ONLY_IF_KNOWN and _ONLY_IF_KNOWN[span.type] not in families:
            continue
        features = of_span(words, number)
        if features is None or _is_of_another(words, number, span):
            continue
        chances = trained.chances(_QUESTIONS[span.type], features)
        _prefer_known(chances, old)
        what = max(chances, key=lambda one: chances[one])
        if what != "none" and not (what == "home" and _NO_HOME.search(text)):
            yield Reading(what=what, value=span.value, chance=chances[what], text=text)
    if "<relative>" in words or not concerns_couple:
        return
    chances = trained.chances("status", of_text(words))
    status = max(chances, key=lambda one: chances[one])
    if status != "none":
        yield Reading(what=status, value="", chance=chances[status], text=text)


def _is_of_another(words: Sequence[str], number: int, span: Span) -> bool:
    """Whether the text is about somebody else, or a number is a relative's age or counts something else than years."""
    is_other = words[0] in ("<relative>", "they") or (
        words[0].startswith("<person#") and words[0] != f"<person#{number}>"
    )
    if is_other and "i" not in words:
        return True
    if span.type != "number":
        return False
    at = next(at for at, word in enumerate(words) if word.endswith(f"#{number}>"))
    following = words[at + 1] if at + 1 < len(words) else "$"
    is_birthday = following.startswith(("birthday", "bday", "candle"))
    return "<relative>" in words or not (following in _AFTER_AGE or is_birthday)


def _known_as(span: Span, known: Sequence[Stated]) -> str | None:
    """The kind of known value that a candidate is."""
    words = value_words(span.value)
    for one in known:
        if one.positive and overlap(words, one.words):
            if one.family == "attribute" and one.subject in ("name", "called", "first name", "last name"):
                return "oldname"
            if one.family == "relationship" and span.type == "name":
                return "oldlove"
            if one.family in _OLD and (one.family == "age") is (span.type == "number"):
                return _OLD[one.family]
    return None


def _prefer_known(chances: dict[str, float], old: dict[tuple[int, int], str]) -> None:
    """Of a home and an employer it is the one of which the text names the known value."""
    kinds = set(old.values())
    for prefers, other, kind, no in (
        ("home", "employer", "oldhome", "oldwork"),
        ("employer", "home", "oldwork", "oldhome"),
    ):
        if prefers in chances and kind in kinds and no not in kinds:
            chances[prefers] += chances[other]
            chances[other] = 0.0


def reversals(parts: Sequence[str], known: Sequence[Stated]) -> Iterator[Reversal]:
    """Which of the known likings and habits the message says to have ended, or to be true again."""
    for at, one in list(enumerate(known))[-_MOST_KNOWN:]:
        heads = [word for word in one.words if word not in _NO_THING]
        for text in parts if heads else ():
            if not _mentions(text, heads) or not _SAYS_I.search(text):
                continue
            found = tokens(text)
            words = with_known(masked(found, spans(found, weights().common, frozenset())), heads)
            if "<known>" not in words or not _TIED.isdisjoint(words) or "today" in text.lower():
                continue
            chances = weights().chances("change", of_text(words))
            yield Reversal(at=at, chance=chances["stopped" if one.positive else "started"], text=text)


def _mentions(text: str, heads: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(head[:4] in folded for head in heads)


def with_known(words: Sequence[str], heads: Sequence[str]) -> list[str]:
    """The words with what is known from before masked."""
    result: list[str] = []
    for word in words:
        known = word[0] != "<" and any(word == head or (len(head) > 2 and word[:4] == head[:4]) for head in heads)
        if not known:
            result.append(word)
        elif result[-1:] != ["<known>"]:
            result.append("<known>")
    return result
