"""Sanitises JSON values that are sent to a model with their own role, such as tool calls: no text in them, at whatever depth, keeps
a control token of a chat template (ISO-4). Ids are changed in the same way wherever they stand, so that an answer still matches its
call."""

import json
from collections.abc import Mapping
from typing import Any, cast

from cloister.domain.prompts.outside_text import without_control_tokens, without_control_words

_ARGUMENTS = "arguments"
# What the model's server compares with what it sent, together with the text before it.
_SIGNED = "thinking"


def value_without_control_words(value: Any) -> Any:
    """The value with every text in it sanitised, names of fields too. `arguments` of a function are JSON in a text: its values are
    sanitised, because a server may decode them. Of a signed thought only whole tokens are changed."""
    if isinstance(value, str):
        return without_control_words(value)
    if isinstance(value, list):
        return [value_without_control_words(item) for item in cast(list[Any], value)]
    if not isinstance(value, Mapping):
        return value
    fields = cast(Mapping[str, Any], value)
    return {without_control_words(name): _field(fields, name) for name in fields}


def arguments_without_control_words(arguments: str) -> str:
    """Arguments in the same words, unless a text in them has a control token, also one that is written with escapes."""
    try:
        given = json.loads(arguments, object_pairs_hook=_fields_named_once)
        clean = value_without_control_words(given)
    except (ValueError, RecursionError):
        # Not JSON, too deep to read, or with fields that the value does not have: without escapes nothing can be decoded in it.
        return without_control_words(_without_escapes(arguments))
    return arguments if clean == given else json.dumps(clean, ensure_ascii=False)


def _fields_named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object. Raises `ValueError` if a name is there twice: the first value would not be looked at."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError
    return fields


def _without_escapes(text: str) -> str:
    """The text without any backslash before a "u": if only one were taken away, two would leave an escape behind."""
    *before, last = text.split("u")
    return "u".join((*(part.rstrip("\\") for part in before), last))


def _field(fields: Mapping[str, Any], name: str) -> Any:
    value = fields[name]
    if name == _ARGUMENTS and isinstance(value, str):
        return arguments_without_control_words(value)
    if name == _SIGNED and fields.get("type") == _SIGNED and isinstance(value, str):
        return without_control_tokens(value)
    return value_without_control_words(value)
