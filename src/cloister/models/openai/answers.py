"""The JSON schemas of a model's answers, and a tolerant parser for answers that do not conform, as not all servers enforce schemas.

An item without a required field is skipped if others can be used. Error messages contain nothing of the answer, because they are
sent back to the model and may be logged.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, cast, get_args

from cloister.domain.extraction import EntityType, ExtractedEntity, ExtractedMemory, ExtractedRelation
from cloister.domain.identifiers import MemoryId, MessageId
from cloister.domain.memory import normalised
from cloister.domain.patterns import linear
from cloister.models.openai.quotations import restore_brackets

LONGEST_TEXT = 400
LONGEST_NAME = 120
MOST_ITEMS = 40
LONGEST_RELATION = 40
MOST_RELATIONS = 8
MOST_REPLACED = 8
_TYPES = get_args(EntityType)
_TYPE_SYNONYMS: Mapping[str, EntityType] = {
    "organization": "organisation",
    "company": "organisation",
    "location": "place",
}
# Inside of prose, only a list of objects or an empty one begins the JSON: "Here are [2] of them" does not.
_BEGIN = linear(r"\A\[|\{|\[(?=\s*[{\]])")

Schema = Mapping[str, object]
Note = tuple[str, tuple[MessageId, ...]]
_Read = TypeVar("_Read")


class UnusableAnswer(ValueError):
    """An answer cannot be used. The message can be sent back to the model."""


class OtherItems(UnusableAnswer):
    """The answer is well-formed, but lists another kind of item: the model found none of the kind that was asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """The text that a model generated; `complete` is false if it was cut off at the token limit."""

    text: str
    complete: bool = True


