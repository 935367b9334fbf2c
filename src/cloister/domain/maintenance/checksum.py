"""The checksum of a row: what is read is what was stored, or it is known to be damaged."""

from zlib import crc32


def text_checksum(*parts: int | str | None) -> int:
    """The CRC-32 of a row's id and texts. Joined as text, because this runs for every message that is stored or read."""
    return crc32("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"))


def message_checksum(
    message: int, role: str, author: str | None, metadata: str, content: str, categories: str | None
) -> int:
    """The same of a message, of which dozens are read for every context."""
    return crc32(f"{message}\0{role}\0{author}\0{metadata}\0{content}\0{categories}".encode("utf-8", "surrogatepass"))


def bytes_checksum(*parts: int | bytes | None) -> int:
    """The same of texts that are given as their UTF-8 bytes, which may be no text any more."""
    return crc32(b"\0".join(part if isinstance(part, bytes) else str(part).encode() for part in parts))
