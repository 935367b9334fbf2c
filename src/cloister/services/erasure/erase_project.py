"""Delete a project with everything in it, in one transaction (ORG-5). With `Projects.delete_project` nothing is lost."""

from typing import Literal

from cloister.domain.erasure import Removal, UserCounts
from cloister.domain.errors import Conflict, Forbidden, InvalidRequest
from cloister.domain.identifiers import ProjectId, format_project_id
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.certificates.rehearsal import run
from cloister.services.certificates.removed_rows import NotedEntities, note_receipts
from cloister.services.conversations.forget import Forgetting
from cloister.services.erasure.sessions_removal import RemovedSessions, SessionsRemoval, chunks
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.erasure import ProjectErasureStore
from cloister.storage.stores.files.project_trees import ProjectTrees
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

ProjectContents = Literal["keep", "delete"]


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

    def _remove(self, transaction: Transaction, project: ProjectId) -> RemovedSessions:
        """Locks projects, sessions, then pools, in the order of recording and moving, to avoid deadlock."""
        projects, rows = ProjectStore(transaction), ProjectErasureStore(transaction, project)
        projects.lock_all()
        if projects.get(project).is_default:
            raise Conflict("The default project cannot be deleted: make another project the default first.")
        removal = SessionsRemoval(
            transaction, self._forgetting, self._entities, self._generation, Removal(projects=[project])
        )
        removed = removal.removed
        removed.rows.name("projects", [format_project_id(project)])
        sessions = [locked.session for locked in SessionStore(transaction).lock_of_project(project)]
        ProjectTrees(transaction, project).lock_sessions()
        rows.lock_pools()
        for session in sessions:
            removal.remove_contents(session)
        removal.remove_quotations()
        self._remove_entities(transaction, rows, removed)
        removal.index_entities()
        EntityStore(transaction).note_change(project)
        self._remove_rest(rows, removed)
        removal.remove_sessions()
        rows.remove(self._clock())
        return removed

    def _remove_entities(self, transaction: Transaction, rows: ProjectErasureStore, removed: RemovedSessions) -> None:
        """Remove the entities that sessions outside the project still mention."""
        entities = EntityStore(transaction)
        for own in chunks(rows.entities()):
            noted, stored = NotedEntities(transaction, own), entities.lock(own)
            rows.remove_entities(stored)
            noted.gone(removed.rows, stored)
            removed.entities_gone.update(stored)

    def _remove_rest(self, rows: ProjectErasureStore, removed: RemovedSessions) -> None:
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
