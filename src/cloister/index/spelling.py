"""Candidates for a misspelt word: all words at edit distance one, with the first letter unchanged.

It only proposes candidates; the caller keeps those that occur in the pool.
"""

from string import ascii_lowercase

from cloister.domain.patterns import anchored

_REPAIRABLE = anchored("[a-z]{4,24}")


def near_words(word: str) -> list[str]:
    """Every spelling at edit distance one, for words of four or more plain letters; none for others."""
    if not _REPAIRABLE.fullmatch(word):
        return []
    cuts = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    dropped = [head + tail[1:] for head, tail in cuts if tail]
    swapped = [head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1]
    changed = [head + letter + tail[1:] for head, tail in cuts if tail for letter in ascii_lowercase]
    added = [head + letter + tail for head, tail in cuts for letter in ascii_lowercase]
    return dropped + swapped + changed + added
