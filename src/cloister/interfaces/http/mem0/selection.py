"""The memories that a request of mem0's clients selects: all that a filter lets pass, or the best of them for a query."""

from collections.abc import Iterator, Sequence

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MemoryId
from cloister.domain.memory import StoredMemory
from cloister.interfaces.http.mem0.filters import Filter, conditions
from cloister.interfaces.http.mem0.memories import Record
from cloister.interfaces.http.mem0.scopes import Part, ProjectScope
from cloister.services.recall.search import MemoryHit, SearchTarget

MOST_READ = 10_000
"""The most memories that one request reads to apply a filter or to count."""
_BATCH = 500
_TOO_MANY = (
    f"would look through more than {MOST_READ:,} memories. GET /v1/sessions/{{external_id}}/memories lists those of a session, "
    "with a cursor."
)


def selected(scope: ProjectScope, wanted: Filter, *, with_past: bool = False, field: str = "filters") -> list[Record]:
    """The memories that a filter lets pass, newest first: those that are true now, or `with_past` all."""
    return _passing(scope, scope.parts(wanted, field), wanted, with_past=with_past)


def of_part(scope: ProjectScope, user: str | None, wanted: Filter) -> list[Record]:
    """The memories of one user, or of sessions without one, that a filter lets pass, newest first."""
    return _passing(scope, [scope.part(user)], wanted, with_past=False)


def _passing(scope: ProjectScope, parts: Sequence[Part], wanted: Filter, *, with_past: bool) -> list[Record]:
    found: dict[MemoryId, Record] = {}
    read = 0
    for part in parts:
        for batch in _batches(scope, part, with_past=with_past):
            read += len(batch)
            if read > MOST_READ:
                raise InvalidRequest("filters", _TOO_MANY)
            own = [record for record in _records(scope, part, batch) if _is_of(part, record)]
            found |= {record.id: record for record in own if wanted.lets_pass(record)}
    return sorted(found.values(), key=lambda record: (record.created_at, record.id), reverse=True)


def best(
    scope: ProjectScope,
    wanted: Filter,
    query: str,
    *,
    limit: int,
    min_relevance: float | None,
    asked_at: int | None,
) -> list[tuple[Record, float]]:
    """The best memories for a query that the filter lets pass, best first, each with its relevance. The filter is applied before
    they are ranked, and again to what was found, since a memory may have changed meanwhile."""
    parts = scope.parts(wanted)
    plain = all(condition.field == "user_id" for condition in conditions(wanted))
    needs_ids = not plain or any(part.is_shared for part in parts)
    among = [record.id for record in _passing(scope, parts, wanted, with_past=False)] if needs_ids else None
    found: dict[MemoryId, tuple[Record, float]] = {}
    for part in parts:
        hits = scope.services.search.search(
            part.reach,
            query,
            SearchTarget(project=scope.project, user_id=part.reach.user),
            limit,
            ["memories"],
            min_relevance=min_relevance,
            asked_at=asked_at,
            among=among,
        )
        memories = [hit for hit in hits if isinstance(hit, MemoryHit)]
        records = _records(scope, part, [hit.stored for hit in memories])
        for record, hit in zip(records, memories, strict=True):
            if _is_of(part, record) and wanted.lets_pass(record):
                found[record.id] = (record, hit.relevance)
    return sorted(found.values(), key=lambda pair: -pair[1])[:limit]


def record_of(scope: ProjectScope, memory: MemoryId) -> Record:
    """One memory of the project by its id, whatever its status."""
    stored = scope.services.corrections.get(scope.reach, memory)
    changed_at = scope.services.corrections.change_times(scope.reach, [memory]).get(memory)
    return Record(stored=stored, changed_at=changed_at)


def _batches(scope: ProjectScope, part: Part, *, with_past: bool) -> Iterator[Sequence[StoredMemory]]:
    after: tuple[int, int] | None = None
    while batch := scope.services.pool_reader.memories(part.reach, limit=_BATCH, after=after, with_past=with_past):
        yield batch
        if len(batch) < _BATCH:
            return
        after = (batch[-1].memory.created_at, batch[-1].memory.id)


def _records(scope: ProjectScope, part: Part, batch: Sequence[StoredMemory]) -> list[Record]:
    times = scope.services.corrections.change_times(part.reach, [stored.memory.id for stored in batch])
    return [
        Record(stored=stored, changed_at=times.get(stored.memory.id), names_user=part.is_shared) for stored in batch
    ]


def _is_of(part: Part, record: Record) -> bool:
    """In a shared project the pool has memories of all users. Only those of the user that was named are meant, or those without a
    user: otherwise the name of an agent would reach what `user_id="*"` reaches for admins only."""
    return record.stored.user == part.user
