"""The formats of ids, names, texts and times as JSON Schema. The services enforce them; here they are documented."""

from collections.abc import Mapping
from typing import Any, get_args

from cloister.domain.access import PERMISSIONS
from cloister.domain.context import HIGHEST_BUDGET, HIGHEST_LIMIT, Origin
from cloister.domain.conversation import ROLES, STATUSES
from cloister.domain.entity import MAX_ENTITY_NAME, MAX_NOTES
from cloister.domain.extraction import EntityType
from cloister.domain.identifiers import NO_PROJECT
from cloister.domain.keys import LENGTH, PREFIX
from cloister.domain.memory import MAX_MEMORY
from cloister.domain.project_settings import LANGUAGES as KNOWN_LANGUAGES
from cloister.domain.project_settings import (
    MAX_INSTRUCTIONS,
    MAX_SYSTEM_PROMPT,
    MOST_PENDING_MESSAGES,
    MOST_RETENTION_DAYS,
)
from cloister.domain.recall.filter_language import DEEPEST, KIND_NAMES, MOST_CONDITIONS
from cloister.domain.recall.relevance import Strength
from cloister.domain.scope import MemberVisibility
from cloister.domain.sessions.unmoved import UNMOVED_PATTERN
from cloister.domain.text import MAX_CATEGORY, MAX_CONTENT, MAX_NAME, RESERVED_TAGS

Schema = dict[str, Any]

# Character classes are written out, so that all dialects of regular expressions interpret them alike.
_BLANK = r"^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$"
_CONTROL = r"[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]"
_NUL = r"\u0000"
# Only characters that are stripped from memories.
_NOTHING = r"^[\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$"


def _text(longest: int, *refused: str) -> Schema:
    """A text that matches none of the `refused` patterns and is not blank."""
    return {"minLength": 1, "maxLength": longest, "not": {"pattern": "|".join((_BLANK, *refused))}}


def _id(prefix: str) -> Schema:
    return {"pattern": f"^{prefix}_[0-9a-f]{{16}}$"}


NAME = _text(MAX_NAME, _CONTROL)
TAG = _text(MAX_NAME, _CONTROL, *(f"^{prefix}" for prefix in RESERVED_TAGS))
CATEGORY = _text(MAX_CATEGORY, _CONTROL)
CONTENT = _text(MAX_CONTENT, _NUL)
SYSTEM_PROMPT = _text(MAX_SYSTEM_PROMPT, _NUL)
INSTRUCTIONS: Schema = _text(MAX_INSTRUCTIONS, _NUL)
LANGUAGES: Schema = {"items": {"type": "string", "enum": [*KNOWN_LANGUAGES]}}
TIME: Schema = {"format": "date-time"}
TENANT_ID, PROJECT_ID, MESSAGE_ID, EPISODE_ID, KEY_ID = map(_id, ("ten", "proj", "msg", "ep", "key"))
MESSAGE_OR_END: Schema = {"pattern": "^(end|msg_[0-9a-f]{16})$"}
MEMORY_ID, ENTITY_ID, OBSERVATION_ID = map(_id, ("mem", "ent", "obs"))
ITEM_ID: Schema = {"pattern": "^(msg|fc|fco|rs|item)_[0-9a-f]{16}$"}
EXCLUDED_ID: Schema = {"pattern": "^(msg|mem|ent)_[0-9a-f]{16}$"}
RESPONSE_ID, RECEIPT_ID = map(_id, ("resp", "rcpt"))
MEMORY = _text(MAX_MEMORY, _NOTHING, _NUL)
ENTITY_NAME = _text(MAX_ENTITY_NAME, _CONTROL, _NOTHING)
# Notes may be empty, but not blank.
ENTITY_NOTES: Schema = {
    "maxLength": MAX_NOTES,
    "not": {"pattern": "|".join((_BLANK.replace("*$", "+$"), _NOTHING.replace("*$", "+$"), _NUL))},
}
PROJECT_OR_NONE: Schema = {"pattern": f"^none$|{PROJECT_ID['pattern']}"}
API_KEY: Schema = {"pattern": f"^{PREFIX}[0-9A-Za-z]{{{LENGTH - len(PREFIX)}}}$"}
UNMOVED_TOKEN: Schema = {"pattern": f"^{UNMOVED_PATTERN}$"}
CURSOR: Schema = {"pattern": "^[0-9A-Za-z_-]+$"}
CONTEXT_LIMIT: Schema = {"minimum": 0, "maximum": HIGHEST_LIMIT}
RELEVANCE: Schema = {"minimum": 0, "maximum": 1}
BUDGET: Schema = {"minimum": 0, "maximum": HIGHEST_BUDGET}
RETENTION_DAYS: Schema = {"minimum": 0, "maximum": MOST_RETENTION_DAYS}
PENDING_MESSAGES: Schema = {"minimum": 1, "maximum": MOST_PENDING_MESSAGES}

