"""Plain chat logs: objects with `messages`, or one message each with `role` and `content`, as JSON or JSON lines."""

from collections import Counter

from cloister.interfaces.formats.conversation import (
    Conversation,
    Said,
    Skipped,
    Value,
    conversation,
    items,
    mapping,
    moment,
    role_of,
    text,
    titled,
)

SOURCE = "log"
_IDS = ("id", "conversation_id", "session_id", "thread_id", "chat_id", "uuid")
_SESSIONS = ("session_id", "conversation_id", "thread_id", "chat_id", "session", "conversation")
_TIMES = ("created_at", "timestamp", "create_time", "time", "date", "ts")
_TITLES = ("title", "name", "subject")
_AUTHORS = ("author", "name", "speaker")


def is_chat_log(value: Value) -> bool:
    return isinstance(value.get("messages"), list) or (
        role_of(value.get("role")) is not None and isinstance(value.get("content"), str | list)
    )


class ChatLog:
    """Reads the values of one file. What has no id of its own is known by its position: a log only grows at its end. What has no
    time is taken to be of the time at which the file was changed."""

    def __init__(self, name: str, changed_at: int) -> None:
        self._name = name
        self._changed_at = changed_at
        self._positions = Counter[str]()

    def read(self, value: Value) -> Conversation:
        if isinstance(value.get("messages"), list):
            return self._whole(value)
        return self._message(value)

    def _whole(self, value: Value) -> Conversation:
        identity = _first_text(value, _IDS)
        if not identity:
            self._positions[""] += 1
            identity = f"{self._name}:{self._positions['']}"
        found = [_said(mapping(each), str(at)) for at, each in enumerate(items(value["messages"]), 1)]
        said = [message for message in found if message is not None]
        return conversation(
            SOURCE,
            identity,
            said,
            title=_first_text(value, _TITLES) or None,
            created_at=_first_time(value)
            or min((at for message in said if (at := message.at)), default=self._changed_at),
        )

    def _message(self, value: Value) -> Conversation:
        identity = _first_text(value, _SESSIONS) or self._name
        self._positions[identity] += 1
        said = _said(value, str(self._positions[identity]))
        if said is None:
            raise Skipped("it has no role, or no text")
        return conversation(SOURCE, identity, [said], title=None, created_at=said.at or self._changed_at)


def _said(message: Value, position: str) -> Said | None:
    content = message.get("content")
    words = content if isinstance(content, str) else "\n".join(_part(each) for each in items(content))
    role = role_of(message.get("role"))
    if role is None or not words.strip():
        return None
    identity = text(message.get("id")) or text(message.get("uuid")) or f"position {position}"
    author = next((found for name in _AUTHORS if (found := titled(message.get(name)))), None)
    return Said(id=identity, role=role, content=words, at=_first_time(message), author=author)


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


def _first_time(value: Value) -> int | None:
    return next((at for name in _TIMES if (at := moment(value.get(name))) is not None), None)
