"""Examples of answers that have a certificate, from the same household as the others."""

from collections.abc import Mapping
from typing import Any

from cloister.interfaces.http.openapi.examples import (
    ENTITY,
    KEY_ID,
    MEMORY,
    MESSAGE,
    PROJECT,
    SESSION,
    TENANT,
    Example,
)

_COUNTS = {"messages": 2, "episodes": 1, "memories": 1, "observations": 0, "files": 2}
_ERASED = {**_COUNTS, "sessions": 1, "entities": 1, "entries": 3}
_CHECKS = [{"check": check, "passed": True} for check in ("storage: messages", "storage: memories", "index", "search")]
_FILE = {"check": "file", "reason": "Made for 1 to 16 whole sessions."}


def _certificate(**removed: list[str]) -> dict[str, Any]:
    return {"removed": removed, "more": {}, "checks": _CHECKS, "not_made": [_FILE]}


def _removed(**removed: list[str]) -> Example:
    return Example(answer={"certificate": _certificate(**removed), "would_remove": None})


_CLEARED = {"messages": [MESSAGE], "memories": [MEMORY]}

_RETENTION = {
    "sessions": 1,
    "messages": 2,
    "memories": 0,
    "observations": 0,
    "complete": True,
    "files": 0,
    "entities": 0,
    "receipts": 0,
    "certificate": _certificate(messages=_CLEARED["messages"]),
}

CERTIFICATE_EXAMPLES: Mapping[str, Example] = {
    "delete_session": Example(
        answer={**_COUNTS, "certificate": _certificate(sessions=[SESSION], **_CLEARED), "would_remove": None}
    ),
    "clear_session": Example(answer={**_COUNTS, "certificate": _certificate(**_CLEARED), "would_remove": None}),
    "delete_project": Example(
        answer={
            "sessions_moved": 1,
            "memories_moved": 3,
            "files_moved": 2,
            "entries_moved": 0,
            "certificate": _certificate(projects=[PROJECT]),
            "would_remove": None,
            "visible_to": None,
            "deleted": None,
        }
    ),
    "forget_message": _removed(**_CLEARED),
    "forget_memory": _removed(memories=[MEMORY]),
    "delete_entity": _removed(entities=[ENTITY]),
    "erase_user": Example(
        answer={**_ERASED, "certificate": _certificate(sessions=[SESSION], **_CLEARED), "would_remove": None}
    ),
    "erase_tenant": Example(
        answer={
            **_ERASED,
            "projects": 2,
            "api_keys": 2,
            "certificate": _certificate(tenants=[TENANT], projects=[PROJECT], api_keys=[KEY_ID]),
        }
    ),
    "apply_tenant_retention": Example(answer=_RETENTION),
    "apply_project_retention": Example(answer=_RETENTION),
}
