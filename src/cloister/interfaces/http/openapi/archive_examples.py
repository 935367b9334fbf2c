"""Examples of exports and imports. A test checks each against its schema."""

from collections.abc import Mapping

from cloister.interfaces.http.openapi.examples import Example

_IMPORTED = {
    "projects": 1,
    "sessions": 1,
    "messages": 2,
    "memories": 1,
    "observations": 0,
    "entities": 1,
    "files": 2,
    "entries": 1,
}
_ARCHIVE = (
    '{"kind":"header","format":"cloister-archive","version":3,"scope":"user","id":"ada","created_by":"cloister 0.1.0"}\n'
    '{"kind":"end","counts":{"header":1},"sha256":'
    '{"header":"01696fb58f7ed271acbab8a7cedc9ef2930686fdae520a9f76b7dbfdc9b342e2"}}\n'
)
_LOG = '{"role": "user", "content": "The ferry leaves at ten past.", "created_at": "2026-05-01T12:00:00Z"}\n'
ARCHIVE_EXAMPLES: Mapping[str, Example] = {
    "export_archive": Example(answer=_ARCHIVE),
    "import_archive": Example(
        request=_ARCHIVE,
        answer={"added": _IMPORTED, "unchanged": dict.fromkeys(_IMPORTED, 0), "skipped": {}, "remarks": {}},
    ),
    "import_file": Example(
        request=_LOG,
        answer={
            "format": "log",
            "conversations": 1,
            "messages": 1,
            "memories": 0,
            "first_at": "2026-05-01T12:00:00.000000Z",
            "last_at": "2026-05-01T12:00:00.000000Z",
            "skipped": {},
            "remarks": {},
        },
    ),
}
