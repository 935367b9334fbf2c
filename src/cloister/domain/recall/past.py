"""Whether a question asks about the past (MEM-12): then what is no longer true answers it too. English only.

Asked about the past are states, which had one value at a time: where someone lived or worked, whom they were with, what their name
was. Events ("Where did I put my keys?", "What did I say about the garden?") are not: no memory of them is superseded.
"""

from cloister.domain.patterns import IGNORECASE, VERBOSE, linear
from cloister.domain.recall.named_dates import named_dates

_THING = (
    r"address|home|house|flat|apartment|place|city|town|country|job|work|employer|company|boss|manager|role|position|title|name|"
    r"surname|phone|number|e-?mail|diet|car|school|doctor|dentist|gym|bank|team|partner|boyfriend|girlfriend|husband|wife"
)
# Who is asked about: a pronoun, a relation ("my brother") or a name.
_WHO = (
    r"(?:I|we|you|he|she|they|(?:my|our|his|her|their)\s{1,3}[^\W\d_]{1,30}"
    r"|(?-i:[A-Z][^\W\d_]{1,30}(?:\s[A-Z][^\W\d_]{1,30})?))"
)
_ADVERB = r"(?:(?:ever|always|first|both|all|mostly|really|actually|even|once|then|usually|still|formerly)\s{1,3})?"
_CHANGE = (
    r"move|wedding|marriage|divorce|break-?up|split|separation|merger|promotion|transfer|lay-?offs?|new\s{1,3}job|current\s{1,3}\w|"
    r"last\s{1,3}\w|job\s{1,3}at|(?:kids|children|baby)\b|(?:war|pandemic)\b"
)
_PAST = linear(
    rf"""\b(?:
        used?\s+to | previously | formerly | originally | in\s+the\s+past | back\s+(?:then|in)\b | no\s+longer | in\s+those\s+days
      | (?:former|previous|prior|past|ex)(?:\s|-)\s*[^\W\d_]
      | (?:old|earlier|last|first)\s+(?:{_THING})s?\b
      | (?:did|was|were|had|have)\s+(?:I|we|he|she|they|you)\s+ever\b
      | before\s+(?:that|this|then|now|i\s+moved|moving|i\s+changed|i\s+left|leaving)\b
      | (?:did|was|were|had|lived|worked|been)\b[^.!?\n]{{1,120}}\bbefore(?:\s*[?!.]*\s*\Z|\s+(?:I|we|he|she|they)\b)
      | (?:did|was|were|had|lived|worked|been)\b[^.!?\n]{{1,120}}\bbefore\s{{1,3}}
        (?: (?:the|my|our|his|her|their)\s{{1,3}}(?:{_CHANGE})
          | (?!(?:mon|tues|wednes|thurs|fri|satur|sun)day|christmas|easter)(?-i:[A-Z]) )
    )""",
    IGNORECASE | VERBOSE,
)
# A state in the past tense, with whoever was in it.
_STATE = linear(
    rf"""\b(?:
        did\s{{1,3}}{_WHO}\s{{1,3}}{_ADVERB}
        (?: (?:live|reside|dwell|date|study|go\s{{1,3}}out\s{{1,3}}with|go\s{{1,3}}by)\b
          | move\s{{1,3}}(?:here\s{{1,3}}|away\s{{1,3}})?from\b
          | (?:break|split)\s{{1,3}}up\s{{1,3}}with\b
          | work\b(?!\s{{1,3}}(?:on|out|over|through|up|it|that|this)\b)
          | do\s{{1,3}}for\s{{1,3}}(?:a\s{{1,3}})?(?:living|work)\b )
      | (?:was|were)\s{{1,3}}{_WHO}\s{{1,3}}{_ADVERB}
        (?: (?:living|residing|staying|renting|based|employed|married|engaged|single|divorced|dating|seeing|with\s{{1,3}}someone
              |in\s{{1,3}}a\s{{1,3}}relationship|going\s{{1,3}}out|called|known)\b
          | working\b(?!\s{{1,3}}(?:on|out)\b) )
      | (?<!how\slong\s)(?:have|has|had)\s{{1,3}}{_WHO}\s{{1,3}}{_ADVERB}
        (?: lived | resided | dated | worked\b(?!\s{{1,3}}(?:on|out)\b)
          | been\s{{1,3}}(?:married|engaged|called|known|employed|based|with)\b )
      | (?:{_THING})s?\s{{1,3}}(?:(?:did|have|had)\s{{1,3}}{_WHO}\s{{1,3}}{_ADVERB}(?:have|had|leave|left|quit|lose|lost|sell|sold)
          | (?:was|were)\s{{1,3}}{_WHO}\s{{1,3}}{_ADVERB}(?:in|at|with|from)\b)
      | (?:was|were)\s{{1,3}}(?:my|our|his|her|their)\s{{1,3}}(?:{_THING})\b(?!\s{{1,3}}again\b)
      | how\s{{1,3}}old\s{{1,3}}(?:was|were)\b
    )""",
    IGNORECASE | VERBOSE,
)
_PAST_TENSE = linear(r"\b(?:did|was|were|had)\b", IGNORECASE)
# A time long enough ago that something may have changed since.
_LONG_AGO = linear(
    r"""\b(?:
        (?:months?|years?|decades?|ages|winters?|summers?)\s{1,3}ago
      | last\s{1,3}(?:month|year|spring|summer|autumn|fall|winter|decade|century)
      | (?:the\s{1,3}(?:month|year)|years)\s{1,3}before
      | (?:as|when\s{1,3}\w{1,20}\s{1,3}was)\s{1,3}an?\s{1,3}(?:child|kid|boy|girl|teen|teenager|student|baby)
      | growing\s{1,3}up | at\s{1,3}the\s{1,3}time | in\s{1,3}(?:college|university|high\s{1,3}school)
    )\b""",
    IGNORECASE | VERBOSE,
)


def asks_about_past(query: str) -> bool:
    """Whether a query asks for what was true, such as "Where did I live before?" or "Who was I dating last year?"."""
    if _PAST.search(query) is not None or _STATE.search(query) is not None:
        return True
    if _PAST_TENSE.search(query) is None:
        return False
    return _LONG_AGO.search(query) is not None or bool(named_dates(query))
