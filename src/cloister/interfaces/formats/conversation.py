"""What the readers of foreign formats have in common: a conversation as records to import, and checks of outside values."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from cloister.domain.archive.conversations import ConversationRecord, FactRecord, SpokenRecord
from cloister.domain.conversation import Role
from cloister.domain.errors import InvalidRequest
from cloister.domain.text import MAX_CONTENT, MAX_NAME
from cloister.domain.timestamps import checked_time, parse_iso

Value = Mapping[str, object]
_SECOND = 1_000_000
_LONGEST_PREFIX = 20
# Larger numbers are milliseconds: as seconds they would be after the year 5000.
_LATEST_SECONDS = 1e11
_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}


class Skipped(Exception):
    """A conversation that is not imported. The text is the reason, the same for all of its kind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """A conversation, or a part of one, with its messages or memories in order."""

    record: ConversationRecord
    spoken: tuple[SpokenRecord, ...] = ()
    facts: tuple[FactRecord, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A message of a foreign format. `at` is None if the format does not say when."""

    id: str
    role: Role
    content: str
    at: int | None
    author: str | None = None


def conversation(
    source: str,
    identity: str,
    said: Sequence[Said],
    *,
    title: object,
    created_at: int | None,
    updated_at: int | None = None,
) -> Conversation:
    """A conversation of a source. A message without a time has that of the one before it."""
    if not said:
        raise Skipped("it has no messages")
    times = [message.at for message in said if message.at is not None]
    begun = created_at if created_at is not None else min(times, default=None)
    if begun is None:
        raise Skipped("it does not say when it was")
    spoken: list[SpokenRecord] = []
    at = begun
    for message in said:
        at = at if message.at is None else message.at
        spoken.extend(_spoken(message, at))
    record = ConversationRecord(
        external_id=named(f"{source}:{identity}"),
        user_id=None,
        title=titled(title),
        created_at=begun,
        updated_at=max((updated_at or begun), *(each.created_at for each in spoken)),
    )
    return Conversation(record=record, spoken=tuple(spoken))


def _spoken(message: Said, at: int) -> Iterable[SpokenRecord]:
    """A message, or the parts of one that is too long."""
    content = message.content.replace("\x00", "").encode(errors="replace").decode()
    for number, begin in enumerate(range(0, len(content), MAX_CONTENT)):
        part = content[begin : begin + MAX_CONTENT]
        if part and not part.isspace():
            identity = message.id if not number else f"{message.id}#{number + 1}"
            yield SpokenRecord(
                source_id=named(identity), role=message.role, author=titled(message.author), content=part, created_at=at
            )


def named(identity: str) -> str:
    """An id as a name of ours. One that is too long, or has control characters, is replaced by a hash."""
    if identity.isprintable() and identity.strip() and len(identity) <= MAX_NAME and _is_text(identity):
        return identity
    prefix = identity.partition(":")[0]
    digest = hashlib.sha256(identity.encode(errors="replace")).hexdigest()
    return f"{prefix if prefix.isalnum() and len(prefix) <= _LONGEST_PREFIX else 'id'}:{digest}"


def _is_text(given: str) -> bool:
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def titled(given: object) -> str | None:
    """A title or a name as one line; None if there is none."""
    if not isinstance(given, str):
        return None
    line = "".join(c for c in " ".join(given[: 4 * MAX_NAME].split()) if c.isprintable())[:MAX_NAME].strip()
    return line.encode(errors="replace").decode() or None


def moment(given: object) -> int | None:
    """A time as seconds, milliseconds or ISO 8601; None if it is none of these."""
    try:
        if isinstance(given, str):
            return checked_time(parse_iso(given, "time"), "time")
        if isinstance(given, int | float) and not isinstance(given, bool):
            seconds = given / 1_000 if abs(given) > _LATEST_SECONDS else given
            return checked_time(round(seconds * _SECOND), "time")
    except (InvalidRequest, ValueError, OverflowError):
        return None
    return None


def role_of(given: object) -> Role | None:
    return _ROLES.get(given.lower()) if isinstance(given, str) else None


def mapping(given: object) -> Value:
    """The object, or an empty one."""
    return cast(Value, given) if isinstance(given, dict) else {}


def items(given: object) -> Sequence[object]:
    """The list, or an empty one."""
    return cast(Sequence[object], given) if isinstance(given, list) else ()


def text(given: object) -> str:
    return given if isinstance(given, str) else ""
