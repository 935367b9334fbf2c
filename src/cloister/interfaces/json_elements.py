"""How many elements a JSON text has, counted without parsing it: all other threads wait while a text of many is parsed (ISO-13)."""

from cloister.domain.errors import TooLarge

MOST_ELEMENTS = 131_072
"""Of the body of a request: elements of arrays and fields of objects, of which each but the first stands behind a comma."""


def refuse_many_elements(text: bytes, most: int = MOST_ELEMENTS) -> None:
    """Raise `TooLarge` if a JSON text has more elements than `most`, whatever its strings contain. Of a text that is not JSON, at
    least those are counted that stand before its first fault."""
    if len(text) <= most:
        return
    elements = _count(text, most)
    if elements > most:
        raise TooLarge("body", elements, most, "elements")


def _count(text: bytes, most: int) -> int:
    if text.count(b",") <= most:
        return 0
    # Outside of strings a backslash is a fault; inside of one, pairs of them are read from left to right, as they are replaced.
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    strings = unescaped.count(b'"') // 2
    if strings > 2 * most:
        return strings // 2
    return b"".join(unescaped.split(b'"')[::2]).count(b",")
