"""How the fields of an archive's records are written as JSON values, and checked when they are read: archives are outside text."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.identifiers import (
    MAX_SEQUENCE,
    format_entity_id,
    format_episode_id,
    format_memory_id,
    format_message_id,
    format_observation_id,
    format_project_id,
)
from cloister.domain.text import (
    checked_categories,
    checked_content,
    checked_metadata,
    checked_name,
    checked_tags,
    checked_text,
)
from cloister.domain.timestamps import checked_time, iso, parse_iso

_MOST_IN_LIST = 10_000
_LARGEST_DOCUMENT = 131_072
_DEEPEST = 100
_DIGEST_BYTES = 16
_ID_DIGITS = 16
_SESSION_BITS = 42
_HEX = frozenset("0123456789abcdef")


class Codec(NamedTuple):
    """Reads a JSON value, with the name of its field for errors, and writes one."""

    read: Callable[[object, str], Any]
    write: Callable[[Any], object]


def _same(value: object) -> object:
    return value


def plain(check: Callable[[Any, str], Any]) -> Codec:
    """A value that is the same in JSON; `check` raises if it is invalid."""
    return Codec(check, _same)


def optional(codec: Codec) -> Codec:
    def read(value: object, field: str) -> object:
        return None if value is None else codec.read(value, field)

    def write(value: object) -> object:
        return None if value is None else codec.write(value)

    return Codec(read, write)


def many(codec: Codec) -> Codec:
    def read(value: object, field: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise InvalidRequest(field, "must be a list.")
        found = cast(list[object], value)
        if len(found) > _MOST_IN_LIST:
            raise TooLarge(field, len(found), _MOST_IN_LIST, "entries")
        return tuple(codec.read(entry, f"{field}[{at}]") for at, entry in enumerate(found))

    def write(values: Sequence[object]) -> object:
        return [codec.write(value) for value in values]

    return Codec(read, write)


def one_of(choices: Sequence[str]) -> Codec:
    def read(value: object, field: str) -> str:
        if not isinstance(value, str) or value not in choices:
            raise InvalidRequest(field, f"must be one of {', '.join(choices)}.")
        return value

    return plain(read)


def text(limit: int) -> Codec:
    return plain(lambda value, field: checked_text(value, field, limit))


def text_or_empty(limit: int) -> Codec:
    return plain(lambda value, field: value if value == "" else checked_text(value, field, limit))


def _identifier(prefix: str, format_id: Callable[[Any], str], bits: int = 63) -> Codec:
    def read(value: object, field: str) -> int:
        digits = value.removeprefix(prefix) if isinstance(value, str) else ""
        if digits != value and len(digits) == _ID_DIGITS and _HEX.issuperset(digits):
            number = int(digits, 16)
            if 0 < number < 1 << bits:
                return number
        raise InvalidRequest(field, f"must be {prefix} and {_ID_DIGITS} hexadecimal digits.")

    return Codec(read, format_id)


def _derived(codec: Codec) -> Codec:
    """The id of a memory or an entity, which has the form of a session's first message: see `new_memory_id`."""

    def read(value: object, field: str) -> int:
        number = codec.read(value, field)
        if number & MAX_SEQUENCE != 1:
            raise InvalidRequest(field, "is not an id that a Cloister makes.")
        return number

    return Codec(read, codec.write)


