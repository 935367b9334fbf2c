"""Items in OpenAI's format, and messages: what of an item is recorded as a message, and an item from a stored message.

A message of the user or of the assistant with words becomes a message. Its text is stored there alone, and not in the item, so that
forgetting, moving and the removal of quotations apply to it. Every other item is stored as it came.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.conversation import Draft, Message, Role
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.memory import has_recalled
from cloister.domain.patterns import anchored
from cloister.domain.reply import ToolKind
from cloister.domain.scope import refuse_scope
from cloister.domain.text import MAX_NAME, checked_name

Item = Mapping[str, Any]
MAX_ITEM = 262_144
MAX_DEPTH = 64
_TYPE = anchored(r"[a-z][a-z0-9_.-]{0,63}")
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
# How a part that is not text is recorded.
_PARTS = {"input_image": "[image]", "input_audio": "[audio]", "input_file": "[file]", "image_url": "[image]"}
_OTHER_PART = "[attachment]"
_PREFIXES = {
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
    "message": "msg",
}
# The types of the items that are calls of the application's tools.
CALL_TYPES: Mapping[ToolKind, str] = {"function": "function_call", "custom": "custom_tool_call"}
# It points to an item that the client does not send, and that may be anywhere.
_REFERENCE = "item_reference"
_ROLES: Mapping[Role, str] = {"user": "input_text", "system": "input_text", "tool": "input_text"}


@dataclass(frozen=True, kw_only=True, slots=True)
class NewItem:
    """An item to be stored, checked. `draft` is the message it becomes: None if it is not one."""

    item: Item
    draft: Draft | None

    @property
    def type(self) -> str:
        return item_type(self.item)


def read_item(item: object) -> NewItem:
    """Check an item: an object that can be stored as JSON, with a type or a role."""
    if not isinstance(item, Mapping):
        raise InvalidRequest("item", "must be an object.")
    given = cast(Item, item)
    kind = given.get("type", "message" if "role" in given else None)
    if not isinstance(kind, str) or not _TYPE.fullmatch(kind):
        raise InvalidRequest("type", "must name the kind of item, such as message or function_call_output.")
    if kind == _REFERENCE:
        raise InvalidRequest("type", "item_reference is not supported here: send the item itself.")
    refuse_scope(given)
    _check_depth(given)
    size = len(_encoded(given))
    if size > MAX_ITEM:
        raise TooLarge("item", size, MAX_ITEM)
    return NewItem(item=given, draft=_draft(given) if kind == "message" else None)


def item_type(item: Item) -> str:
    return cast(str, item.get("type") or "message")


def is_instruction(item: Item) -> bool:
    """Whether an item instructs the model, and says nothing that is recorded."""
    return item_type(item) == "message" and item.get("role") in ("system", "developer")


def call_of(item: Item) -> str | None:
    """The id of the tool call that an item is, or answers."""
    call = item.get("call_id")
    return call if isinstance(call, str) else None


def format_item_id(kind: str, item: int) -> str:
    return f"{_PREFIXES.get(kind, 'item')}_{item:016x}"


def parse_item_id(given: str) -> int | None:
    """The number in the id of an item; None if it is not one of ours."""
    digits = given.rpartition("_")[2]
    if len(digits) != 16 or not set(digits) <= set("0123456789abcdef"):
        return None
    number = int(digits, 16)
    return number if 0 < number < 1 << 63 else None


def encoded(item: Item) -> str:
    """An item that is not a message, as it is stored."""
    return _encoded(item)


def decoded(item: str) -> dict[str, Any]:
    return json.loads(item)


def frame_of(item: Item, content: str) -> str | None:
    """The item of a message without its text, as it is stored; None if it quotes recalled text, which is shown only in its pool."""
    if has_recalled(content):
        return None
    own, lengths = item.get("content"), list[int]()
    if isinstance(own, str):
        return _encoded({"item": {**item, "content": None}, "lengths": [len(own)]})
    parts: list[Any] = []
    for part in cast(Sequence[Mapping[str, Any]], own):
        field = _TEXTS.get(part["type"])
        lengths.append(len(part[field]) if field else -len(marker_of(part)))
        parts.append({**part, field: None} if field else part)
    return _encoded({"item": {**item, "content": parts}, "lengths": lengths})


def checked_frame(item: Item, lengths: Sequence[int] | None) -> str:
    """Check the item of a message without its text, of an archive, and return it as it is stored."""
    content = item.get("content", lengths)
    parts = [cast(Item, part) for part in cast(Sequence[object], content)] if isinstance(content, list) else None
    if parts is None:
        is_valid = content is None and lengths is not None and len(lengths) == 1 and lengths[0] >= 0
    else:
        is_valid = lengths is not None and len(parts) == len(lengths) and all(map(_is_of_length, parts, lengths))
    if not is_valid or item_type(item) != "message":
        raise InvalidRequest("item.item", "is not the item of a message, or its lengths do not fit its parts.")
    return _encoded({"item": item, "lengths": lengths})


def _is_of_length(part: object, length: int) -> bool:
    """Whether a part can have a text of this length; that of a part that is not text is negative."""
    if not isinstance(part, Mapping) or not isinstance(cast(Item, part).get("type"), str):
        return False
    return (length >= 0) == (cast(Item, part)["type"] in _TEXTS)


def checked_other(item: Item) -> str:
    """Check an item that is not a message, of an archive, and return it as it is stored."""
    kind = item.get("type", "message" if "role" in item else None)
    if not isinstance(kind, str) or not _TYPE.fullmatch(kind):
        raise InvalidRequest("item.item", "must have a type, such as function_call_output.")
    if kind == "message" and _draft(item) is not None:
        raise InvalidRequest("item.item", "has the text of a message, which must be a message of the archive.")
    return _encoded(item)


def item_of(message: Message, frame: str | None) -> dict[str, Any]:
    """The item of a message as it came, with the text that the message has now. A message that did not come as an item, or of which
    quotations were removed since, is one text."""
    if frame is None:
        return _own_item(message)
    stored = json.loads(frame)
    item, lengths = cast(dict[str, Any], stored["item"]), cast(list[int], stored["lengths"])
    if item["content"] is None:
        return {**item, "content": message.content}
    words = [length for length in lengths if length]
    if sum(map(abs, words)) + max(len(words) - 1, 0) != len(message.content):
        return {**item, "content": _own_item(message)["content"]}
    offset = 0
    for part, length in zip(item["content"], lengths, strict=True):
        if length >= 0:
            part[_TEXTS[part["type"]]] = message.content[offset : offset + length]
        offset += abs(length) + 1 if length else 0
    return item


def words_of(content: object) -> str:
    """The text of a message's content, with a marker for each part that is not text."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise InvalidRequest("content", "must be text or a list of parts.")
    parts = cast(list[object], content)
    return "\n".join(words for index, part in enumerate(parts) if (words := _words(part, f"content[{index}]")))


