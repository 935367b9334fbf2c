"""Small images, as data URLs and as bytes."""

import base64
import struct
import zlib


def png(width: int = 2, height: int = 2, *, rows: int = 2) -> bytes:
    """A PNG whose head says this size. It has so many rows of red pixels: only with all of them can it be drawn."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\xff\0\0" * min(width, 4_000)) * rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def jpeg(width: int = 2, height: int = 2) -> bytes:
    """The head of a JPEG: an application segment, then a frame of this size."""
    return b"\xff\xd8\xff\xe0\x00\x04AB\xff\xc0\x00\x0b\x08" + struct.pack(">HH", height, width) + b"\x01\x01\x11\x00"


def gif(width: int = 2, height: int = 2) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def webp(width: int = 2, height: int = 2) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + size


KINDS = {"image/png": png, "image/jpeg": jpeg, "image/gif": gif, "image/webp": webp}


def data_url(contents: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(contents).decode()}"


PNG = data_url(png())
