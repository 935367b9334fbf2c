"""Images in messages to a chat model: data URLs whose contents are what they say. None is ever fetched from an address, because
that would let a caller reach what the server or the model's server reaches."""

import base64
from collections.abc import Sequence
from typing import NamedTuple

from cloister.domain.errors import InvalidRequest
from cloister.domain.reply import ChatMessage

MOST_IMAGES = 4
"""In one message of the chat."""
MOST_IN_REQUEST = 64
LARGEST_SIDE = 8_192
LONGEST_NAME = 200
_TYPES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}
_SVG = "may have scripts in it, and is not accepted: send a PNG, JPEG, WebP or GIF."
_ADDRESS = "must be a data: URL with the contents of the image. Addresses are not fetched."
# Markers of JPEG that begin a frame, which names the size.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Markers without a length.
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})


class Image(NamedTuple):
    """An image that is sent to the model and not stored. `size` is that of its contents in bytes."""

    name: str | None
    media_type: str
    size: int
    url: str


def checked_image(url: object, field: str, name: str | None = None) -> Image:
    """The image of a data URL. Refused are addresses, other types than PNG, JPEG, WebP and GIF, contents that are of another type
    than the URL says, and sides of more than `LARGEST_SIDE` pixels."""
    if not isinstance(url, str) or url[:5].lower() != "data:":
        raise InvalidRequest(field, _ADDRESS)
    head, _, body = url.partition(",")
    media_type = head[5:].removesuffix(";base64").lower()
    if media_type.startswith("image/svg"):
        raise InvalidRequest(field, f"is an SVG image, which {_SVG}")
    if media_type not in _TYPES or not head.endswith(";base64"):
        raise InvalidRequest(field, "must be a PNG, JPEG, WebP or GIF image in base64.")
    try:
        contents = base64.b64decode(body, validate=True)
    except ValueError:
        raise InvalidRequest(field, "is not valid base64.") from None
    if not contents.startswith(_TYPES[media_type]):
        raise InvalidRequest(field, f"says {media_type}, and its contents are something else.")
    sides = _sides(media_type, contents)
    if sides is None or not all(sides):
        raise InvalidRequest(field, f"is not a complete {media_type} image.")
    if max(sides) > LARGEST_SIDE:
        raise InvalidRequest(field, f"has {sides[0]:,} × {sides[1]:,} pixels: a side may have {LARGEST_SIDE:,}.")
    return Image(name, media_type, len(contents), url)


def placeholder(image: Image) -> str:
    """What stays of an image in its message."""
    return "[image]" if image.name is None else f"[image: {image.name}]"


def checked_image_name(given: object, field: str) -> str | None:
    """The name of an image, as it is put into the message: one line without brackets; None for none."""
    if given is None:
        return None
    if not isinstance(given, str) or len(given) > LONGEST_NAME:
        raise InvalidRequest(field, f"must be text of at most {LONGEST_NAME} characters.")
    shown = "".join(letter if letter.isprintable() and letter not in "[]" else " " for letter in given)
    return " ".join(shown.split()) or None


def with_images(message: ChatMessage, images: Sequence[Image]) -> ChatMessage:
    """A message to the model with images after its text."""
    parts = [{"type": "image_url", "image_url": {"url": image.url}} for image in images]
    return {**message, "content": [{"type": "text", "text": message["content"]}, *parts]}


def _sides(media_type: str, contents: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, as the head of the image says; None if there is no such head."""
    if media_type == "image/png":
        is_head = len(contents) >= 24 and contents[12:16] == b"IHDR"
        return (_big(contents[16:20]), _big(contents[20:24])) if is_head else None
    if media_type == "image/gif":
        return (_little(contents[6:8]), _little(contents[8:10])) if len(contents) >= 10 else None
    return _sides_of_webp(contents) if media_type == "image/webp" else _sides_of_jpeg(contents)


def _sides_of_webp(contents: bytes) -> tuple[int, int] | None:
    kind = contents[12:16]
    if len(contents) < 30 or contents[8:12] != b"WEBP":
        return None
    if kind == b"VP8X":
        return _little(contents[24:27]) + 1, _little(contents[27:30]) + 1
    if kind == b"VP8L":
        bits = _little(contents[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return _little(contents[26:28]) & 0x3FFF, _little(contents[28:30]) & 0x3FFF
    return None


def _sides_of_jpeg(contents: bytes) -> tuple[int, int] | None:
    """Goes from segment to segment: each step is at least two bytes, so the work is linear."""
    at = 2
    while at + 9 <= len(contents):
        if contents[at] != 0xFF:
            return None
        marker = contents[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _BARE:
            at += 2
        elif marker in _FRAMES:
            return _big(contents[at + 7 : at + 9]), _big(contents[at + 5 : at + 7])
        else:
            at += 2 + max(2, _big(contents[at + 2 : at + 4]))
    return None


def _big(contents: bytes) -> int:
    return int.from_bytes(contents, "big")


def _little(contents: bytes) -> int:
    return int.from_bytes(contents, "little")
