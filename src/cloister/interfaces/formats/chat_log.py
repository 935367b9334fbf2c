"""Plain chat logs: objects with `messages`, or one message each with `role` and `content`, as JSON or JSON lines."""

import hashlib
from collections import Counter
from dataclasses import dataclass

from cloister.domain.archive.matching import position_id
from cloister.domain.errors import TooLarge
from cloister.interfaces.formats.conversation import (
    Conversation,
    Said,
    Skipped,
    Value,
    conversation,
    first_words,
    items,
    mapping,
    read_each,
    role_of,
    text,
    titled,
)
from cloister.interfaces.formats.times import first_time

SOURCE = "log"
_IDS = ("id", "conversation_id", "session_id", "thread_id", "chat_id", "uuid")
_SESSIONS = ("session_id", "conversation_id", "thread_id", "chat_id", "session", "conversation")
_TITLES = ("title", "name", "subject")
_AUTHORS = ("author", "name", "speaker")
MOST_SESSIONS = 100_000
"""Sessions of the single messages in one file: of each some numbers are in memory until the end of the file."""
_DIGEST_BYTES = 16


def is_chat_log(value: Value) -> bool:
    return isinstance(value.get("messages"), list) or (
        role_of(value.get("role")) is not None and isinstance(value.get("content"), str | list)
    )


@dataclass(slots=True)
class _Session:
    """What was read of a session so far. `last_id` is a digest of the id of its last message that could be read, None before it."""

    position: int = 0
    last_at: int | None = None
    last_id: bytes | None = None


class ChatLog:
    """Reads the values of one file. What has no id of its own is known by its position: a log only grows at its end. What has no
    time is taken to be of the time of what comes before it in the conversation, else of that at which the file was changed."""

    def __init__(self, name: str, changed_at: int) -> None:
        self._name = name
        self._changed_at = changed_at
        self._nameless = 0
        self._sessions: dict[bytes, _Session] = {}

    def read(self, value: Value) -> Conversation:
        if isinstance(value.get("messages"), list):
            return self._whole(value)
        return self._message(value)

    def _whole(self, value: Value) -> Conversation:
        identity = _first_text(value, _IDS)
        if not identity:
            self._nameless += 1
            identity = f"{self._name}:{self._nameless}"
        messages = [mapping(each) for each in items(value["messages"])]
        repeated = Counter(_id_of(each) for each in messages)
        found = read_each(
            enumerate(messages, 1),
            lambda each: _said(each[1], each[0], has_own_id=repeated[_id_of(each[1])] == 1),
        )
        created_at = _readable_time(value)
        is_dated = created_at is not None or any(message.at is not None for message in found.said)
        if not is_dated and found.said:
            first_time(value)
        return conversation(
            SOURCE,
            identity,
            found,
            title=_first_text(value, _TITLES) or first_words(found),
            created_at=created_at,
            file_time=self._changed_at,
        )

    def _message(self, value: Value) -> Conversation:
        identity = _first_text(value, _SESSIONS) or self._name
        session = self._session(identity)
        session.position += 1
        own_id = _digest(_id_of(value))
        found = read_each([value], lambda each: _said(each, session.position, has_own_id=session.last_id != own_id))
        part = conversation(
            SOURCE,
            identity,
            found,
            title=first_words(found),
            created_at=found.said[0].at if found.said and found.said[0].at is not None else session.last_at,
            file_time=self._changed_at,
            continues=session.last_id is not None,
        )
        session.last_id = own_id
        if not part.undated:
            session.last_at = part.spoken[-1].created_at
        return part

    def _session(self, identity: str) -> _Session:
        name = _digest(identity)
        if name not in self._sessions:
            if len(self._sessions) == MOST_SESSIONS:
                raise TooLarge("file", MOST_SESSIONS + 1, MOST_SESSIONS, "sessions of single messages")
            self._sessions[name] = _Session()
        return self._sessions[name]


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=_DIGEST_BYTES).digest()


def _said(message: Value, position: int, *, has_own_id: bool) -> Said:
    content = message.get("content")
    words = content if isinstance(content, str) else "\n".join(_part(each) for each in items(content))
    role = role_of(message.get("role"))
    if role is None or not words.strip():
        raise Skipped("it has no role, or no text")
    author = next((found for name in _AUTHORS if (found := titled(message.get(name)))), None)
    identity = _id_of(message) if has_own_id else ""
    return Said(id=identity or position_id(position), role=role, content=words, at=first_time(message), author=author)


def _id_of(message: Value) -> str:
    return text(message.get("id")) or text(message.get("uuid"))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    found = mapping(part)
    return text(found.get("text")) if found.get("type") in ("text", "input_text", "output_text") else ""


def _first_text(value: Value, names: tuple[str, ...]) -> str:
    for name in names:
        given = value.get(name)
        if isinstance(given, str) and given.strip():
            return given
        if isinstance(given, int) and not isinstance(given, bool):
            return str(given)
    return ""


def _readable_time(value: Value) -> int | None:
    """The time of a conversation; None if it cannot be read, which matters only if no message has one."""
    try:
        return first_time(value)
    except Skipped:
        return None
