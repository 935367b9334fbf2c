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
ARCHIVE_EXAMPLES: Mapping[str, Example] = {
    "export_archive": Example(answer=_ARCHIVE),
    "import_archive": Example(
        request=_ARCHIVE,
        answer={"added": _IMPORTED, "unchanged": dict.fromkeys(_IMPORTED, 0), "skipped": {}, "remarks": {}},
    ),
}
