"""A model's answers: the JSON schemas they are asked to keep, and how they are read when they do not.

A server that enforces schemas makes most of this unnecessary; not all do. An item that lacks what it needs is passed over where
others can be used. What is wrong with an answer is said in words that hold nothing of it, because they are sent back to the
model and may end up in a log.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast, get_args

from cloister.domain.extraction import EntityType, ExtractedEntity, ExtractedMemory
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import normalised
from cloister.domain.patterns import linear
from cloister.models.openai.quotations import as_written

LONGEST_TEXT = 400
LONGEST_NAME = 120
MOST_ITEMS = 40
_TYPES = get_args(EntityType)
_ALSO_WRITTEN: Mapping[str, EntityType] = {
    "organization": "organisation",
    "company": "organisation",
    "location": "place",
}
# Inside a text only a list of objects or an empty one; other square brackets may be prose, as in "Here are [2] of them".
_BEGIN = linear(r"\A\[|\{|\[(?=\s*[{\]])")

Schema = Mapping[str, object]
Note = tuple[str, tuple[MessageId, ...]]
_Read = TypeVar("_Read")


class UnusableAnswer(ValueError):
    """Why an answer cannot be used, in words that can be told to whoever gave it."""


class OtherItems(UnusableAnswer):
    """Well-formed, but a list of something else than was asked for: whoever gave it had nothing of that kind to say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a model wrote; `complete` is false where it was cut off at its limit."""

    text: str
    complete: bool = True


def _text(longest: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _answer(field: str, **properties: Schema) -> Schema:
    """An object that holds one list. Strict servers want every field required and no others allowed."""
    numbers = {"type": "array", "minItems": 1, "maxItems": MOST_ITEMS, "items": {"type": "integer", "minimum": 1}}
    fields = {**properties, "sources": numbers}
    item = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
    items = {"type": "array", "maxItems": MOST_ITEMS, "items": item}
    return {"type": "object", "properties": {field: items}, "required": [field], "additionalProperties": False}


MEMORIES = _answer(
    "memories",
    content=_text(LONGEST_TEXT),
    importance={"type": "number", "minimum": 0, "maximum": 1},
)
ENTITIES = _answer(
    "entities", name=_text(LONGEST_NAME), type={"type": "string", "enum": [*_TYPES]}, notes=_text(LONGEST_TEXT)
)
NOTES = _answer("notes", content=_text(LONGEST_TEXT))


def without_lengths(schema: Schema) -> Schema:
    """The same schema for servers that refuse bounds on the length of a text."""
    return {
        key: without_lengths(cast(Schema, value)) if isinstance(value, dict) else value
        for key, value in schema.items()
        if key not in ("minLength", "maxLength")
    }


def read_memories(reply: Reply, asked: Sequence[MessageId]) -> list[ExtractedMemory]:
    return _usable(
        _items(reply, "memories"),
        lambda item: ExtractedMemory(
            content=item.text("content"), importance=item.importance(), sources=item.sources(asked)
        ),
    )


def read_entities(reply: Reply, asked: Sequence[MessageId]) -> list[ExtractedEntity]:
    return _usable(
        _items(reply, "entities"),
        lambda item: ExtractedEntity(
            name=item.text("name", LONGEST_NAME),
            type=item.entity_type(),
            notes=item.notes(),
            sources=item.sources(asked),
        ),
    )


def read_notes(reply: Reply, asked: Sequence[MessageId]) -> list[Note]:
    return _usable(_items(reply, "notes"), lambda item: (item.text("content"), item.sources(asked)))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Item:
    place: str
    fields: Mapping[str, object]

    def text(self, field: str, longest: int = LONGEST_TEXT) -> str:
        given = self.fields.get(field)
        if not isinstance(given, str):
            raise OtherItems(f"{self.place}.{field} is not text.")
        text = normalised(as_written(given))
        if not text:
            raise UnusableAnswer(f"{self.place}.{field} is empty.")
        if len(text) > longest:
            raise UnusableAnswer(f"{self.place}.{field} is longer than {longest} characters.")
        return text

    def notes(self) -> str:
        """A name says something also where nothing is said of it."""
        given = self.fields.get("notes")
        return self.text("notes") if isinstance(given, str) and given.strip() else ""

    def importance(self) -> float | None:
        """A share, from 0 to 1, as it was asked for. Models that were not held to it answer in tenths (7) or hundredths (70): what
        is above 1 is read as the smallest of these scales that holds it. What is no number is no opinion."""
        given = self.fields.get("importance")
        if not isinstance(given, int | float) or isinstance(given, bool):
            return None
        if given <= 1:
            return float(max(given, 0))
        return given / 10 if given <= 10 else min(given, 100) / 100

    def entity_type(self) -> EntityType:
        given = str(self.fields.get("type")).casefold()
        if given in _TYPES:
            return cast(EntityType, given)
        return _ALSO_WRITTEN.get(given, "other")

    def sources(self, asked: Sequence[MessageId]) -> tuple[MessageId, ...]:
        """The messages behind the numbers given; all that were asked about where none of them is one of theirs."""
        given = self.fields.get("sources")
        numbers = cast(list[object], given) if isinstance(given, list) else [given]
        named = {number for number in map(_number, numbers) if number is not None}
        return tuple(id for at, id in enumerate(asked, 1) if at in named) or tuple(asked)


def _number(given: object) -> int | None:
    if isinstance(given, bool):
        return None
    if isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) < 10:
        return int(given)
    return given if isinstance(given, int) else None


def _usable(items: Sequence[_Item], read: Callable[[_Item], _Read]) -> list[_Read]:
    """The items that can be read. Where none can, the first problem that is not for want of a field is told before others."""
    found: list[_Read] = []
    problems: list[UnusableAnswer] = []
    for item in items:
        try:
            found.append(read(item))
        except UnusableAnswer as problem:
            problems.append(problem)
    if problems and not found:
        raise next((problem for problem in problems if not isinstance(problem, OtherItems)), problems[0])
    return found


def _items(reply: Reply, field: str) -> list[_Item]:
    """The objects of an answer, `{field: […]}` or the list alone."""
    if not reply.complete:
        raise UnusableAnswer("it was too long and was cut off: give fewer and shorter items.")
    given = _json(reply.text)
    if isinstance(given, dict):
        answer = cast(dict[str, object], given)
        given = answer.get(field)
        if field not in answer and any(map(_is_list_of_objects, answer.values())):
            raise OtherItems(f'it has no list "{field}".')
    if not isinstance(given, list):
        raise UnusableAnswer(f'it is not a JSON object with a list "{field}".')
    items = cast(list[object], given)
    if len(items) > MOST_ITEMS:
        raise UnusableAnswer(f"{field} has more than {MOST_ITEMS} items.")
    found = [
        _Item(place=f"{field}[{at}]", fields=cast(dict[str, object], item))
        for at, item in enumerate(items)
        if isinstance(item, dict)
    ]
    if items and not found:
        raise UnusableAnswer(f"{field}[0] is not an object.")
    return found


def _is_list_of_objects(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(item, dict) for item in cast(list[object], given))


def _json(text: str) -> object:
    """The JSON in an answer, from its first bracket to the last of that kind. Models like to think aloud before it, to wrap it into
    a code block, and to talk around it."""
    bare = _without_thoughts(text).strip()
    if not bare:
        raise UnusableAnswer("it is empty.")
    begun = _BEGIN.search(bare)
    if begun is None:
        raise UnusableAnswer("it is not JSON.")
    end = bare.rfind("}" if begun.group() == "{" else "]")
    try:
        return json.loads(bare[begun.start() : end + 1], parse_constant=_refuse_constant)
    except RecursionError:
        raise UnusableAnswer("it is nested too deeply.") from None
    except ValueError:
        raise UnusableAnswer("it is not JSON.") from None


def _without_thoughts(text: str) -> str:
    """Without what stands between `<think>` and the next `</think>`. Not a pattern: one would look for the end of each anew."""
    kept: list[str] = []
    begin = 0
    while (opened := text.find("<think>", begin)) >= 0 and (closed := text.find("</think>", opened)) >= 0:
        kept.append(text[begin:opened])
        begin = closed + len("</think>")
    return "".join(kept) + text[begin:]


def _refuse_constant(name: str) -> object:
    """Python reads NaN and Infinity; JSON does not know them."""
    raise ValueError(name)
