"""Words one slip away from a word: a letter missing, doubled, wrong or swapped. The first letter is trusted.

It only proposes; what is known to the pool decides.
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
