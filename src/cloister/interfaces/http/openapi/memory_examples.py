"""Examples of memories in time and of extraction, from the same household as the others."""

from collections.abc import Mapping
from typing import Any

from cloister.interfaces.http.openapi.examples import KEY_ID, MEMORY, MEMORY_SHAPE, SAID, Example, page_example

_CORRECTION = {"content": "The user stays at a hotel in Baixa.", "pinned": True}
_CORRECTED: dict[str, Any] = {**MEMORY_SHAPE, **_CORRECTION, "source": "corrected"}
_REVISION: dict[str, Any] = {
    "memory_id": MEMORY,
    "action": "correct",
    "changed_by": KEY_ID,
    "changed_at": "2026-05-03T18:04:40Z",
    "undone_at": None,
    "before": {
        "content": MEMORY_SHAPE["content"],
        "importance": 0.6,
        "expires_at": None,
        "pinned": False,
        "categories": ["travel"],
        "metadata": {},
        "source": "extracted",
        "is_retracted": False,
    },
}

MEMORY_EXAMPLES: Mapping[str, Example] = {
    "get_memory": Example(answer=MEMORY_SHAPE),
    "correct_memory": Example(request=_CORRECTION, answer=_CORRECTED),
    "retract_memory": Example(answer={**MEMORY_SHAPE, "status": "retracted"}),
    "restore_memory": Example(answer=MEMORY_SHAPE),
    "memory_history": page_example(_REVISION),
    "preview_extraction": Example(
        request={"messages": [{"role": "user", "content": "I moved to Oslo last week."}]},
        answer={
            "memories": [
                {
                    "content": "The user moved to Oslo last week.",
                    "importance": 0.7,
                    "categories": ["place"],
                    "subject": "home",
                    "valid_from": SAID,
                    "message_positions": [0],
                }
            ],
            "entities": [{"name": "Oslo", "type": "place", "notes": "", "message_positions": [0]}],
            "notice": None,
        },
    ),
}
