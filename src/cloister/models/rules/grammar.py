"""English grammar: contractions, verb forms and pronouns, to turn the first person into the third."""

from dataclasses import dataclass
from typing import Literal

from cloister.domain.patterns import IGNORECASE, anchored, linear
from cloister.models.rules.tables.notation import words

Person = Literal["I", "he", "they"]

_NEGATIONS = {"can't": "cannot", "won't": "will not", "shan't": "shall not", "ain't": "am not"}
_NOT = linear(r"\b(can't|won't|shan't|ain't|\w+n't)\b", IGNORECASE)
_CONTRACTED = (
    (linear(r"\b(i)'m\b", IGNORECASE), r"\1 am"),
    (linear(r"\b(i|we|they|you)'ve\b", IGNORECASE), r"\1 have"),
    (linear(r"\b(i|we|they|you|he|she)'ll\b", IGNORECASE), r"\1 will"),
    (linear(r"\b(i|we|they|you|he|she)'d\b", IGNORECASE), r"\1 would"),
    (linear(r"\b(we|they|you)'re\b", IGNORECASE), r"\1 are"),
    (linear(r"\b(he|she|it)'s\b", IGNORECASE), r"\1 is"),
)
_FILLERS = words(
    "just actually really also finally honestly basically kinda definitely truly simply absolutely literally totally "
    "personally obviously certainly only still quite very even already then both all especially particularly sadly "
    "legally formally thankfully luckily fortunately unfortunately ultimately eventually initially proudly happily"
)
_KEPT = words(
    "never always usually often sometimes rarely seldom normally generally typically mostly mainly regularly "
    "occasionally originally currently recently previously formerly officially now no longer"
)
_KEPT_FILLERS = frozenset({"still", "only", "already", "both", "all"})
_IRREGULAR_PAST = words(
    "was were had did went got became began bought brought built broke came chose drove fell felt found flew forgot "
    "gave grew heard held kept knew left lost made met moved paid put quit ran said saw sold sent set spent spoke "
    "stood swam swore took taught told thought understood wore won wrote"
)
_ALSO_PAST = frozenset({"split", "hit"})
_AFTER_PAST = anchored(r"$|(?:up|last|in|on|after|this|from|a|\d{2,3})$", IGNORECASE)
"""After "split" and "hit": they are in the past, unlike in "split my time"."""
_DETERMINERS = words("a an the my our one two three four five six some any no several many")
_NOT_PAST = words("need feed breed speed bleed succeed proceed shed embed")
_SPECIAL_THIRD = {"have": "has", "do": "does", "go": "goes", "be": "is", "am": "is", "are": "is"}
_SPECIAL_BASE = {"has": "have", "does": "do", "goes": "go", "is": "be", "dies": "die", "lies": "lie", "ties": "tie"}

