"""The forms of ids, names, texts and times as JSON Schema: what the services check, said where a caller can read it."""

from collections.abc import Mapping
from typing import Any, get_args

from cloister.domain.access import PERMISSIONS
from cloister.domain.context import HIGHEST_BUDGET, HIGHEST_LIMIT, Origin
from cloister.domain.conversation import ROLES, STATUSES
from cloister.domain.extraction import EntityType
from cloister.domain.keys import LENGTH, PREFIX
from cloister.domain.memory import MAX_MEMORY
from cloister.domain.project_settings import MAX_SYSTEM_PROMPT, MOST_PENDING_MESSAGES
from cloister.domain.scope import MemberVisibility
from cloister.domain.text import MAX_CONTENT, MAX_NAME, MAX_TAGS, RESERVED_TAGS

Form = dict[str, Any]

# Written out, so that every dialect of regular expressions reads them alike.
_BLANK = r"^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$"
_CONTROL = r"[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]"
_NUL = r"\u0000"
# What is left out of a memory, alone.
_NOTHING = r"^[\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$"


def _text(longest: int, *refused: str) -> Form:
    """What matches one of these is refused, and so are spaces alone."""
    return {"minLength": 1, "maxLength": longest, "not": {"pattern": "|".join((_BLANK, *refused))}}


def _id(prefix: str) -> Form:
    return {"pattern": f"^{prefix}_[0-9a-f]{{16}}$"}


NAME = _text(MAX_NAME, _CONTROL)
TAG = _text(MAX_NAME, _CONTROL, *(f"^{prefix}" for prefix in RESERVED_TAGS))
TAGS: Form = {"maxItems": MAX_TAGS}
CONTENT = _text(MAX_CONTENT, _NUL)
SYSTEM_PROMPT = _text(MAX_SYSTEM_PROMPT, _NUL)
TIME: Form = {"format": "date-time"}
TENANT_ID, PROJECT_ID, MESSAGE_ID, EPISODE_ID, KEY_ID = map(_id, ("ten", "proj", "msg", "ep", "key"))
MEMORY_ID, ENTITY_ID, OBSERVATION_ID = map(_id, ("mem", "ent", "obs"))
MEMORY = _text(MAX_MEMORY, _NOTHING, _NUL)
PROJECT_OR_NONE: Form = {"pattern": f"^none$|{PROJECT_ID['pattern']}"}
API_KEY: Form = {"pattern": f"^{PREFIX}[0-9A-Za-z]{{{LENGTH - len(PREFIX)}}}$"}
CURSOR: Form = {"pattern": "^[0-9A-Za-z_-]+$"}
CONTEXT_LIMIT: Form = {"minimum": 0, "maximum": HIGHEST_LIMIT}
BUDGET: Form = {"minimum": 0, "maximum": HIGHEST_BUDGET}
PENDING_MESSAGES: Form = {"minimum": 1, "maximum": MOST_PENDING_MESSAGES}

# Those that the document names, so that it says each of them once.
NAMED: Mapping[str, tuple[Form, str]] = {
    "Name": (NAME, "One line of text without control characters; not only spaces."),
    "Content": (CONTENT, "Text without NUL; not only spaces."),
    "Time": (TIME, "ISO 8601, years 1 to 9999, such as `2026-01-31T09:30:00Z`; what the server gives is in UTC."),
    "TenantId": (TENANT_ID, "`ten_` and 16 hexadecimal digits."),
    "ProjectId": (PROJECT_ID, "`proj_` and 16 hexadecimal digits."),
    "MessageId": (MESSAGE_ID, "`msg_` and 16 hexadecimal digits."),
    "EpisodeId": (EPISODE_ID, "`ep_` and 16 hexadecimal digits."),
    "MemoryId": (MEMORY_ID, "`mem_` and 16 hexadecimal digits."),
    "EntityId": (ENTITY_ID, "`ent_` and 16 hexadecimal digits."),
    "ObservationId": (OBSERVATION_ID, "`obs_` and 16 hexadecimal digits."),
    "KeyId": (KEY_ID, "`key_` and 16 hexadecimal digits: the name of a key, not the key."),
    "Secret": (API_KEY, "A key itself. It is shown this once, and kept nowhere."),
    "Cursor": (CURSOR, "Where a list goes on, as it was given."),
}


def named(name: str) -> Form:
    return {"$ref": f"#/components/schemas/{name}"}


# What answers hold, by the name of the field, or by its shape and its name.
ANSWERS: Mapping[str, Form] = {
    "created_at": named("Time"),
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
    "omitted": {"required": ["current_conversation", "relevant_history", "memories", "entities", "observations"]},
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
    "Entity.id": named("EntityId"),
    "Entity.type": {"enum": [*get_args(EntityType)]},
    "Observation.id": named("ObservationId"),
    "Hit.id": {"anyOf": [named("EpisodeId"), named("MemoryId"), named("EntityId")]},
    "Hit.kind": {"enum": ["episode", "memory", "entity"]},
}
