"""Titles that repeat what was said: an application often names a conversation by its first words, until it has a better title."""

_ENDS = ("…", "...")


def repeats(title: str, content: str) -> bool:
    """Whether a title is a message, or the beginning of one with an ellipsis. Punctuation, marks, spaces and case do not count. A
    title that is the beginning without an ellipsis is a person's: "Roses" is not removed with "Roses need sun"."""
    named = title.rstrip()
    end = next((each for each in _ENDS if named.endswith(each)), "")
    words = _letters(named.removesuffix(end))
    # Some characters are lost with the marks: as many as a mark a character are looked at.
    said = _letters(content[: 16 * len(title) + 64])
    return bool(words) and (said.startswith(words) if end else said == words)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
