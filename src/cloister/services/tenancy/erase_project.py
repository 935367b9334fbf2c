"""Delete a project with everything in it, in one transaction (ORG-5). With `Projects.delete_project` nothing is lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from cloister.domain.conversation import Session
from cloister.domain.erasure import Removal, UserCounts
from cloister.domain.errors import Conflict, Forbidden, InvalidRequest
from cloister.domain.identifiers import EntityId, ProjectId, SessionId, format_project_id
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.certificates.rehearsal import run
from cloister.services.certificates.removed_rows import NotedEntities, note_receipts
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.quotations import QuotationRemoval
from cloister.services.events.bus import MOST_AT_ONCE, EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.erasure import ProjectErasureStore
from cloister.storage.stores.files.project_trees import ProjectTrees
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

ProjectContents = Literal["keep", "delete"]
T = TypeVar("T")
_CHUNK = 200


@dataclass(kw_only=True, slots=True)
class _Removed:
    """What was removed so far, and what has to be done at the end. `sessions` are all sessions with their numbers of messages;
    `named` are those for the events, of which there are at most `MOST_AT_ONCE` + 1; `quoting` are sessions outside the project with
    messages that quoted it."""

    rows: Removal
    sessions: list[tuple[SessionId, int]] = field(default_factory=list[tuple[SessionId, int]])
    episodes: int = 0
    memories: int = 0
    observations: int = 0
    files: int = 0
    entries: int = 0
    named: list[Session] = field(default_factory=list[Session])
    quoting: list[Session] = field(default_factory=list[Session])
    entities_left: set[EntityId] = field(default_factory=set[EntityId])
    entities_gone: set[EntityId] = field(default_factory=set[EntityId])

    def counts(self) -> UserCounts:
        return UserCounts(
            sessions=len(self.sessions),
            messages=sum(messages for _, messages in self.sessions),
            episodes=self.episodes,
            memories=self.memories,
            observations=self.observations,
            entities=len(self.entities_gone),
            entries=self.entries,
            files=self.files,
            removal=self.rows,
        )


class ProjectErasure:
    """Deletes projects with their contents. The default project cannot be deleted."""

    def __init__(
        self,
        database: Database,
        forgetting: Forgetting,
        entities: EntityIndexing,
        generation: int,
        clock: Clock,
        events: EventBus,
    ) -> None:
        self._database = database
        self._forgetting = forgetting
        self._entities = entities
        self._generation = generation
        self._clock = clock
        self._events = events

    def erase(self, reach: Reach, project: ProjectId, *, dry_run: bool = False) -> UserCounts:
        """Remove the sessions that are in the project now, with all that derives from them; its entities, whoever mentions them;
        the files that sessions left in it; its entries, and the receipts of no session. Sessions that have left the project keep
        their messages and memories. With `dry_run` the transaction is rolled back."""
        if not reach.is_whole_tenant:
            bound = "confined to its project" if reach.user is None else "bound to one user"
            raise Forbidden(f"This key is {bound}: it cannot delete a project.")
        removed = run(self._database, reach, lambda transaction: self._remove(transaction, project), dry_run=dry_run)
        if not dry_run:
            self._events.erased(reach.tenant, removed.named, {project})
            self._events.all_changed(removed.quoting)
            self._forgetting.clean_up()
        return removed.counts()

    def _remove(self, transaction: Transaction, project: ProjectId) -> _Removed:
        """Locks projects, sessions, then pools, in the order of recording and moving, to avoid deadlock. The session rows are
        removed last, because that locks the tenant's usage row, for which every recording waits."""
        projects, rows = ProjectStore(transaction), ProjectErasureStore(transaction, project)
        projects.lock_all()
        if projects.get(project).is_default:
            raise Conflict("The default project cannot be deleted: make another project the default first.")
        removed = _Removed(rows=Removal(projects=[project]))
        removed.rows.name("projects", [format_project_id(project)])
        sessions = [locked.session for locked in SessionStore(transaction).lock_of_project(project)]
        ProjectTrees(transaction, project).lock_sessions()
        rows.lock_pools()
        quotations = QuotationRemoval(transaction, self._generation)
        for session in sessions:
            self._remove_contents(transaction, session, quotations, removed)
        removed.quoting = quotations.apply()
        self._remove_entities(transaction, rows, removed)
        EntityStore(transaction).note_change(project)
        self._remove_rest(rows, removed)
        for session, messages in removed.sessions:
            IdempotencyStore(transaction).forget_session(session)
            SessionStore(transaction).remove(session, messages=messages)
        rows.remove(self._clock())
        return removed

    def _remove_contents(
        self, transaction: Transaction, session: Session, quotations: QuotationRemoval, removed: _Removed
    ) -> None:
        forgotten, entities = self._forgetting.remove_contents(
            transaction, session, quotations, removed.rows, is_deleted=True
        )
        removed.sessions.append((session.id, forgotten.messages))
        removed.episodes += forgotten.episodes
        removed.memories += forgotten.memories
        removed.observations += forgotten.observations
        removed.files += forgotten.files
        removed.entities_left.update(entities.left)
        removed.entities_gone.update(entities.gone)
        if len(removed.named) <= MOST_AT_ONCE:
            removed.named.append(session)

    def _remove_entities(self, transaction: Transaction, rows: ProjectErasureStore, removed: _Removed) -> None:
        """Remove the entities that sessions outside the project still mention; then index each entity that is left, which is in
        another project, once."""
        entities = EntityStore(transaction)
        for own in _chunks(rows.entities()):
            noted, stored = NotedEntities(transaction, own), entities.lock(own)
            rows.remove_entities(stored)
            noted.gone(removed.rows, stored)
            removed.entities_gone.update(stored)
        for gone in _chunks(sorted(removed.entities_gone)):
            self._entities.index_again(transaction, (), gone=gone)
        for left in _chunks(sorted(removed.entities_left - removed.entities_gone)):
            self._entities.index_again(transaction, left)

    def _remove_rest(self, rows: ProjectErasureStore, removed: _Removed) -> None:
        left, files = rows.remove_files()
        removed.files += files
        removed.rows.files.extend(left)
        removed.rows.name("files", [f"/memories/{file.path}" for file in left])
        named, removed.entries = rows.remove_entries()
        removed.rows.name("entries", named, removed.entries)
        note_receipts(removed.rows, rows.remove_receipts())


def checked_contents(given: str) -> ProjectContents:
    if given not in ("keep", "delete"):
        raise InvalidRequest("contents", f"must be keep or delete, not {given!r}.")
    return given


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for begin in range(0, len(items), _CHUNK):
        yield items[begin : begin + _CHUNK]
