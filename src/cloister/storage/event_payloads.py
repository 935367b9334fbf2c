"""Events as texts, for the other processes of one database."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cloister.domain.events import Event
from cloister.domain.identifiers import TenantId

TenantEvents = tuple[TenantId, Sequence[Event]]
_FORM = 1


def packed(origin: str, batch: Iterable[TenantEvents], largest: int) -> Iterator[str]:
    """Events as JSON texts, in order, in as few payloads as a limit on their bytes allows."""
    head = json.dumps([_FORM, origin])[:-1]
    entries: list[str] = []
    size = 0
    for tenant, events in batch:
        for event in events:
            entry = json.dumps([tenant, *event], ensure_ascii=False, separators=(",", ":"))
            if entries and size + len(entry.encode()) + 1 > largest - len(head) - 1:
                yield f"{head},{','.join(entries)}]"
                entries, size = [], 0
            entries.append(entry)
            size += len(entry.encode()) + 1
    if entries:
        yield f"{head},{','.join(entries)}]"


def unpacked(payload: str, own: str) -> list[TenantEvents] | None:
    """The events of another process's payload; empty for a payload of our own, None for one that another version formatted."""
    try:
        form, origin, *entries = json.loads(payload)
        if origin == own:
            return []
        if form != _FORM:
            return None
        return [(tenant, [_event(*fields)]) for tenant, *fields in entries]
    except (ValueError, TypeError, RecursionError):
        return None


def _event(*fields: Any) -> Event:
    if len(fields) != len(Event._fields):
        raise ValueError("an event of another form")
    return Event(*fields)