def _draft(item: Item) -> Draft | None:
    role = item.get("role")
    if not isinstance(role, str) or not _TYPE.fullmatch(role):
        raise InvalidRequest("role", "must be one of user, assistant, system, developer.")
    words = words_of(item.get("content"))
    if role not in ("user", "assistant") or not words.strip():
        return None
    name = item.get("name")
    author = checked_name(name, "name") if role == "user" and isinstance(name, str) and name[: MAX_NAME + 1] else None
    return Draft(role=cast(Role, role), content=words, author=author)


def _words(part: object, field: str) -> str:
    if not isinstance(part, Mapping):
        raise InvalidRequest(field, "must be an object.")
    given = cast(Mapping[str, object], part)
    kind = given.get("type")
    if not isinstance(kind, str):
        raise InvalidRequest(f"{field}.type", "must be text.")
    if kind not in _TEXTS:
        return marker_of(given)
    words = given.get(_TEXTS[kind])
    if not isinstance(words, str):
        raise InvalidRequest(f"{field}.{_TEXTS[kind]}", "must be text.")
    return words


def marker_of(part: Mapping[str, Any]) -> str:
    """What a part that is not text is recorded as."""
    return _PARTS.get(part["type"], _OTHER_PART)


def _own_item(message: Message) -> dict[str, Any]:
    kind = _ROLES.get(message.role, "output_text")
    part: dict[str, Any] = {"type": kind, "text": message.content}
    if kind == "output_text":
        part["annotations"] = []
    status = "completed" if message.status == "completed" else "incomplete"
    return {"type": "message", "role": message.role, "status": status, "content": [part]}


def _encoded(value: object) -> str:
    """As ASCII, because databases refuse NUL characters as such."""
    try:
        encoded = json.dumps(value, allow_nan=False, separators=(",", ":"))
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidRequest("item", "has a lone surrogate, which is not valid Unicode.") from None
    except (TypeError, ValueError) as error:
        raise InvalidRequest("item", f"cannot be stored as JSON: {error}.") from None
    return encoded


def _check_depth(value: object, depth: int = 0) -> None:
    """Refuse keys that are not strings, which JSON would convert, and nesting too deep to be read back."""
    if depth > MAX_DEPTH:
        raise InvalidRequest("item", f"is nested more than {MAX_DEPTH} deep.")
    if isinstance(value, Mapping):
        for key, inner in cast(Mapping[object, object], value).items():
            if not isinstance(key, str):
                raise InvalidRequest("item", f"has the key {key!r}, which is not a string.")
            _check_depth(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in cast(Sequence[object], value):
            _check_depth(inner, depth + 1)
