"""Splits a message into the sentences that its sender says in their own voice, and a sentence into segments.

First everything that is not the sender's own voice is removed: code, quoted lines, quotations, and blocks between tags of any name,
recalled text among them (MEM-10). Every pattern is bounded or consumes what it has scanned, so that the time is linear in the
length of the text.
"""

from dataclasses import dataclass

from cloister.domain.memory import without_recalled
from cloister.domain.patterns import DOTALL, IGNORECASE, MULTILINE, Match, anchored, linear
from cloister.models.rules.tables.words import RELATION

OPAQUE = "\ue000"
"""Replaces what was removed from a sentence: a sentence that contains it is incomplete."""

_SPACES = linear(r"[\u00a0\u2000-\u200a\u202f\u3000\t]")
_INVISIBLE = linear(r"[\u200b-\u200d\u2060\ufeff\ue000]")
_APOSTROPHES = linear(r"[\u2018\u2019\u02bc\uff07]|(?<=\w)[`\u00b4](?=\w)")

_BLOCKS = (
    linear(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", DOTALL),
    linear(r"<(?!br\b|hr\b)([A-Za-z][\w.:-]{0,60})(?:\s[^<>\n]{0,300})?>.*?(?:</\1>|\Z)", DOTALL),
)
_LINES = (
    linear(r"^[ ]*>.*$", MULTILINE),
    linear(r"^[ ]*\[(?:recall|memor|context|history|quote)[^\n]*$", MULTILINE | IGNORECASE),
    linear(r"\[[^\[\]\n]{0,400}\]"),
    linear(r"^(?: {4}|[ ]*(?:#|//|--|\$ |>>>)).*$", MULTILINE),
)
_INLINE_CODE = linear(r"`[^`\n]*(?:`|$)", MULTILINE)
_CURLY_QUOTATION = linear(r"[\u201c\u00ab\u201e]([^\u201d\u00bb\u201c]*)(?:[\u201d\u00bb\u201c]|\Z)")
_QUOTATION = linear(r'"([^"]*)"')
_QUOTATION_OF_A_LINE = linear(r'(?<!\d)"([^"\n]*)(?:"|$)', MULTILINE)
_SINGLE_QUOTATION = linear(r"(?<![\w'])'(?=[^\s'\d])((?:[^'\n]|(?<=\w)'(?=\w)){1,200})'(?!\w)")
_FIRST_PERSON = linear(r"\b(?:i|i'm|i've|im|my|me|we|our)\b", IGNORECASE)
_LONGEST_TITLE = 60
_LONGEST_SENTENCE = 4_000

_LINE_MARK = linear(r"^(?:[-*•·+]|\d{1,2}[.)])\s+")
_SENTENCE_END = linear(r"(?<![.!?…])[.!?…]++[\"')\]]*+(?=\s|$)")
_ABBREVIATION = linear(
    r"(?:^|[\s(])(?:[A-Za-z]|[A-Z]\.[A-Z]|mr|mrs|ms|dr|prof|st|jr|sr|vs|no|e\.g|i\.e|approx|etc)$", IGNORECASE
)
_LETTER_SMILEY = linear(r"(?:(?<=\s)|^)(?:[:;=8]-?[()DPpO/|3]|<3|xD|xx+)(?=\s|$|[.!?,])")
_CONTRACTIONS = {
    "im": "I'm",
    "ive": "I've",
    "dont": "don't",
    "doesnt": "doesn't",
    "didnt": "didn't",
    "cant": "can't",
    "wont": "won't",
    "isnt": "isn't",
    "wasnt": "wasn't",
    "arent": "aren't",
    "havent": "haven't",
    "hasnt": "hasn't",
    "gonna": "going to",
    "wanna": "want to",
}
_CARELESS = linear(r"\b(?:" + "|".join(_CONTRACTIONS) + r")\b", IGNORECASE)
_SMALL_I = linear(r"(?<![\w'.-])i(?=$|'m\b|'ve\b|'ll\b|'d\b|[ ,])")

_PRONOUN = (
    r"(?:i|i'm|i've|i'll|i'd|my|me|we|we're|we've|our|he|she|it|they|you|his|her|their|its|this|there|that's|it's|he's|she's"
    r"|they're)"
)
_BOUNDARY = linear(
    r" ?[,;:()](?= |$)| ?\(| -{1,3} | ?[–—] ?|\.\.\. ?|(?<=[\w)])! ?"
    r"| (?=(?:but|because|cause|cuz|although|though|whereas|which)\b)"
    r"| (?=(?:and|or) (?:would|could|might|should|may) )"
    r"| (?=so (?!much|many|far|that|long|called|i can\b))"
    rf"| (?=(?:and|since|as|while|plus|or|yet) (?:then |also |now |actually |currently |yes )?{_PRONOUN} )",
    IGNORECASE,
)

# "Samantha and I", "my older brother and I": one subject, not two clauses.
_COMPANION = anchored(
    r"(?:(?:and|but|so|because|since|well|hey|oh|yes|also|then|now|recently|when) )?"
    rf"(?:[A-Z][\w'-]*(?: [A-Z][\w'-]*)?|[Mm]y (?:\w+ )?(?:{RELATION}|friend|friends|colleague"
    rf"|colleagues)(?: [A-Z][\w'-]*)?)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """A sentence on one line, single-spaced. `asked`: it ends in a question mark. `heads`: it ends in a colon."""

    text: str
    asked: bool
    heads: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """A part of a sentence between boundaries; `after` is the punctuation before it, empty at the start or before a conjunction."""

    text: str
    after: str


def sentences(content: str) -> list[Sentence]:
    """The sentences in the sender's own voice. A sentence ends with its line at the latest. An overlong sentence is cut and marked
    incomplete, to bound the time that patterns take without releasing the GIL (ISO-13)."""
    found: list[Sentence] = []
    for line in own_voice(content).split("\n"):
        plain = _LINE_MARK.sub("", " ".join(line.split()))
        if plain:
            found += _sentences_of_line(plain)
    return found


def own_voice(content: str) -> str:
    """Remove code, quotations and tagged blocks, and make apostrophes straight."""
    marked = "<" in content
    text = without_recalled(content) if marked else content
    text = _INVISIBLE.sub("", _SPACES.sub(" ", text.replace("\r", "\n")))
    text = _CURLY_QUOTATION.sub(_title_or_opaque, text)
    text = _APOSTROPHES.sub("'", text)
    for block in _BLOCKS:
        text = block.sub("\n", text)
    for line in _LINES:
        text = line.sub("", text)
    text = _INLINE_CODE.sub(OPAQUE, text)
    text = (_QUOTATION_OF_A_LINE if text.count('"') % 2 else _QUOTATION).sub(_title_or_opaque, text)
    return _SINGLE_QUOTATION.sub(_title_or_opaque, text)


def segments(sentence: str) -> list[Segment]:
    found: list[Segment] = []
    begin, after = 0, ""
    for boundary in _BOUNDARY.finditer(sentence):
        if sentence.startswith("and I ", boundary.end()) and _COMPANION.fullmatch(
            sentence[begin : boundary.start()].strip()
        ):
            continue
        if text := sentence[begin : boundary.start()].strip():
            found.append(Segment(text=text, after=after))
        begin, after = boundary.end(), boundary.group().strip()
    if text := sentence[begin:].strip():
        found.append(Segment(text=text, after=after))
    return found


def shortened(text: str, limit: int) -> str:
    """Cut a text between words to at most `limit` characters."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"


def _title_or_opaque(quotation: Match[str]) -> str:
    """Keep a quoted title in its sentence, but not a quotation of somebody's words."""
    words = quotation.group(1).strip().strip(" ,.").strip()
    titled = 0 < len(words) <= _LONGEST_TITLE and "\n" not in words and (words[0].isupper() or words[0].isdigit())
    return f"\u201c{words}\u201d" if titled and not _FIRST_PERSON.search(words) else OPAQUE


def _sentences_of_line(line: str) -> list[Sentence]:
    found: list[Sentence] = []
    begin = 0
    for end in _SENTENCE_END.finditer(line):
        if end.group() == "." and _ABBREVIATION.search(line, max(begin, end.start() - 8), end.start()):
            continue
        found += _sentence(line[begin : end.end()])
        begin = end.end()
    return found + _sentence(line[begin:])


def _sentence(text: str) -> list[Sentence]:
    if len(text) > _LONGEST_SENTENCE:
        text = text[:_LONGEST_SENTENCE] + OPAQUE
    text = _LETTER_SMILEY.sub("", text).strip()
    if not any(map(str.isalnum, text)):
        return []
    if text.isupper() and len(text) > 12:
        text = text.lower()
    asked = "?" in text[-4:]
    heads = text.endswith(":")
    text = _CARELESS.sub(lambda word: _CONTRACTIONS[word.group().lower()], text)
    text = _SMALL_I.sub("I", text.rstrip(".!?…:\"' "))
    return [Sentence(text=text, asked=asked, heads=heads)]