# Formats that are named schemas of the document, so that each is described once.
NAMED: Mapping[str, tuple[Schema, str]] = {
    "Name": (NAME, "One line of text without control characters, not blank."),
    "Content": (CONTENT, "Text without NUL, not blank."),
    "Time": (TIME, "ISO 8601, years 1 to 9999, such as `2026-01-31T09:30:00Z`; times in answers are in UTC."),
    "TenantId": (TENANT_ID, "`ten_` and 16 hexadecimal digits."),
    "ProjectId": (PROJECT_ID, "`proj_` and 16 hexadecimal digits."),
    "MessageId": (MESSAGE_ID, "`msg_` and 16 hexadecimal digits."),
    "EpisodeId": (EPISODE_ID, "`ep_` and 16 hexadecimal digits."),
    "MemoryId": (MEMORY_ID, "`mem_` and 16 hexadecimal digits."),
    "EntityId": (ENTITY_ID, "`ent_` and 16 hexadecimal digits."),
    "ObservationId": (OBSERVATION_ID, "`obs_` and 16 hexadecimal digits."),
    "KeyId": (KEY_ID, "`key_` and 16 hexadecimal digits: the id of a key, not the key itself."),
    "Secret": (API_KEY, "An API key. It is shown only in this answer, and is not stored."),
    "Cursor": (CURSOR, "The position of the next page in a list; opaque."),
}


def named(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def project_headers(example: object) -> Schema:
    """The parameters for the project of a request: of most routes, and of those where it may be none."""
    header: Schema = {
        "name": "X-Project-ID",
        "in": "header",
        "description": "The project of the request; it takes precedence over that of the key.",
        "schema": named("ProjectId"),
        "example": example,
    }
    described = f"{header['description']} `{NO_PROJECT}` is no project."
    either = {"anyOf": [named("ProjectId"), {"const": NO_PROJECT}]}
    return {"ProjectHeader": header, "ProjectOrNoneHeader": {**header, "description": described, "schema": either}}


# Marks of schemas that are replaced by the filter's, in a body and as JSON text in a query.
FILTER_MARK: Schema = {"format": "filter"}
FILTER_TEXT_MARK: Schema = {"format": "filter as JSON"}
# Not a reference to the filter itself: what generates requests from a recursive schema does not come to an end.
_INNER: Schema = {"type": "object", "minProperties": 1, "description": "A filter: conditions like these."}
_FILTERS: Schema = {"type": "array", "minItems": 1, "maxItems": MOST_CONDITIONS, "items": _INNER}
FILTER: Schema = {
    "type": "object",
    "description": "Conditions, all of which must be true. A condition on what an item does not have, such as the role of a "
    f"memory, is false. At most {MOST_CONDITIONS} conditions, in objects nested at most {DEEPEST} deep.",
    "minProperties": 1,
    "additionalProperties": False,
    "properties": {
        "created_after": {
            **named("Time"),
            "description": "Said after this time: messages by `created_at`, memories by `valid_from`; entities created after it.",
        },
        "created_before": {**named("Time"), "description": "Said before this time."},
        "session_id": {**named("Name"), "description": "Of this session."},
        "user_id": {**named("Name"), "description": "Of this user's sessions."},
        "role": {"enum": [*ROLES], "description": "Messages of this role."},
        "author": {**named("Name"), "description": "Messages of this author."},
        "category": {"type": "string", **CATEGORY, "description": "With this category."},
        "metadata": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": MOST_CONDITIONS,
            "description": "With these entries, equal as JSON.",
        },
        "kind": {"enum": [*KIND_NAMES], "description": "`episode` is the same as `message`."},
        "and": _FILTERS,
        "or": _FILTERS,
        "not": _INNER,
    },
}

