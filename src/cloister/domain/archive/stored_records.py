"""The records of what applications stored themselves: files of memory tools, and entries of key-value stores."""

import base64
import binascii
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, TypeVar

from cloister.domain.archive import codecs
from cloister.domain.archive.codecs import Codec, optional, plain
from cloister.domain.archive.records import Record
from cloister.domain.entries.entry import FLOAT_BYTES, MOST_DIMENSIONS, checked_ttl, checked_value
from cloister.domain.entries.namespace import Namespace, checked_key, checked_namespace
from cloister.domain.entries.paths import checked_paths
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.files.tree import FileError, Path, checked_text, parse_path, shown
from cloister.domain.identifiers import ProjectId

_MINUTE = 60_000_000
T = TypeVar("T")


def _read_path(value: object, field: str) -> Path:
    try:
        path = parse_path(value) if isinstance(value, str) else ()
    except FileError as error:
        raise InvalidRequest(field, str(error)) from None
    if not path or shown(path) != value:
        raise InvalidRequest(field, "must be the path of a file below /memories, without . and ..")
    return path


def _read_file(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidRequest(field, "must be text, or null for a directory.")
    try:
        checked_text(value)
    except FileError as error:
        raise InvalidRequest(field, str(error)) from None
    return value


def _checked(check: Callable[[Any], T]) -> Callable[[object, str], T]:
    """The check of an operation's field as one of a field of a line: an error names the kind of the line too."""

    def read(value: object, field: str) -> T:
        try:
            return check(value)
        except (InvalidRequest, TooLarge) as error:
            raise error.at(field.partition(".")[0]) from None

    return read


def _value(value: Mapping[str, Any]) -> Mapping[str, Any]:
    checked_value(value)
    return value


def _ttl(minutes: float) -> int | None:
    return checked_ttl(minutes)


def _read_vector(value: object, field: str) -> bytes:
    try:
        found = base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except (binascii.Error, ValueError):
        found = b""
    numbers = array("f")
    if found and len(found) % FLOAT_BYTES == 0 and len(found) <= FLOAT_BYTES * MOST_DIMENSIONS:
        numbers.frombytes(found)
    if not numbers or not all(map(isfinite, numbers)):
        raise InvalidRequest(field, f"must be 1 to {MOST_DIMENSIONS:,} finite 32-bit numbers in base64.")
    return found


def _write_vector(vector: bytes) -> str:
    return base64.b64encode(vector).decode()


def _write_minutes(ttl: int) -> float:
    return ttl / _MINUTE


def _write_list(values: Sequence[str]) -> list[str]:
    return list(values)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRecord(Record):
    """A file of the session before it, or a directory if `content` is null. `project_id` is the project that the session was in
    when it was stored; null if it was in none."""

    kind = "file"
    project_id: Annotated[ProjectId | None, optional(codecs.PROJECT_ID)]
    path: Annotated[Path, Codec(_read_path, shown)]
    content: Annotated[str | None, optional(plain(_read_file))]
    updated_at: Annotated[int, codecs.TIME]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryRecord(Record):
    """An entry of the key-value store, in the part of a user of a project, of which either may be null. `ttl` is in minutes.
    `index` are the paths of the texts that are embedded."""

    kind = "entry"
    project_id: Annotated[ProjectId | None, optional(codecs.PROJECT_ID)]
    user_id: Annotated[str | None, optional(codecs.NAME)]
    namespace: Annotated[Namespace, Codec(_checked(checked_namespace), _write_list)]
    key: Annotated[str, plain(_checked(checked_key))]
    value: Annotated[Mapping[str, Any], Codec(_checked(_value), dict)]
    ttl: Annotated[int | None, optional(Codec(_checked(_ttl), _write_minutes))]
    index: Annotated[tuple[str, ...], Codec(_checked(checked_paths), _write_list)]
    created_at: Annotated[int, codecs.TIME]
    updated_at: Annotated[int, codecs.TIME]
    expires_at: Annotated[int | None, optional(codecs.TIME)]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryVectorRecord(Record):
    """A vector of the entry before it that the application computed, as 32-bit numbers with the lowest byte first, in base64. Other
    vectors are made again."""

    kind = "entry_vector"
    vector: Annotated[bytes, Codec(_read_vector, _write_vector)]
