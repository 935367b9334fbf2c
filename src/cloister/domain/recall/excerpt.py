"""The best passage of a long message: the consecutive sentences that have the most words of the question (CTX-8)."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from cloister.domain.patterns import linear

EXCERPT_TOKENS = 120
ELLIPSIS = "…"
"""Marks where the text of the message goes on."""
# A sentence with the mark that ends it, or a line. A sentence that is longer is split.
_SENTENCE = linear(r"[^.!?\n。！？]{1,400}[.!?。！？\n]{0,4}")
Terms = Callable[[str], Collection[int]]


def best_passage(text: str, asked: Collection[int], terms_of: Terms, longest: int) -> str:
    """The passage of at most so many characters, with an ellipsis where the text goes on."""
    if len(text) <= longest:
        return text
    spans = [found.span() for found in _SENTENCE.finditer(text)] or [(0, len(text))]
    first = _best_start(spans, [set(asked).intersection(terms_of(text[begin:end])) for begin, end in spans], longest)
    begin = spans[first][0]
    end = max((end for _, end in spans[first:] if end <= begin + longest), default=begin + longest)
    return f"{ELLIPSIS if begin else ''}{text[begin:end].strip()}{ELLIPSIS if end < len(text.rstrip()) else ''}"


def _best_start(spans: Sequence[tuple[int, int]], found: Sequence[set[int]], longest: int) -> int:
    """The first sentence of the window that has the most different words of the question; the earliest of equals."""
    start = best = most = 0
    inside = Counter[int]()
    for at, (_, end) in enumerate(spans):
        inside.update(found[at])
        while start < at and end - spans[start][0] > longest:
            for term in found[start]:
                inside[term] -= 1
                if not inside[term]:
                    del inside[term]
            start += 1
        if len(inside) > most:
            best, most = start, len(inside)
    return best
