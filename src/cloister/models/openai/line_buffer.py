"""Splits a body that arrives in parts into lines. A body or line that is too long is refused before more of it is read."""

from cloister.models.openai.failures import CallFailed, Failure

LONGEST_LINE = 4_000_000
"""In bytes: longer than any event of a stream, and than a whole reply from a server that does not stream."""


class LineBuffer:
    """Of a body of at most `limit` bytes. Every byte is looked at once, however small the parts and however long the line."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self.rest = bytearray()
        """What came after the last line."""

    def add(self, part: bytes) -> None:
        """Raises `CallFailed` if the body, or what has come of its last line, is too long."""
        self._left -= len(part)
        self.rest += part
        if self._left < 0 or len(self.rest) > LONGEST_LINE + len(part):
            self.rest.clear()
            raise CallFailed(Failure(too_large=True))

    def allow(self, size: int) -> None:
        """So many bytes that were added are taken out, and will be added again."""
        self._left += size

    def lines(self, part: bytes) -> list[bytes]:
        """Add a part, and take the lines that are complete with it."""
        searched = len(self.rest)
        self.add(part)
        end = self.rest.rfind(b"\n", searched)
        if end < 0:
            return []
        lines = bytes(self.rest[:end]).split(b"\n")
        del self.rest[: end + 1]
        return lines
