"""The features of a text and of a candidate in it, as numbers of hashed words: the same in training and in use (MEM-12).

Words that mean the same for these facts are made one first: times, relatives, "we" and "I". So few sentences teach much.
"""

from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from cloister.domain.patterns import Match, linear
from cloister.models.rules.changes.times import MONTHS, WEEKDAYS
from cloister.models.rules.learned.spans import Span, Token
from cloister.models.rules.tables.names import GIVEN_NAMES

BUCKETS = 8192
_NOTHING: Mapping[tuple[int, int], str] = {}
_NEAR = 7
_PREFIX = 5

_UNIT = (
    r"(?:days?|weeks?|months?|years?|weekends?|nights?|hours?|minutes?|semesters?|terms?|summers?|winters?|decades?)"
)
_SEASON = r"(?:spring|summer|autumn|fall|winter|easter|christmas|ramadan)"
_COUNT = (
    r"(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|\d+|some|few|a few|several"
    r"|many|a couple of|couple of)"
)
_DAY = rf"(?:{WEEKDAYS}|{MONTHS}|{_SEASON})"
_TIMES = (
    ("long", rf"(?:in|until|till|back in|around) (?:19|20)\d\d|(?:\d\d|many|ten|twenty|thirty"
    rf"|{_COUNT}) (?:years|decades) ago|years ago"
    r"|when i was (?:a )?(?:young|little|small|kid|child|student|teenager|younger)|as a (?:child|kid|student"
    r"|teenager|boy|girl)"
    r"|in (?:my|our) (?:teens|twenties|thirties|forties|youth|childhood)|in (?:college|high school|school"
    r"|university|uni)|back then|back in the day"
    r"|before that|once upon a time|long ago|at the time|originally"),
    ("later", r"tomorrow|(?:early |late )?next (?:week|month|year|spring|summer|autumn|fall|winter|semester"
    r"|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday)|soon|someday|one day|some day|eventually|in the future|this coming \w+"
    rf"|in {_COUNT} (?:days|weeks|months|years)"),
    ("while", rf"for (?:the |this )?(?:weekend|week|month|night|day|summer|winter|season|semester|holidays"
    rf"|wedding|conference|time being|moment)"
    rf"|for {_COUNT} (?:more )?(?:days?|weeks?|months?|nights?|hours?|semesters?)|for now|temporarily"
    rf"|until \w+day|until the \w+|on holiday|on vacation|for work|for business"
    r"|this (?:week|weekend|evening|afternoon|morning)|tonight|right now|at the weekend|on weekends"
    r"|on (?:\w+day)s|every \w+|sometimes|part[- ]time"),
    ("now", rf"(?:as of|since|starting|from|effective)(?: (?:early|late|mid|this|last|the|my|our|a|the first of"
    rf"|then|i|we|last))* (?:{_DAY}|{_UNIT}|today|yesterday|now|then|move|wedding|here on|now on)"
    r"|now|nowadays|these days|any ?more|any longer|no longer|at last|from now on|from here on(?: out)?"
    r"|going forward|currently|at the moment"
    r"|presently|at present|already|today|again|once again|once more|as we speak|by now"),
    ("past", rf"(?:late |early |just )?(?:last|this past|the other|this|on|in|over the|during the|back in"
    rf"|in early|in late|in mid|around|at|earlier this|late last|early this|the first of) (?:past )?(?:{_DAY}"
    rf"|{_UNIT})"
    rf"|{_COUNT} {_UNIT} (?:ago|back)|yesterday|recently|lately|a while ago|a while back|the other day"
    rf"|not long ago|in the meantime|in the end"),
)  # fmt: skip
_TIME = linear(r"\b(?:" + "|".join(rf"(?P<{name}>{pattern})" for name, pattern in _TIMES) + r")\b")
_RELATIVE = linear(
    r"\b(?:i|his|her|their|a|your) (?:own |older |younger |little |big |best |old |eldest |new |ex |former "
    r"|good |twin |dear )*"
    r"(?:mother|mom|mum|father|dad|parents?|sisters?|brothers?|siblings?|son|daughter|sons|daughters|child"
    r"|children|kids?|baby"
    r"|grandmother|grandma|grandfather|grandpa|grandparents|aunt|uncle|cousins?|niece|nephew|in-laws"
    r"|mother-in-law|father-in-law"
    r"|sister-in-law|brother-in-law|roommates?|flatmates?|housemates?|neighbou?rs?|friends?|buddy|mate"
    r"|colleagues?|coworkers?"
    r"|co-workers?|boss|manager|supervisor|teacher|landlord|landlady|doctor|therapist|coach|mentor|classmates?"
    r"|teammates?"
    r"|dog|cat|puppy|kitten|pet|horse|hamster)\b(?:'s)?"
)
_WE = linear(
    r"\b(?:we|my|our|us|me|mine|ours|myself|ourselves|him|them|she|he|they|hers|an|the|had|has|was|were|are|am)\b"
)
_AS = {
    "we": "i", "my": "i", "our": "i", "mine": "i", "ours": "i", "us": "i", "me": "i", "myself": "i", "ourselves": "i",
    "he": "they", "she": "they", "him": "they", "them": "they", "hers": "they", "an": "a", "the": "a", "had": "have", "has": "have",
    "was": "is", "were": "is", "are": "is", "am": "is",
}  # fmt: skip
_FILLERS = linear(
    r"\b(?:just|finally|really|actually|basically|literally|totally|officially|definitely|honestly|btw|by a way"
    r"|lol|haha|hey|hi|hello"
    r"|oh|well|wow|yes|yeah|yep|ok|okay|um|uh|so|anyway|also|both|all|quite|pretty|very|super|pls|please|thanks"
    r"|fyi|heads up"
    r"|guess what|long story short|fun fact|happily|gladly|proudly|simply|somehow|apparently|luckily|sadly"
    r"|unfortunately"
    r"|fortunately|even|kind of|sort of|proud to say|happy to say|to be honest|tbh|as it happens|as you know"
    r"|for a record"
    r"|good news|big news|small update|life update|quick note|update|by the way|right|too|i guess"
    r"|i think you know)\b ?"
)


