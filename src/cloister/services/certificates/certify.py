"""Certificates of removals (PRF-4): what went, and checks that are made after the transaction, each with its result. A check that
cannot be made is named with the reason, and never counted as passed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from cloister.domain.erasure import Removal, RemovedText
from cloister.domain.errors import CloisterError, NotFound
from cloister.domain.identifiers import EntityId, MemoryId, MessageId, session_of
from cloister.domain.scope import Reach
from cloister.index.interface import ExternalIndex
from cloister.services.audit.index_probe import IndexProbe
from cloister.services.recall.recall import IndexedIds, Recall
from cloister.services.recall.search import EntityHit, EpisodeHit, Hit, MemoryHit, Search, SearchTarget
from cloister.services.recall.snapshot import read_snapshot
from cloister.storage.interface import Database
from cloister.storage.stores.certificates.removals import RemovalStore

LARGEST_POOL: Final = 20_000
"""In a pool with more messages, a search is not tried: it may have to read the whole pool again."""
LARGEST_FILE: Final = 32 * 1024 * 1024
"""A larger database file is not read through."""
MOST_SCANNED: Final = 16
"""For so many sessions a file is read through."""
_HITS: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A check that was made, and whether it passed."""

    check: str
    passed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class NotMade:
    """A check that was not made, and why."""

    check: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificate:
    """What a removal removed, the checks that were made after it, and those that were not."""

    removal: Removal
    checks: tuple[Check, ...]
    not_made: tuple[NotMade, ...]


class Certification:
    """Makes the checks. `external` is None with the exact index."""

    def __init__(
        self, database: Database, external: ExternalIndex | None, recall: Recall, search: Search, probe: IndexProbe
    ) -> None:
        self._database = database
        self._external = external
        self._recall = recall
        self._search = search
        self._probe = probe

    def certify(self, reach: Reach, removal: Removal) -> Certificate:
        """Check that what was removed is gone. The removal is committed: a check that fails or cannot be made undoes nothing."""
        checks: list[Check] = []
        not_made: list[NotMade] = []
        for name, make in self._checks(reach, removal):
            try:
                made = make()
            except CloisterError as error:
                made = str(error)
            if isinstance(made, str):
                not_made.append(NotMade(check=name, reason=made))
            else:
                checks.extend(made)
        return Certificate(removal=removal, checks=tuple(checks), not_made=tuple(not_made))

    def _checks(self, reach: Reach, removal: Removal) -> Iterator[tuple[str, Callable[[], list[Check] | str]]]:
        yield "storage", lambda: self._storage(reach, removal)
        yield "index", lambda: self._index(reach, removal)
        yield "search", lambda: self._searched(reach, removal)
        yield "file", lambda: self._file(removal)

    def _storage(self, reach: Reach, removal: Removal) -> list[Check]:
        """One check for each table that could contain a removed row."""
        with self._database.read(reach) as transaction:
            found = RemovalStore(transaction).remaining(removal)
        return [Check(check=f"storage: {table}", passed=not number) for table, number in found.items()]

    def _index(self, reach: Reach, removal: Removal) -> list[Check] | str:
        """Whether the index still names a removed row for removed words; of an external index the points are counted. Memories are
        in no external index."""
        if self._external is not None:
            sessions = [session.id for session in removal.sessions if session.is_deleted]
            entities = [*removal.entities, *removal.hidden_entities]
            points = self._external.count(reach.tenant, sessions, removal.messages, entities)
            if points or removal.is_tenant or not removal.memories:
                return [Check(check="index", passed=not points)]
        if removal.is_tenant:
            return "The exact index reads the rows of the database, and the tenant has none."
        if not removal.texts:
            return "There were no words to ask the index for."
        for text in removal.texts:
            named = self._probe.named(reach, text.scope, text.text, LARGEST_POOL)
            if named is None:
                return f"The pool has more than {LARGEST_POOL:,} messages."
            if _names_removed(removal, named):
                return [Check(check="index", passed=False)]
        return [Check(check="index", passed=True)]

    def _searched(self, reach: Reach, removal: Removal) -> list[Check] | str:
        """Whether a search for the removed words, in the pool that they were recalled in, still finds a removed row."""
        if not removal.texts:
            return "There were no words to search for."
        for text in removal.texts:
            if read_snapshot(
                self._database,
                reach,
                lambda transaction, text=text: self._recall.is_larger(transaction, text.scope, LARGEST_POOL),
            ):
                return f"The pool has more than {LARGEST_POOL:,} messages."
            if any(_is_hit(removal, hit) for hit in self._hits(reach, text)):
                return [Check(check="search", passed=False)]
        return [Check(check="search", passed=True)]

    def _hits(self, reach: Reach, text: RemovedText) -> list[Hit]:
        target = SearchTarget(project=text.scope.project, user_id=text.scope.user)
        try:
            return self._search.search(reach, text.text, target, _HITS, min_relevance=0)
        except NotFound:
            return []  # the project was deleted meanwhile: nothing in it is found

    def _file(self, removal: Removal) -> list[Check] | str:
        """Whether the engine's own file still has rows of the removed messages."""
        deleted = [session.id for session in removal.sessions if session.is_deleted]
        if not deleted or len(deleted) > MOST_SCANNED:
            return f"Made for 1 to {MOST_SCANNED} whole sessions."
        found = self._database.maintenance.rows_in_file(deleted, LARGEST_FILE)
        return found if isinstance(found, str) else [Check(check="file", passed=not found)]


def _is_removed(removal: Removal, message: MessageId) -> bool:
    session = session_of(message)
    return message in removal.messages or any(
        emptied.id == session and message <= emptied.last_message for emptied in removal.sessions
    )


def _names_removed(removal: Removal, named: IndexedIds) -> bool:
    entities = {*removal.entities, *removal.hidden_entities}
    return (
        any(_is_removed(removal, MessageId(message)) for message in named.messages)
        or not named.memories.isdisjoint(removal.memories)
        or not named.entities.isdisjoint(entities)
    )


def _is_hit(removal: Removal, hit: Hit) -> bool:
    match hit:
        case EpisodeHit(item=item):
            return _is_removed(removal, item.message.id)
        case MemoryHit(stored=stored):
            return MemoryId(stored.memory.id) in removal.memories
        case EntityHit(entity=entity):
            return EntityId(entity.id) in {*removal.entities, *removal.hidden_entities}
