"""The sentences of a short text, and which of them ask (CTX-7).

A sentence with a question mark asks. Without one it asks if it begins as a question does: with a question word that no subject
follows, or with an auxiliary verb and its subject. "Will loves sushi", "Had surgery" and "When I was young" are statements,
and so is a sentence that ends with a full stop, unless it is a request ("Tell me the code.").
"""

from collections.abc import Sequence

from cloister.domain.patterns import IGNORECASE, VERBOSE, anchored, linear

LONGEST_QUESTION = 400
"""A longer text is no question: it says something besides."""
_MOST_SENTENCES = 8
# "The gate code, please" asks; what has more words may also state something politely.
_MOST_WORDS_ORDERED = 4
_CLOSING = "\"'”’)»] \n\r\t"
_QUESTION_MARKS = ("?", "？", "؟")
_FULL_STOPS = (".", "。", "…", "!", "！")
_BETWEEN = linear(r"(?<=[.!?…؟])[\"'”’)»\]]{0,3}\s{1,8}|(?<=[。！？])(?=[^\s\"'”’)»\]])|(?<=[。！？])\s{1,8}|\n")
_SUBJECT = r"(?:i|you|he|she|it|we|they|there|anyone|anybody|someone|somebody|one)"
_DETERMINER = r"(?:the|a|an|my|your|his|her|its|our|their|this|that|these|those|any)"
_ASKS = anchored(
    rf"""\s{{0,8}}(?:(?:please|so|and|but|well|ok|okay|hey|hi|hello|sorry|again)[\s,:!]{{1,4}}){{0,3}}(?:
        (?:(?:at|on|in|for|from|to|by|with|since|until)\s{{1,4}})?
        (?:who|whom|whose|what|which|when|where|why|how)(?:['’]?s|['’]re|['’]d)?\b(?!\s+(?:i|you|he|she|we|they|a|an)\b)
      | (?:what|where|when|why|how)['’]?d\b
      | (?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|shall|may|might|am)\s+{_SUBJECT}\b
      | (?:are|were|does|can|could|would|should|shall)\s+{_DETERMINER}\b
      | (?:wer|wem|wen|wessen|welche[rsnm]?|wann|warum|wieso|weshalb|wohin|woher
        |wie\s+viele?|wie\s+lautet|wie\s+heißt|was\s+ist|wo\s+ist)\b
        (?!\s+(?:ich|du|er|wir)\b)
      | (?:qué|quién|quiénes|cuál|cuáles|cuándo|dónde|cómo|cuánto|cuánta|cuántos|cuántas)\b
      | (?:est-ce|qu['’]est-ce|quel|quelle|quels|quelles|comment|pourquoi|combien)\b
    )""",
    IGNORECASE | VERBOSE,
)
# In Chinese and Japanese a question need not have a question mark.
_ASKS_UNSPACED = anchored(
    r".{0,400}(?:[吗呢么]|什么|多少|(?:です|ます|でした|ました|だ|の|だろう)か|かな|でしょうか)[。！!.]?\Z"
)
_REQUESTS = anchored(
    r"""\s{0,8}(?:(?:please|so|and|but|well|ok|okay|hey|hi|hello|sorry|now|again|just)[\s,:!]{1,4}){0,3}(?:
        (?:can|could|would|will)\s+you\b
      | (?:please\s+)?(?:tell|remind|show|give|send|let)\s+(?:me|us)\b
      | (?:please\s+)?(?:list|summari[sz]e|describe|explain|look\s+up|find|repeat)\b
      | i(?:['’]d|\s+would|\s+really)?\s+(?:need|want|like|love|wish|have)\s+to\s+(?:know|remember|see|have|hear|ask|find)\b
      | (?:i\s+)?(?:really\s+|just\s+)?(?:need|want|forgot|forget)\b
      | (?:i(?:['’]?m|\s+am)\s+)?(?:looking\s+for|searching|asking|wondering|curious)\b | any\s+(?:idea|clue|chance)\b
      | i(?:['’]?m|\s+am)\s+looking\b | i(?:['’]?ve|\s+have)\s+forgotten\b
      | i\s+(?:can(?:['’]?t|not)|do(?:n['’]?t|\s+not))\s+(?:remember|recall|find|know)\b
      | (?:bitte\s+)?(?:sag|sage|nenn|nenne|zeig|zeige|erinner|erinnere|gib|verrate?)\s+(?:mir|mich|uns)\b
      | ich\s+(?:brauche|suche|habe\s+.{0,40}\bvergessen)\b
      | (?:dime|dígame|recuérdame|muéstrame|necesito|olvidé)\b
      | (?:dis|dites|rappelle|rappelez|donne|donnez|montre|montrez)[\s-](?:moi|nous)\b
      | (?:dimmi|ricordami|mostrami)\b
      | (?:me\s+diga|diga-me|me\s+lembre|preciso)\b
      | (?:vertel|zeg|herinner|geef)\s+(?:me|mij|ons)\b
      | (?:скажи|скажите|напомни|напомните|покажи|покажите)\b
    )""",
    IGNORECASE | VERBOSE,
)
_WISHES = anchored(
    r"\s{0,8}(?:(?:please|so|and|but|well|ok|okay|hey|hi|hello|sorry|now|again|just|really)[\s,:!]{1,4}){0,3}"
    r"(?:i(?:['’]?m|['’]?ve|['’]?d)?|ich|need|want|forgot|forget)\b",
    IGNORECASE,
)
# The first letters of what the patterns above match, which are tested before them.
_FIRST_LETTERS = frozenset("abcdefghilmnopqrstvwzсндскпqщ")


def sentences(text: str) -> Sequence[str]:
    """The sentences of a short text; none if it is longer than a question, or has too many."""
    stripped = text.strip()
    if not stripped or len(stripped) > LONGEST_QUESTION:
        return ()
    found = [sentence for piece in _BETWEEN.split(stripped) if (sentence := piece.strip())]
    return found if len(found) <= _MOST_SENTENCES else ()


def asks(sentence: str) -> bool:
    """Whether a sentence is a question or a request."""
    end = sentence.rstrip(_CLOSING)
    if not end:
        return False
    if end[-1] in _QUESTION_MARKS or sentence[0] == "¿":
        return True
    if not end.isascii() and _ASKS_UNSPACED.match(end) is not None:
        return True
    if requests(sentence) or (end[-7:].lower().endswith((" please", " pls")) and end.count(" ") < _MOST_WORDS_ORDERED):
        return True
    return end[-1] not in _FULL_STOPS and _ASKS.match(sentence) is not None


def wishes(sentence: str) -> bool:
    """Whether a sentence says that its speaker needs, wants, forgot or does not find something. It may state something as well:
    "I need the code 4417"."""
    return requests(sentence) and _WISHES.match(sentence) is not None


def requests(sentence: str) -> bool:
    """Whether a sentence without a question mark says that somebody wants to know something."""
    return sentence[0].lower() in _FIRST_LETTERS and _REQUESTS.match(sentence) is not None
