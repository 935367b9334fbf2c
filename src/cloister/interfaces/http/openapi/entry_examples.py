"""Examples of entries of the key-value store, from the same household as the others."""

from collections.abc import Mapping

from cloister.interfaces.http.openapi.examples import Example

_NAMESPACE = ["recipes", "soups"]
_VALUE = {"title": "Leek soup", "portions": 4}
_ENTRY = {
    "namespace": _NAMESPACE,
    "key": "leek",
    "value": _VALUE,
    "created_at": "2026-05-02T09:31:14Z",
    "updated_at": "2026-05-02T09:31:14Z",
}

ENTRY_EXAMPLES: Mapping[str, Example] = {
    "read_entries": Example(
        request={
            "operations": [
                {"op": "get", "namespace": _NAMESPACE, "key": "leek"},
                {"op": "search", "namespace_prefix": ["recipes"], "filter": {"portions": {"$gte": 4}}},
                {"op": "list_namespaces", "max_depth": 1},
            ]
        },
        answer={"data": [_ENTRY, [_ENTRY], [["recipes"]]]},
    ),
    "write_entries": Example(
        request={"operations": [{"op": "put", "namespace": _NAMESPACE, "key": "leek", "value": _VALUE, "ttl": 1440}]},
        answer={"data": [None]},
    ),
}