# Case-sensitive, so that "US" is no pronoun; not "am" alone, which is also a time of day.
_INNER = linear(r"\b(?:I am|I was|I have|I|[Ww]e are|[Ww]e|me|[Mm]y|mine|myself|us|[Oo]ur|ours|ourselves)\b")
_THEY = {
    "i am": "they are",
    "i was": "they were",
    "i have": "they have",
    "i": "they",
    "we are": "they are",
    "we": "they",
    "me": "them",
    "my": "their",
    "mine": "theirs",
    "myself": "themselves",
    "us": "them",
    "our": "their",
    "ours": "theirs",
    "ourselves": "themselves",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Predicate:
    """What is said of a subject: `shown` in the third person, pronouns unchanged; `key` with the verb's base form, for matching.

    "don't eat pork" is shown as "does not eat pork", negated, with the key "eat pork"; "am a nurse" has the key "be a nurse".
    """

    key: str
    shown: str
    negated: bool
    adverbs: tuple[str, ...]


def expanded(text: str) -> str:
    """Expand contractions: "I don't" → "I do not"; "can't" → "cannot"."""
    text = _NOT.sub(lambda word: _NEGATIONS.get(word.group().lower()) or f"{word.group()[:-3]} not", text)
    for pattern, expansion in _CONTRACTED:
        text = pattern.sub(expansion, text)
    return text


def predicate(text: str, person: Person) -> Predicate | None:
    """Parse "am not a nurse", "have never smoked", "no longer work at Acme", "lives in Oslo"; none if there is no verb."""
    adverbs, words = _leading_adverbs(text.split())
    if not words:
        return None
    verb, rest = words[0].lower(), words[1:]
    if verb in ("am", "is", "are", "was", "were", "have", "has", "do", "does", "cannot", "can", "will"):
        return _with_auxiliary(verb, rest, adverbs, person)
    if is_past(verb) or verb == "used" or (verb in _ALSO_PAST and _AFTER_PAST.match(" ".join(rest[:1]))):
        return _made(verb, verb, rest, adverbs, ())
    if person == "he":
        return _made(base_form(verb), verb, rest, adverbs, ())
    return _made(verb, third_form(verb) if person == "I" else verb, rest, adverbs, ())


def _with_auxiliary(verb: str, rest: list[str], adverbs: list[str], person: Person) -> Predicate | None:
    later, rest = _leading_adverbs(rest)
    negated = bool(rest) and rest[0].lower() == "not"
    if negated:
        after_not, rest = _leading_adverbs(rest[1:])
        later += after_not
    if not rest:
        return None
    negation = ("not",) if negated else ()
    plural = person == "they"
    match verb:
        case "am" | "is" | "are":
            return _made("be", "are" if plural else "is", rest, [*adverbs, *later], negation)
        case "was" | "were":
            return _made("was", "were" if plural else "was", rest, [*adverbs, *later], negation)
        case "have" | "has":
            if rest[0].lower() == "got" and len(rest) > 1:
                rest = rest[1:]
            return _made("have", "have" if plural else "has", rest, [*adverbs, *later], negation)
        case "cannot":
            return _made("cannot", "cannot", rest, [*adverbs, *later], (), negated=True)
        case "can" | "will":
            return _made(verb, verb, rest, [*adverbs, *later], negation)
        case _:
            if not negated:
                return None
            bare = rest[0].lower()
            return _made(
                bare, f"{'do' if plural else 'does'} not {bare}", rest[1:], [*adverbs, *later], (), negated=True
            )


def _made(
    key: str, shown: str, rest: list[str], adverbs: list[str], after: tuple[str, ...], *, negated: bool = False
) -> Predicate:
    """Put the adverbs that carry meaning before the verb, or after an auxiliary."""
    kept = [word for word in adverbs if word in _KEPT or word in _KEPT_FILLERS]
    possesses = key == "have" and rest[0].lower() in _DETERMINERS
    behind = key in ("be", "was", "have", "will", "can", "cannot") and not possesses
    words = [shown, *after, *kept, *rest] if behind else [*kept, shown, *after, *rest]
    lasting = ["always"] if key == "have" and "always" in kept else []
    return Predicate(
        key=" ".join([key, *lasting, *rest]),
        shown=" ".join(words),
        negated=negated or bool(after) or "never" in kept or "longer" in kept,
        adverbs=tuple(kept),
    )


def _leading_adverbs(words: list[str]) -> tuple[list[str], list[str]]:
    """Split off at most six adverbs from the start; "no longer" counts as two."""
    found: list[str] = []
    for position, word in enumerate(words[:6]):
        plain = word.lower().strip(",")
        ends_no_longer = plain == "longer" and found[-1:] == ["no"]
        begins_no_longer = plain == "no" and words[position + 1 : position + 2] in (["longer"], ["Longer"])
        is_adverb = (plain in _FILLERS or plain in _KEPT) and plain not in ("no", "longer")
        if not (is_adverb or ends_no_longer or begins_no_longer):
            return found, words[position:]
        found.append(plain)
    return found, words[6:]


def first_verbs(text: str) -> tuple[str, str]:
    """The first two words after adverbs, in lower case: "finally have just moved out" → "have", "moved"."""
    _, rest = _leading_adverbs(text.split(" ", 8))
    _, following = _leading_adverbs(rest[1:])
    return (rest[0].lower() if rest else "", following[0].lower() if following else "")


def is_past(verb: str) -> bool:
    return verb in _IRREGULAR_PAST or (verb.endswith("ed") and len(verb) > 3 and verb not in _NOT_PAST)


def third_form(verb: str) -> str:
    """live → lives, teach → teaches, study → studies."""
    if verb in _SPECIAL_THIRD:
        return _SPECIAL_THIRD[verb]
    if verb.endswith("y") and verb[-2:-1] not in ("a", "e", "i", "o", "u", ""):
        return f"{verb[:-1]}ies"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb}s"


def base_form(verb: str) -> str:
    """lives → live; a word that is no third person is returned unchanged."""
    if verb in _SPECIAL_BASE:
        return _SPECIAL_BASE[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "xes", "zzes", "ches", "shes", "oes")):
        return verb[:-2]
    if verb.endswith("s") and not verb.endswith("ss"):
        return verb[:-1]
    return verb


def of_others(text: str, speaker: str) -> str:
    """Replace first-person pronouns if the subject is somebody else: "lives with me" → "lives with the user"."""
    forms = {"me": speaker, "my": f"{speaker}'s", "myself": speaker, "mine": f"{speaker}'s", "i": speaker}
    return _INNER.sub(lambda word: forms.get(word.group().lower()) or _THEY[word.group().lower()], text)


def of_the_speaker(text: str) -> str:
    """Replace first-person pronouns if the speaker is the subject: "my coffee" → "their coffee"."""
    return _INNER.sub(lambda word: _THEY[word.group().lower()], text)
