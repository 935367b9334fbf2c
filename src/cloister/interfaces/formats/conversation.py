"""What the readers of foreign formats have in common: a conversation as records to import, and checks of outside values."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from cloister.domain.archive.conversations import ConversationRecord, FactRecord, SpokenRecord
from cloister.domain.conversation import Role
from cloister.domain.text import MAX_CONTENT, MAX_NAME

M = TypeVar("M")
Value = Mapping[str, object]
_LONGEST_PREFIX = 20
_LONGEST_TITLE = 60
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


UNREADABLE = "its time cannot be read without doubt: write it as 2019-05-01T12:00:00Z, or as seconds since 1970"
UNDATED = "messages without a date, which get the date of the file"


class Skipped(Exception):
    """A conversation, or messages, that are not imported. Each text is a reason, the same for all of its kind."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = reasons


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """A conversation, or a part of one, with its messages or memories in order. `skipped`: why each message was left out that could
    not be read; `undated`: how many messages have the time of the file."""

    record: ConversationRecord
    spoken: tuple[SpokenRecord, ...] = ()
    facts: tuple[FactRecord, ...] = ()
    skipped: tuple[str, ...] = ()
    undated: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A message of a foreign format. `at` is None if the format does not say when."""

    id: str
    role: Role
    content: str
    at: int | None
    author: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """The messages of a conversation that could be read, and why each of the others could not."""

    said: Sequence[Said]
    skipped: tuple[str, ...] = ()


def read_each(messages: Iterable[M], read: Callable[[M], Said | None]) -> Read:
    """Read messages one by one. What `read` returns None for does not belong to the conversation, and is not counted."""
    said: list[Said] = []
    skipped: list[str] = []
    for message in messages:
        try:
            found = read(message)
        except Skipped as reason:
            skipped.extend(reason.reasons)
            continue
        if found is not None:
            said.append(found)
    return Read(said=said, skipped=tuple(skipped))


def conversation(
    source: str,
    identity: str,
    read: Read,
    *,
    title: object,
    created_at: int | None,
    updated_at: int | None = None,
    file_time: int | None = None,
    continues: bool = False,
) -> Conversation:
    """A conversation of a source. A message without a time has that of the one before it; the first ones have that of the
    conversation, else that of the first message with a time, else `file_time`."""
    if not read.said:
        raise Skipped(*(read.skipped or ("it has no messages",)))
    times = [message.at for message in read.said if message.at is not None]
    begun = created_at if created_at is not None else min(times, default=file_time)
    if begun is None:
        raise Skipped(*read.skipped, "it does not say when it was")
    spoken: list[SpokenRecord] = []
    at = begun
    for message in read.said:
        at = at if message.at is None else message.at
        spoken.extend(_spoken(message, at))
    if not spoken:
        raise Skipped(*read.skipped, "it has no messages")
    record = ConversationRecord(
        external_id=named(f"{source}:{identity}"),
        user_id=None,
        title=titled(title),
        created_at=begun,
        updated_at=max((updated_at or begun), *(each.created_at for each in spoken)),
        continues=continues,
    )
    undated = 0 if times or created_at is not None else len(spoken)
    return Conversation(record=record, spoken=tuple(spoken), skipped=read.skipped, undated=undated)


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


def first_words(read: Read) -> str | None:
    """A title for a conversation of a source that has none: the first words of the first message of a person."""
    first = next((each for each in read.said if each.role == "user"), next(iter(read.said), None))
    line = None if first is None else titled(first.content)
    if line is None or len(line) <= _LONGEST_TITLE:
        return line
    return f"{line[:_LONGEST_TITLE].rpartition(' ')[0] or line[:_LONGEST_TITLE]}…"


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
