"""What text may enter: valid Unicode without NUL, neither empty nor too long. The error names the field."""

import json
from collections.abc import Mapping, Sequence

from cloister.domain.errors import InvalidRequest, TooLarge

MAX_CONTENT = 65_536
MAX_NAME = 255
MAX_TAGS = 64
MAX_METADATA = 16_384
RESERVED_TAGS = ("session:", "user:", "project:")

Metadata = Mapping[str, object]


def checked_content(content: str, field: str = "content") -> str:
    """A message's text: at least one visible character, at most 65,536 characters."""
    return _checked(content, field, MAX_CONTENT)


def checked_name(name: str, field: str) -> str:
    """A short label or an outside id: one line of at most 255 characters."""
    _checked(name, field, MAX_NAME)
    if not name.isprintable():
        raise InvalidRequest(field, "must be one line without control characters.")
    return name


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The caller's own tags; the prefixes that the runtime stamps are refused (CTX-3)."""
    if len(tags) > MAX_TAGS:
        raise TooLarge("tags", len(tags), MAX_TAGS, "tags")
    for tag in tags:
        checked_name(tag, "tags")
        if tag.startswith(RESERVED_TAGS):
            raise InvalidRequest("tags", f"{tag!r} starts with a reserved prefix ({', '.join(RESERVED_TAGS)}).")
    return tuple(dict.fromkeys(tags))


def checked_metadata(metadata: Metadata) -> str:
    """The metadata as the JSON object that is stored."""
    try:
        encoded = json.dumps(metadata, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        encoded.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("metadata", "holds a lone surrogate, which is not valid Unicode.") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest("metadata", f"cannot be written as JSON: {error}.") from None
    if not encoded.startswith("{"):
        raise InvalidRequest("metadata", "must be a JSON object.")
    if len(encoded) > MAX_METADATA:
        raise TooLarge("metadata", len(encoded), MAX_METADATA)
    return encoded


def checked_limit(limit: int, field: str, highest: int, lowest: int = 0) -> int:
    if not lowest <= limit <= highest:
        raise InvalidRequest(field, f"must be between {lowest} and {highest:,}, not {limit}.")
    return limit


def _checked(text: str, field: str, limit: int) -> str:
    if len(text) > limit:
        raise TooLarge(field, len(text), limit)
    if not text or text.isspace():
        raise InvalidRequest(field, "must not be empty.")
    if "\x00" in text:
        raise InvalidRequest(field, "must not hold a NUL character.")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidRequest(field, "holds a lone surrogate, which is not valid Unicode.") from None
    return text
