"""Whether a question asks in which order things happened (CTX-9): "What did I do first?", "In which order did we visit them?"."""

from cloister.domain.patterns import IGNORECASE, VERBOSE, linear

_LONGEST = 400
_WORDS = (
    *(
        "first",
        "last",
        "order",
        "sequence",
        "chronolog",
        "timeline",
        "step by step",
        "before or after",
        "earlie",
        "happened",
        "then",
    ),
    *(
        "zuerst",
        "zuletzt",
        "reihenfolge",
        "primero",
        "orden",
        "abord",
        "premier",
        "ordre",
        "per prim",
        "ordine",
        "primeiro",
        "ordem",
    ),
    *("eerst", "volgorde", "сначала", "сперва", "порядк", "首先", "最先", "顺序", "先后", "最初", "順番", "順序"),
)
_ASKS = linear(
    r"""(?:
        \b(?:first|last|earlier|earliest)\b\s{0,4}(?:[?.!,;:]|\Z|(?:on|in|at|during|when|after|before|of\s+(?:these|those|all)|or)\b)
      | \b(?:first|earliest|last)\s+(?:thing|things|place|stop|step|event|one|activity|trip|visit)\b
      | \b(?:in|what|which|the)\s+(?:right\s+|correct\s+|same\s+|chronological\s+|what\s+|which\s+)?(?:order|sequence)\b
      | \b(?:order|sequence)\s+of\b | \bchronolog | \btimeline\b | \bstep\s+by\s+step\b | \bbefore\s+or\s+after\b
      | \bwhat\s+(?:happened|came|did\s+\w{1,12}\s+do)\s+(?:next|then|after|before|afterwards)\b
      | \b(?:zuerst|zuletzt|reihenfolge)\b | \b(?:primero|en\s+qué\s+orden)\b | \bd['’]abord\b | \bdans\s+quel\s+ordre\b
      | \b(?:per\s+prim[oa]|in\s+(?:che|quale)\s+ordine)\b | \b(?:primeiro|em\s+que\s+ordem)\b | \b(?:het\s+eerst|eerst|volgorde)\b
      | \b(?:сначала|сперва|порядке)\b | 首先|最先|顺序|先后 | 最初に|順番|順序
    )""",
    IGNORECASE | VERBOSE,
)
_OTHER = linear(
    r"\b(?:at\s+first|first\s+of\s+all|in\s+order\s+(?:to|that|for)|last\s+(?:on|in)\s+my\s+list)\b", IGNORECASE
)


def asks_for_order(query: str) -> bool:
    """Whether a question asks for the order of events, so that what is recalled for it is shown in the order of time."""
    lower = query[:_LONGEST].lower()
    if not any(word in lower for word in _WORDS):
        return False
    return _ASKS.search(lower) is not None and _OTHER.search(lower) is None
