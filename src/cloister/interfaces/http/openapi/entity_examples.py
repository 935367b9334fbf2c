"""Examples of entities, from the same household as the others."""

from collections.abc import Mapping
from typing import Any

from cloister.interfaces.http.openapi.examples import (
    ENTITY_SHAPE,
    MESSAGE,
    NEW_MESSAGE,
    SAID,
    SESSION,
    USER,
    Example,
    page_example,
)

_OTHER = "ent_1b83e6a20f400001"
_MENTION: dict[str, Any] = {
    "message_id": MESSAGE,
    "session_id": SESSION,
    "user_id": USER,
    **NEW_MESSAGE,
    "author": None,
    "created_at": SAID,
}
_DETAIL: dict[str, Any] = {
    **ENTITY_SHAPE,
    "aliases": [],
    "relations": [{"relation": "home of", "entity_id": _OTHER, "message_ids": [MESSAGE]}],
    "mentions": [_MENTION],
}

ENTITY_EXAMPLES: Mapping[str, Example] = {
    "list_entities": page_example(ENTITY_SHAPE),
    "get_entity": Example(answer=_DETAIL),
    "list_mentions": page_example(_MENTION),
    "change_entity": Example(
        request={"name": "Cacilhas", "aliases": ["Almada"]}, answer={**_DETAIL, "aliases": ["Almada"]}
    ),
    "merge_entity": Example(request={"into": _OTHER}, answer={**_DETAIL, "id": _OTHER}),
    "split_entity": Example(request={"aliases": ["Almada"]}, answer={**_DETAIL, "name": "Almada"}),
    "restore_entity": Example(answer=_DETAIL),
}