# The formats of fields in answers, by the name of the field, or by model and field.
ANSWERS: Mapping[str, Schema] = {
    "created_at": named("Time"),
    "Conversation.created_at": {"type": "integer"},
    "updated_at": named("Time"),
    "expires_at": named("Time"),
    "tenant_id": named("TenantId"),
    "project_id": named("ProjectId"),
    "default_project_id": named("ProjectId"),
    "key_id": named("KeyId"),
    "key": named("Secret"),
    "admin_key": named("Secret"),
    "external_id": named("Name"),
    "session_id": named("Name"),
    "user_id": named("Name"),
    "trigger_id": named("MessageId"),
    "next_cursor": named("Cursor"),
    "settings": named("ProjectSettings"),
    "role": {"enum": [*ROLES]},
    "member_visibility": {"enum": [*get_args(MemberVisibility)]},
    "permissions": {"items": {"enum": [*PERMISSIONS]}},
    "omitted": {
        "required": [
            "current_conversation",
            "relevant_history",
            "memories",
            "entities",
            "observations",
            "weak",
            "duplicate",
            "limit",
            "budget",
        ]
    },
    "relevance": {"type": "number", **RELEVANCE},
    "strength": {"enum": [*get_args(Strength)]},
    "times_said": {"minimum": 1},
    "same_as": {"items": named("MessageId"), "maxItems": 10},
    "Project.isolated": {"const": True},
    "Message.id": named("MessageId"),
    "Message.status": {"enum": [*STATUSES]},
    "Episode.id": named("EpisodeId"),
    "Episode.message_ids": {"items": named("MessageId")},
    "ContextItem.id": named("MessageId"),
    "ContextItem.source": {"enum": [*get_args(Origin)]},
    "source_message_ids": {"items": named("MessageId")},
    "Memory.id": named("MemoryId"),
    "Memory.importance": {"type": "number", "minimum": 0, "maximum": 1},
    "EntityDetail.id": named("EntityId"),
    "EntityDetail.type": {"enum": [*get_args(EntityType)]},
    "EntityRelation.entity_id": named("EntityId"),
    "EntityRelation.message_ids": {"items": named("MessageId")},
    "EntityMention.message_id": named("MessageId"),
    "Entity.id": named("EntityId"),
    "Entity.type": {"enum": [*get_args(EntityType)]},
    "Observation.id": named("ObservationId"),
    "Hit.id": {"anyOf": [named("EpisodeId"), named("MemoryId"), named("EntityId")]},
    "Hit.kind": {"enum": ["episode", "memory", "entity"]},
}


def simplified(schema: Schema) -> Schema:
    """A schema without titles, which repeat the names of fields, and with references to the named formats."""
    plain = {key: _whole(value) for key, value in schema.items() if key != "title"}
    if "properties" in plain:
        plain["properties"] = {name: simplified(inner) for name, inner in plain["properties"].items()}
    if "anyOf" in plain:
        plain["anyOf"] = [simplified(inner) for inner in plain["anyOf"]]
    if "items" in plain:
        plain["items"] = simplified(plain["items"])
    if FILTER_MARK.items() <= plain.items():
        return named("Filter") | {key: value for key, value in plain.items() if key in ("description", "default")}
    if FILTER_TEXT_MARK.items() <= plain.items():
        return {"type": "string", "contentMediaType": "application/json", "contentSchema": named("Filter")}
    for name, (form, _) in NAMED.items():
        if plain.get("type") == "string" and form.items() <= plain.items():
            return named(name) | {key: value for key, value in plain.items() if key not in {"type", *form}}
    return plain


def _whole(value: Any) -> Any:
    """A whole float as an integer: FastAPI turns all limits into floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
