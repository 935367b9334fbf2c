"""Examples of the report of an audit."""

from collections.abc import Mapping
from typing import Any

from cloister.interfaces.http.openapi.examples import Example

_CELL = {"reader": "bound to ann", "target": "divided, ann", "seen": 21, "allowed": True, "crossings": 0}
_REPORT: dict[str, Any] = {
    "reads": 579,
    "crossings": 0,
    "blind": 0,
    "tenants": 1,
    "matrix": [_CELL, {**_CELL, "target": "divided, bob", "seen": 0, "allowed": False}],
    "doors": [{"door": "HTTP", "reads": 405}, {"door": "OpenAI", "reads": 77}],
    "found": [],
    "not_seen": [],
    "not_asked": [{"door": "MCP", "reason": "MCP needs its SDK: pip install cloister[mcp]"}],
    "left": [],
    "passed": True,
}

AUDIT_EXAMPLES: Mapping[str, Example] = {
    "audit_tenant": Example(answer=_REPORT),
    "audit_server": Example(answer={**_REPORT, "tenants": 2}),
}
