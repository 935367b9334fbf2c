"""Examples of lists of memories and of timelines, from the same household as the others."""

from collections.abc import Mapping

from cloister.interfaces.http.openapi.examples import MEMORY_SHAPE, Example, page_example

_ENTRY = {
    "kind": "superseded",
    "at": MEMORY_SHAPE["created_at"],
    "memory": MEMORY_SHAPE,
    "before": "The user stays with a friend in Belém.",
    "after": MEMORY_SHAPE["content"],
    "replaced_id": "mem_06a2c81f5d3e4b70",
    "changed_by": "extraction",
    "undone_at": None,
}

_ACTIVITY = {
    "days": [
        {"date": "2026-03-01", "messages": 12, "memories": 2},
        {"date": "2026-03-02", "messages": 0, "memories": 0},
    ],
    "complete": True,
}

LISTING_EXAMPLES: Mapping[str, Example] = {
    "list_project_memories": page_example(MEMORY_SHAPE),
    "list_project_timeline": page_example(_ENTRY),
    "list_user_timeline": page_example(_ENTRY),
    "get_project_activity": Example(answer=_ACTIVITY),
    "get_user_activity": Example(answer=_ACTIVITY),
}
