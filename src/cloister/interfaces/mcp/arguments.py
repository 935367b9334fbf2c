"""Checks the arguments of a tool call against the schema that its tool is listed with."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.recall.relevance import checked_min_relevance
from cloister.interfaces.mcp.tools import Schema, Tool

_SCOPE_WORDS = frozenset(
    ("tenant", "tenant_id", "project", "project_id", "user", "user_id", "session", "session_id", "scope", "group_id")
)


def checked_arguments(tool: Tool, given: Mapping[str, object] | None) -> dict[str, Any]:
    """The arguments with defaults for those that are missing. An unknown one is refused: a model that passes `user_id` would
    otherwise believe that it was obeyed."""
    given = given or {}
    for name in given:
        if name not in tool.arguments:
            raise InvalidRequest(_shortened(name), _unknown(tool, name))
    for name in tool.required:
        if name not in given:
            raise InvalidRequest(name, f"is missing: {tool.name} needs it.")
    defaults = {name: schema.get("default") for name, schema in tool.arguments.items()}
    return defaults | {name: _checked(value, tool.arguments[name], name) for name, value in given.items()}


def _unknown(tool: Tool, name: str) -> str:
    known = ", ".join(tool.arguments)
    why = " The scope is that of the connection, and no argument changes it." if name.lower() in _SCOPE_WORDS else ""
    return f"is not an argument of {tool.name}, which has {known}.{why}"


def _checked(value: object, schema: Schema, field: str) -> object:
    if schema["type"] == "integer":
        return _number(value, schema, field)
    if schema["type"] == "number":
        return checked_min_relevance(value, field)
    if schema["type"] == "array":
        return _array(value, schema, field)
    return _text(value, schema, field)


def _number(value: object, schema: Schema, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidRequest(field, "must be a whole number.")
    if not schema["minimum"] <= value <= schema["maximum"]:
        raise InvalidRequest(field, f"must be from {schema['minimum']:,} to {schema['maximum']:,}.")
    return value


def _array(value: object, schema: Schema, field: str) -> list[object]:
    if not isinstance(value, list):
        raise InvalidRequest(field, "must be a list.")
    entries = cast(Sequence[object], value)
    if not schema["minItems"] <= len(entries) <= schema["maxItems"]:
        raise InvalidRequest(field, f"must have {schema['minItems']} to {schema['maxItems']} entries.")
    return [_checked(entry, schema["items"], f"{field}[{at}]") for at, entry in enumerate(entries)]


def _text(value: object, schema: Schema, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidRequest(field, "must be text.")
    if "enum" in schema:
        if value not in schema["enum"]:
            raise InvalidRequest(field, f"must be one of {', '.join(schema['enum'])}.")
        return value
    if not value.strip():
        raise InvalidRequest(field, "must not be empty.")
    if len(value) > schema["maxLength"]:
        raise TooLarge(field, len(value), schema["maxLength"])
    return value


def _shortened(name: str) -> str:
    """A name that a caller made up, short enough for an error."""
    return name if len(name) <= 64 else f"{name[:64]}…"
