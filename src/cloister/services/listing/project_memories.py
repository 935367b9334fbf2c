"""List what is remembered in a project, or in no project, newest first: for people who look through it and govern it.

Where memory is divided by user, a list is of one user's part, as that of entities is (ISO-10): `everybody` asks for all parts, and
the interfaces require an admin for it.
"""

from dataclasses import dataclass

from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import MemoryStatus, StoredMemory
from cloister.domain.normalization import normalized
from cloister.domain.recall.filter import Filter
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.services.memories.filtered_list import filtered_page, passes
from cloister.storage.interface import CursorKey, Database, Transaction
from cloister.storage.stores.listing.listed_memories import LAST_PAGE, ListedMemoryStore, MemoryPart
from cloister.storage.stores.tenants import ProjectStore


@dataclass(frozen=True, kw_only=True, slots=True)
class PartOfProject:
    """Which part of a project, or of what is in no project (`project` is None): that of a user, or of sessions without a user; of a
    shared project, without a user, the whole. With `everybody` all parts."""

    project: ProjectId | None
    user_id: str | None = None
    everybody: bool = False

    @property
    def identity(self) -> tuple[int | str | None, ...]:
        """What distinguishes the cursors of one list from those of another."""
        return (self.project, self.user_id, int(self.everybody))


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryQuery:
    """Which memories of a part. `words`: all words of this text occur in the memory, in any case and order."""

    status: MemoryStatus | None = None
    pinned: bool | None = None
    words: str | None = None
    filter: Filter | None = None

    @property
    def identity(self) -> tuple[int | str | None, ...]:
        """What distinguishes the cursors of one list from those of another, without the filter."""
        return (self.status, None if self.pinned is None else int(self.pinned), self.words)


class ProjectMemories:
    """Each call reads one snapshot, and only what is within the caller's reach."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def page(
        self, reach: Reach, part: PartOfProject, wanted: MemoryQuery, *, limit: int, before: CursorKey | None = None
    ) -> list[StoredMemory]:
        """A page of memories, newest first, before the cursor (created_at, id)."""
        checked_part(part)
        words = () if wanted.words is None else _words(checked_name(wanted.words, "query"))
        with self._database.read(reach) as transaction:
            store, now = ListedMemoryStore(transaction, part_of(transaction, part)), self._clock()
            start = before or LAST_PAGE
            if wanted.filter is None and not words:
                return store.page(limit=limit, now=now, before=start, status=wanted.status, pinned=wanted.pinned)

            def read(*, limit: int, after: CursorKey) -> list[StoredMemory]:
                return store.page(limit=limit, now=now, before=after, status=wanted.status, pinned=wanted.pinned)

            return filtered_page(
                read,
                lambda stored: _has(stored, words) and (wanted.filter is None or passes(wanted.filter, stored)),
                lambda stored: (stored.memory.created_at, stored.memory.id),
                limit=limit,
                after=start,
            )


def checked_part(part: PartOfProject) -> PartOfProject:
    if part.user_id is not None:
        checked_name(part.user_id, "user_id")
        if part.everybody:
            raise InvalidRequest("users", "cannot be all where a user_id names one.")
    return part


def part_of(transaction: Transaction, part: PartOfProject) -> MemoryPart:
    """The part as the store reads it. A caller that is bound to a user reads that user's memories only; of one that names another
    user, or a project that the key is not confined to, nothing is read."""
    reach = transaction.reach
    user = reach.user_of(part.user_id)
    if part.project is None:
        if reach.confined_to is not None:
            raise Forbidden("This key is confined to its project: it cannot read what is in no project.")
        return MemoryPart(kind="none", user=user, any_user=part.everybody)
    project = ProjectStore(transaction).get(part.project)
    scope = Scope(tenant=reach.tenant, project=project.id, user=user, visibility=project.member_visibility)
    return MemoryPart(
        kind="project",
        project=project.id,
        user=user,
        any_user=part.everybody or (scope.shared and user is None),
    )


def _words(query: str) -> tuple[str, ...]:
    return tuple(_folded(query).split())


def _has(stored: StoredMemory, words: tuple[str, ...]) -> bool:
    content = _folded(stored.memory.content) if words else ""
    return all(word in content for word in words)


def _folded(text: str) -> str:
    return normalized("NFKC", normalized("NFKC", text).casefold())
