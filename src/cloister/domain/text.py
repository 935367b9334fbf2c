"""Checks of text from outside: valid Unicode without NUL, not empty, not too long. Errors name the field."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import cast

from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.identifiers import NO_PROJECT, refuse_other_types

MAX_CONTENT = 65_536
MAX_NAME = 255
MAX_TAGS = 64
MAX_CATEGORIES = 16
MAX_CATEGORY = 64
MAX_METADATA = 16_384
MAX_METADATA_DEPTH = 32
CHARACTERS_A_TOKEN = 4
"""An estimate for English text, where there is no tokeniser."""
RESERVED_TAGS = ("session:", "user:", "project:")
_CONTROL = frozenset({"Cc", "Zl", "Zp"})
# Bidirectional embeddings, overrides and isolates: they would reverse the text displayed next to the name.
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

Metadata = Mapping[str, object]


def checked_text(text: str, field: str, limit: int) -> str:
    """Check that a text is valid Unicode without NUL, not blank, and at most `limit` characters long."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest(field, "must be text.")
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


def checked_content(content: str, field: str = "content") -> str:
    """Check a message's text: not blank, at most 65,536 characters."""
    return checked_text(content, field, MAX_CONTENT)


def checked_name(name: str, field: str) -> str:
    """Check a label or an outside id: one line of at most 255 characters. Joiners and wide spaces are allowed: scripts need
    them."""
    checked_text(name, field, MAX_NAME)
    if not name.isprintable() and any(map(_is_control, name)):
        raise InvalidRequest(field, "must be one line without control characters.")
    return name


def checked_project_name(name: str) -> str:
    """Check a project's name, which must not look like a project's id or like "no project"."""
    checked_name(name, "name")
    folded = folded_name(name)
    if folded in (NO_PROJECT, "null") or folded.startswith("proj_"):
        raise InvalidRequest(
            "name", f"{name!r} would be read as no project, or as a project's id: choose another name."
        )
    return name


def folded_name(name: str) -> str:
    """A form that is equal for names that look the same: without case, Unicode form, extra spaces and invisible characters."""
    seen = "".join(c for c in name if unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    return " ".join(folded.split())


def is_storable(name: str) -> bool:
    """Whether a database can store this text; if it cannot, a lookup finds nothing without a query."""
    refuse_other_types(name, "session_id")
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in name


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Check a caller's tags. The prefixes of the runtime's tags are refused (CTX-3), also in other case, spacing or Unicode
    form."""
    if len(tags) > MAX_TAGS:
        raise TooLarge("tags", len(tags), MAX_TAGS, "tags")
    for tag in tags:
        checked_name(tag, "tags")
        if _folded(tag).startswith(RESERVED_TAGS):
            raise InvalidRequest("tags", f"{tag!r} starts with a reserved prefix ({', '.join(RESERVED_TAGS)}).")
    return tuple(dict.fromkeys(tags))


def checked_categories(categories: Sequence[str], field: str = "categories") -> tuple[str, ...]:
    """Check the categories of a message or a memory, and return them without duplicates (MEM-14)."""
    if isinstance(categories, str):
        raise InvalidRequest(field, "must be a list of categories, not one text.")
    if len(categories) > MAX_CATEGORIES:
        raise TooLarge(field, len(categories), MAX_CATEGORIES, "categories")
    for category in categories:
        checked_name(category, field)
        if len(category) > MAX_CATEGORY:
            raise TooLarge(field, len(category), MAX_CATEGORY)
    return tuple(dict.fromkeys(categories))


def checked_metadata(metadata: Metadata, field: str = "metadata") -> str:
    """Check metadata, and return it as the JSON text that is stored."""
    try:
        encoded = json.dumps(metadata, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        encoded.encode()
        # The length is checked first: looking at every value of a long one takes longer than all else.
        if len(encoded) > MAX_METADATA:
            raise TooLarge(field, len(encoded), MAX_METADATA)
        _refuse_what_json_changes(metadata, field)
    except UnicodeEncodeError:
        raise InvalidRequest(field, "holds a lone surrogate, which is not valid Unicode.") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(field, f"cannot be written as JSON: {error}.") from None
    if not encoded.startswith("{"):
        raise InvalidRequest(field, "must be a JSON object.")
    return encoded


def _refuse_what_json_changes(value: object, field: str, depth: int = 0) -> None:
    """Refuse keys that are not strings, which JSON would silently convert, and nesting too deep to be read back."""
    if depth > MAX_METADATA_DEPTH:
        raise InvalidRequest(field, f"is nested more than {MAX_METADATA_DEPTH} deep.")
    if isinstance(value, Mapping):
        for key, inner in cast(Mapping[object, object], value).items():
            if not isinstance(key, str):
                raise InvalidRequest(field, f"has the key {key!r}, which is not a string.")
            _refuse_what_json_changes(inner, field, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in cast(Sequence[object], value):
            _refuse_what_json_changes(inner, field, depth + 1)


def checked_limit(limit: int, field: str, highest: int, lowest: int = 0) -> int:
    if not isinstance(limit, int) or isinstance(limit, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidRequest(field, "must be a whole number.")
    if not lowest <= limit <= highest:
        raise InvalidRequest(field, f"must be between {lowest} and {highest:,}, not {limit}.")
    return limit


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in _CONTROL or character in _BIDI_CONTROLS


def _folded(tag: str) -> str:
    """A tag without case, spaces and invisible characters, in one Unicode form, for the comparison with reserved prefixes."""
    visible = (c for c in unicodedata.normalize("NFKC", tag).casefold() if unicodedata.category(c) != "Cf")
    return "".join("".join(visible).split())
