"""A model's answers: the JSON schemas they are asked to keep, and how they are read when they do not.

A server that enforces schemas makes most of this unnecessary; not all do. What is wrong with an answer is said in words that
hold nothing of it, because they are sent back to the model and may end up in a log.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from cloister.domain.extraction import EntityType, ExtractedEntity, ExtractedMemory
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import normalised
from cloister.models.quotations import as_written

LONGEST_TEXT = 400
LONGEST_NAME = 120
MOST_ITEMS = 40
_HIGHEST_IMPORTANCE = 10
_TYPES = get_args(EntityType)
_ALSO_WRITTEN: Mapping[str, EntityType] = {
    "organization": "organisation",
    "company": "organisation",
    "location": "place",
}
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)

Schema = Mapping[str, object]
Note = tuple[str, tuple[MessageId, ...]]


class UnusableAnswer(ValueError):
    """Why an answer cannot be used, in words that can be told to whoever gave it."""


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
    importance={"type": "integer", "minimum": 0, "maximum": _HIGHEST_IMPORTANCE},
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
    return [
        ExtractedMemory(content=item.text("content"), importance=item.importance(), sources=item.sources(asked))
        for item in _items(reply, "memories")
    ]


def read_entities(reply: Reply, asked: Sequence[MessageId]) -> list[ExtractedEntity]:
    return [
        ExtractedEntity(
            name=item.text("name", LONGEST_NAME),
            type=item.entity_type(),
            notes=item.text("notes"),
            sources=item.sources(asked),
        )
        for item in _items(reply, "entities")
    ]


def read_notes(reply: Reply, asked: Sequence[MessageId]) -> list[Note]:
    return [(item.text("content"), item.sources(asked)) for item in _items(reply, "notes")]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Item:
    place: str
    fields: Mapping[str, object]

    def text(self, field: str, longest: int = LONGEST_TEXT) -> str:
        given = self.fields.get(field)
        if not isinstance(given, str):
            raise UnusableAnswer(f"{self.place}.{field} is not text.")
        text = normalised(as_written(given))
        if not text:
            raise UnusableAnswer(f"{self.place}.{field} is empty.")
        if len(text) > longest:
            raise UnusableAnswer(f"{self.place}.{field} is longer than {longest} characters.")
        return text

    def importance(self) -> float | None:
        """From 0 to 1. A model that was not held to the scale may have answered on this one already."""
        given = self.fields.get("importance")
        if given is None:
            return None
        if not isinstance(given, int | float) or isinstance(given, bool):
            raise UnusableAnswer(f"{self.place}.importance is not a number.")
        if isinstance(given, float) and 0 < given < 1:
            return given
        return min(max(given, 0), _HIGHEST_IMPORTANCE) / _HIGHEST_IMPORTANCE

    def entity_type(self) -> EntityType:
        given = self.text("type").casefold()
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


def _items(reply: Reply, field: str) -> list[_Item]:
    """The items of an answer, `{field: […]}` or the list alone."""
    if not reply.complete:
        raise UnusableAnswer("it was too long and was cut off: give fewer and shorter items.")
    given = _json(reply.text)
    if isinstance(given, dict):
        given = cast(dict[str, object], given).get(field)
    if not isinstance(given, list):
        raise UnusableAnswer(f'it is not a JSON object with a list "{field}".')
    items = cast(list[object], given)
    if len(items) > MOST_ITEMS:
        raise UnusableAnswer(f"{field} has more than {MOST_ITEMS} items.")
    found: list[_Item] = []
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            raise UnusableAnswer(f"{field}[{at}] is not an object.")
        found.append(_Item(place=f"{field}[{at}]", fields=cast(dict[str, object], item)))
    return found


def _json(text: str) -> object:
    """The JSON in an answer. Models like to think aloud before it, or to wrap it into a code block."""
    bare = _THOUGHTS.sub("", text).strip()
    if not bare:
        raise UnusableAnswer("it is empty.")
    if not bare.startswith(("{", "[")):
        bare = bare[bare.find("{") : bare.rfind("}") + 1]
    try:
        return json.loads(bare, parse_constant=_refuse_constant)
    except RecursionError:
        raise UnusableAnswer("it is nested too deeply.") from None
    except ValueError:
        raise UnusableAnswer("it is not JSON.") from None


def _refuse_constant(name: str) -> object:
    """Python reads NaN and Infinity; JSON does not know them."""
    raise ValueError(name)
