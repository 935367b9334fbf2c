"""Whether a question asks about the past (MEM-12): then what is no longer true answers it too. English only."""

from cloister.domain.patterns import IGNORECASE, VERBOSE, linear
from cloister.domain.recall.named_dates import named_dates

_THING = (
    r"address|home|house|flat|apartment|place|city|town|country|job|work|employer|company|boss|manager|role|position|title|name|"
    r"surname|phone|number|e-?mail|diet|car|school|doctor|dentist|gym|bank|team|partner|boyfriend|girlfriend|husband|wife"
)
_PAST = linear(
    rf"""\b(?:
        used\s+to | previously | formerly | originally | in\s+the\s+past | back\s+then | no\s+longer | in\s+those\s+days
      | (?:former|previous|prior|past|ex)(?:\s|-)\s*[^\W\d_]
      | (?:old|earlier|last|first)\s+(?:{_THING})s?\b
      | (?:did|was|were|had|have)\s+(?:I|we|he|she|they|you)\s+ever\b
      | before\s+(?:that|this|then|now|i\s+moved|moving|i\s+changed|i\s+left|leaving)\b
      | (?:did|was|were|had|lived|worked|been)\b[^.!?\n]{{1,120}}\bbefore(?:\s*[?!.]*\s*\Z|\s+(?:I|we|he|she|they)\b)
    )""",
    IGNORECASE | VERBOSE,
)
_PAST_TENSE = linear(r"\b(?:did|was|were|had)\b", IGNORECASE)


def asks_about_past(query: str) -> bool:
    """Whether a query asks for what was true, such as "Where did I live before?" or "Where was I working in May 2021?"."""
    if _PAST.search(query) is not None:
        return True
    return _PAST_TENSE.search(query) is not None and bool(named_dates(query))