def _read_flag(value: object, field: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidRequest(field, "must be true or false.")
    return value


def _read_sequence(value: object, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_SEQUENCE + 1:
        raise InvalidRequest(field, f"must be a whole number from 1 to {MAX_SEQUENCE + 1:,}.")
    return value


def _read_time(value: object, field: str) -> int:
    if not isinstance(value, str):
        raise InvalidRequest(field, "must be a time in ISO 8601, such as 2026-01-31T09:30:00Z.")
    return checked_time(parse_iso(value, field), field)


def _read_metadata(value: object, field: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidRequest(field, "must be a JSON object.")
    try:
        return cast(Mapping[str, object], json.loads(checked_metadata(cast(Mapping[str, object], value))))
    except InvalidRequest as error:
        raise InvalidRequest(field, error.problem) from None


def _read_tags(value: object, field: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidRequest(field, "must be a list of texts.")
    tags = checked_tags(cast(list[str], value))
    if len(tags) != len(cast(list[str], value)):
        raise InvalidRequest(field, "must not repeat a tag.")
    return tags


def _read_categories(value: object, field: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidRequest(field, "must be a list of texts.")
    return checked_categories(cast(list[str], value), field)


def _read_importance(value: object, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidRequest(field, "must be a number from 0 to 1.")
    return float(value)


def _read_document(value: object, field: str) -> Mapping[str, object]:
    """An object of any fields. The settings of a project are checked where it is added."""
    if not isinstance(value, dict):
        raise InvalidRequest(field, "must be a JSON object.")
    encoded = json.dumps(value, ensure_ascii=False)
    if len(encoded) > _LARGEST_DOCUMENT:
        raise TooLarge(field, len(encoded), _LARGEST_DOCUMENT)
    checked_text(encoded.replace("\\u0000", "\x00"), field, _LARGEST_DOCUMENT)
    return cast(Mapping[str, object], value)


def _read_json_object(value: object, field: str) -> Mapping[str, object]:
    """An object of any fields and any size that fits into a line."""
    if not isinstance(value, dict) or not is_json(cast(Mapping[str, object], value)):
        raise InvalidRequest(field, f"must be a JSON object, of valid Unicode, and nested at most {_DEEPEST} deep.")
    return cast(Mapping[str, object], value)


def is_json(value: object) -> bool:
    """Whether a value can be written to an archive and read again: with the numbers that JSON has, without lone surrogates, and
    not nested too deep."""
    try:
        _check_depth(value)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


def _check_depth(value: object, depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise ValueError("nested too deep")
    if isinstance(value, dict):
        for inner in cast(Mapping[str, object], value).values():
            _check_depth(inner, depth + 1)
    elif isinstance(value, list):
        for inner in cast(Sequence[object], value):
            _check_depth(inner, depth + 1)


def _read_whole_number(value: object, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > MAX_SEQUENCE:
        raise InvalidRequest(field, f"must be a whole number of at most {MAX_SEQUENCE:,}.")
    return value


def _read_digest(value: object, field: str) -> bytes:
    if not isinstance(value, str) or len(value) != 2 * _DIGEST_BYTES or not _HEX.issuperset(value):
        raise InvalidRequest(field, f"must be {2 * _DIGEST_BYTES} hexadecimal digits.")
    return bytes.fromhex(value)


FLAG = plain(_read_flag)
SEQUENCE = plain(_read_sequence)
NAME = plain(checked_name)
CONTENT = plain(checked_content)
TIME = Codec(_read_time, iso)
METADATA = Codec(_read_metadata, dict)
DOCUMENT = Codec(_read_document, dict)
JSON_OBJECT = Codec(_read_json_object, dict)
WHOLE_NUMBER = plain(_read_whole_number)
DIGEST = Codec(_read_digest, bytes.hex)
TAGS = Codec(_read_tags, list)
CATEGORIES = Codec(_read_categories, list)
IMPORTANCE = plain(_read_importance)
SESSION_NUMBER = _identifier("ses_", lambda number: f"ses_{number:016x}", _SESSION_BITS)
PROJECT_ID = _identifier("proj_", format_project_id)
MESSAGE_ID = _identifier("msg_", format_message_id)
EPISODE_ID = _identifier("ep_", format_episode_id)
MEMORY_ID = _derived(_identifier("mem_", format_memory_id))
ENTITY_ID = _derived(_identifier("ent_", format_entity_id))
REVISION_ID = _identifier("rev_", lambda number: f"rev_{number:016x}")
ITEM_ID = _identifier("item_", lambda number: f"item_{number:016x}")
RESPONSE_ID = _identifier("resp_", lambda number: f"resp_{number:016x}")
OBSERVATION_ID = _identifier("obs_", format_observation_id)