def _text(longest: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _answer(field: str, **properties: Schema) -> Schema:
    """The schema of an object with one list. Strict servers demand that every field is required and no other is allowed."""
    numbers = {"type": "array", "minItems": 1, "maxItems": MOST_ITEMS, "items": {"type": "integer", "minimum": 1}}
    fields = {**properties, "sources": numbers}
    item = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
    items = {"type": "array", "maxItems": MOST_ITEMS, "items": item}
    return {"type": "object", "properties": {field: items}, "required": [field], "additionalProperties": False}


def memories_schema(categories: Sequence[str]) -> Schema:
    """The schema of memories, each of one of these categories."""
    numbers = {"type": "array", "maxItems": MOST_REPLACED, "items": {"type": "integer", "minimum": 1}}
    return _answer(
        "memories",
        content=_text(LONGEST_TEXT),
        importance={"type": "number", "minimum": 0, "maximum": 1},
        category={"type": "string", "enum": [*categories]},
        replaces=numbers,
    )


ENTITIES = _answer(
    "entities",
    name=_text(LONGEST_NAME),
    type={"type": "string", "enum": [*_TYPES]},
    notes=_text(LONGEST_TEXT),
    relations={
        "type": "array",
        "maxItems": MOST_RELATIONS,
        "items": {
            "type": "object",
            "properties": {"relation": _text(LONGEST_RELATION), "entity": _text(LONGEST_NAME)},
            "required": ["relation", "entity"],
            "additionalProperties": False,
        },
    },
)
NOTES = _answer("notes", content=_text(LONGEST_TEXT))


def without_lengths(schema: Schema) -> Schema:
    """The same schema for servers that do not support `minLength` and `maxLength`."""
    return {
        key: without_lengths(cast(Schema, value)) if isinstance(value, dict) else value
        for key, value in schema.items()
        if key not in ("minLength", "maxLength")
    }


class Asked(NamedTuple):
    """The messages that a model was asked about, in the order of their numbers."""

    ids: Sequence[MessageId]
    all_by_users: bool
    known: Sequence[MemoryId] = ()
    """The known memories that it was shown, in the order of their numbers."""
    categories: Sequence[str] = ()


def read_memories(reply: Reply, asked: Asked) -> list[ExtractedMemory]:
    return _usable(
        _items(reply, "memories"),
        lambda item: ExtractedMemory(
            content=item.text("content"),
            importance=item.importance(),
            sources=item.sources(asked),
            categories=item.categories(asked),
            replaces=item.replaces(asked),
        ),
    )


def read_entities(reply: Reply, asked: Asked) -> list[ExtractedEntity]:
    return _usable(
        _items(reply, "entities"),
        lambda item: ExtractedEntity(
            name=item.text("name", LONGEST_NAME),
            type=item.entity_type(),
            notes=item.notes(),
            sources=item.sources(asked),
            relations=item.relations(item.sources(asked)),
        ),
    )


def read_notes(reply: Reply, asked: Asked) -> list[Note]:
    """Notes are on the whole conversation: where none is named, all messages are the source, whoever wrote them."""
    of_all = asked._replace(all_by_users=True)
    return _usable(_items(reply, "notes"), lambda item: (item.text("content"), item.sources(of_all)))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Item:
    path: str
    fields: Mapping[str, object]

    def text(self, field: str, longest: int = LONGEST_TEXT) -> str:
        given = self.fields.get(field)
        if not isinstance(given, str):
            raise OtherItems(f"{self.path}.{field} is not text.")
        text = normalised(restore_brackets(given))
        if not text:
            raise UnusableAnswer(f"{self.path}.{field} is empty.")
        if len(text) > longest:
            raise UnusableAnswer(f"{self.path}.{field} is longer than {longest} characters.")
        return text

    def notes(self) -> str:
        """The notes on an entity, which may be missing: the name alone is worth storing."""
        given = self.fields.get("notes")
        return self.text("notes") if isinstance(given, str) and given.strip() else ""

    def relations(self, sources: tuple[MessageId, ...]) -> tuple[ExtractedRelation, ...]:
        """The relations of an entity, which may be missing, with the sources of the entity; those that cannot be used are left
        out."""
        given = self.fields.get("relations")
        found: list[ExtractedRelation] = []
        for stated in cast(list[object], given)[:MOST_RELATIONS] if isinstance(given, list) else ():
            fields = cast(dict[str, object], stated) if isinstance(stated, dict) else {}
            relation, other = (_line(fields.get(name)) for name in ("relation", "entity"))
            if 0 < len(relation) <= LONGEST_RELATION and 0 < len(other) <= LONGEST_NAME:
                found.append(ExtractedRelation(relation=relation.casefold(), other=other, sources=sources))
        return tuple(found)

    def importance(self) -> float | None:
        """A number from 0 to 1, or none if the field is no number. Models without an enforced schema answer on a scale to 10 or to
        100: a number above 1 is read on the smaller of these scales that contains it."""
        given = self.fields.get("importance")
        if not isinstance(given, int | float) or isinstance(given, bool):
            return None
        if given <= 1:
            return float(max(given, 0))
        return given / 10 if given <= 10 else min(given, 100) / 100

    def categories(self, asked: Asked) -> tuple[str, ...]:
        """The category, if it is one of those that were asked for."""
        given = str(self.fields.get("category")).casefold()
        return tuple(category for category in asked.categories if category.casefold() == given)[:1]

    def replaces(self, asked: Asked) -> tuple[MemoryId, ...]:
        """The known memories with the given numbers. Other numbers are ignored, and so are all if there are too many: a model that
        names everything has not understood the question, and what is true must not be withdrawn (MEM-12)."""
        given = self.fields.get("replaces")
        numbers = cast(list[object], given) if isinstance(given, list) else []
        named = {number for number in map(_number, numbers[: MOST_REPLACED + 1]) if number is not None}
        found = tuple(id for at, id in enumerate(asked.known, 1) if at in named)
        return found if len(numbers) <= MOST_REPLACED else ()

    def entity_type(self) -> EntityType:
        given = str(self.fields.get("type")).casefold()
        if given in _TYPES:
            return cast(EntityType, given)
        return _TYPE_SYNONYMS.get(given, "other")

    def sources(self, asked: Asked) -> tuple[MessageId, ...]:
        """The messages with the given numbers, which count from one. Numbers of which none is valid make an item unusable, and so
        do missing ones unless all messages are the user's: the assistant's words would become the user's."""
        given = self.fields.get("sources")
        alone = [] if given is None else [given]
        numbers = cast(list[object], given) if isinstance(given, list) else alone
        named = {number for number in map(_number, numbers) if number is not None}
        found = tuple(id for at, id in enumerate(asked.ids, 1) if at in named)
        if found or (not numbers and asked.all_by_users):
            return found or tuple(asked.ids)
        raise UnusableAnswer(
            f"{self.path}.sources names none of the messages, which are numbered 1 to {len(asked.ids)}."
        )


def _line(given: object) -> str:
    return normalised(restore_brackets(given)) if isinstance(given, str) else ""


def _number(given: object) -> int | None:
    if isinstance(given, bool):
        return None
    if isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) < 10:
        return int(given)
    return given if isinstance(given, int) else None


def _usable(items: Sequence[_Item], read: Callable[[_Item], _Read]) -> list[_Read]:
    """The items that can be parsed. If none can, raise the first problem other than `OtherItems`, or else the first."""
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
    """The objects of an answer, which is `{field: […]}` or the list alone."""
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
        _Item(path=f"{field}[{at}]", fields=cast(dict[str, object], item))
        for at, item in enumerate(items)
        if isinstance(item, dict)
    ]
    if items and not found:
        raise UnusableAnswer(f"{field}[0] is not an object.")
    return found


def _is_list_of_objects(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(item, dict) for item in cast(list[object], given))


def _json(text: str) -> object:
    """The JSON in an answer, from its first bracket to the last of that kind. Models put their reasoning before it, wrap it into a
    code block, and add prose around it."""
    bare = _without_reasoning(text).strip()
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


def _without_reasoning(text: str) -> str:
    """Remove the text from each `<think>` to the next `</think>`. A pattern would search for each end again: quadratic time."""
    kept: list[str] = []
    begin = 0
    while (opened := text.find("<think>", begin)) >= 0 and (closed := text.find("</think>", opened)) >= 0:
        kept.append(text[begin:opened])
        begin = closed + len("</think>")
    return "".join(kept) + text[begin:]


def _refuse_constant(name: str) -> object:
    """Python parses NaN and Infinity, which are not JSON."""
    raise ValueError(name)