def masked(
    found: Sequence[Token], all_spans: Sequence[Span], old: Mapping[tuple[int, int], str] = _NOTHING
) -> list[str]:
    """The words of a text, with each candidate replaced by what it is and its number; `old` says which are known values."""
    words = [token.lower for token in found]
    for number, span in enumerate(all_spans):
        if "" in words[span.begin : span.end] or words[span.begin].startswith("<"):
            continue
        known = old.get((span.begin, span.end), "")
        kind = known or span.type
        if span.type == "name" and not known and span.value.split(" ")[0].lower() in GIVEN_NAMES:
            kind = "person"
        words[span.begin : span.end] = [f"<{kind}#{number}>", *[""] * (span.end - span.begin - 1)]
    text = _WE.sub(lambda word: _AS.get(word.group(), word.group()), " ".join(word for word in words if word))
    text = _RELATIVE.sub("<relative>", _TIME.sub(_time, _FILLERS.sub("", text)))
    return text.split()


def _time(found: Match[str]) -> str:
    return f"<{found.lastgroup}>"


def of_text(found: Sequence[str]) -> list[int]:
    """The features of a whole text."""
    words = [_bare(word) for word in found]
    features = [f"w:{word}" for word in words]
    features += [f"p:{word[:_PREFIX]}" for word in words if word[0] != "<"]
    features += _grams("b", ["^", *words, "$"], 2)
    features += _grams("t", ["^", *words, "$"], 3)
    features += [f"g:{one}_{other}" for one, _, other in zip(words, words[1:], words[2:], strict=False)]
    return _hashed(features)


def of_span(found: Sequence[str], number: int) -> list[int] | None:
    """The features of a text that concern the candidate of this number; none if it is part of another."""
    at = next((at for at, word in enumerate(found) if word.endswith(f"#{number}>") and word[0] == "<"), None)
    if at is None:
        return None
    left = ["^", *[_bare(word) for word in found[:at]]]
    right = [*[_bare(word) for word in found[at + 1 :]], "$"]
    l1, l2, l3 = left[-1], (left[-2:-1] or ["^"])[0], (left[-3:-2] or ["^"])[0]
    r1, r2, r3 = right[0], (right[1:2] or ["$"])[0], (right[2:3] or ["$"])[0]
    kind = _bare(found[at])
    features = [
        f"1:{l1}", f"2:{l2}", f"3:{l3}", f"4:{r1}", f"5:{r2}", f"7:{l2}_{l1}", f"8:{r1}_{r2}", f"9:{l1}_{r1}",
        f"10:{l3}_{l2}_{l1}", f"12:{l2}_{l1}_{r1}", f"c:{kind}", f"o:{kind}_{l1}", f"11:{r1}_{r2}_{r3}", f"13:{kind}_{r1}",
    ]  # fmt: skip
    features += [f"l:{word}" for word in left[-_NEAR:]] + [f"r:{word}" for word in right[:_NEAR]]
    features += [f"L:{word[:_PREFIX]}" for word in left[-4:]] + [f"R:{word[:_PREFIX]}" for word in right[:4]]
    features += _grams("lb", left[-_NEAR:], 2)
    features += _grams("rb", right[:_NEAR], 2)
    features += [f"w:{word}" for word in (*left, *right)]
    features += _grams("s", [*left, "<c>", *right][:4], 2)
    return _hashed(features)


def _bare(word: str) -> str:
    return word if word[0] != "<" or "#" not in word else f"{word[: word.index('#')]}>"


def _grams(name: str, words: Sequence[str], size: int) -> Iterator[str]:
    return (f"{name}:{'_'.join(words[at : at + size])}" for at in range(len(words) - size + 1))


def _hashed(features: Sequence[str]) -> list[int]:
    return [crc32(feature.encode()) % BUCKETS for feature in dict.fromkeys(features)]
