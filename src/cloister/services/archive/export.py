"""Export a tenant, a project or a user as an archive (ORG-11): JSON lines, read from one snapshot of the database.

What is changed or deleted while an export runs is in the archive as it was when the export began, whole.
"""

from collections.abc import Generator, Iterable
from importlib.metadata import version

from cloister.domain.archive.lines import ARCHIVE, VERSION, Line, Tally, encoded
from cloister.domain.archive.records import FormerProjectRecord
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.errors import Forbidden
from cloister.domain.identifiers import format_project_id
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.archived_rows import ArchivedRows
from cloister.storage.stores.entries.archived_entries import ArchivedEntries
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.files.archived_files import ArchivedFiles
from cloister.storage.stores.tenants import ProjectStore


class Export:
    """Exports what is within the caller's reach."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def check(self, reach: Reach, target: ArchiveTarget) -> None:
        """Raise if the caller may not export the target, or there is no such project. An unknown user has an empty archive. A key
        that is bound to a user exports that user and nothing else, if it is confined too, what is that user's in its project; one
        that is only confined exports its project."""
        if target.project is None and target.user is None and not reach.is_whole_tenant:
            raise Forbidden("This key does not reach the whole tenant: export what it reaches, a project or a user.")
        if target.user is not None:
            reach.user_of(target.user)
            if reach.confined_to is not None and reach.user is None:
                raise Forbidden(
                    "This key is confined to its project, and a user is exported from all: export the project."
                )
        if target.project is not None:
            if reach.user is not None:
                raise Forbidden("This key is bound to one user: export that user.")
            with self._database.read(reach) as transaction:
                ProjectStore(transaction).get(target.project)

    def lines(self, reach: Reach, target: ArchiveTarget) -> Generator[bytes]:
        """The lines of the archive. The snapshot is released when the generator ends or is closed."""
        self.check(reach, target)
        return self._lines(reach, target)

    def _lines(self, reach: Reach, target: ArchiveTarget) -> Generator[bytes]:
        tally = Tally()
        with self._database.read(reach) as transaction:
            for line in _records(transaction, target, self._clock()):
                text = encoded(line)
                tally.add(str(line["kind"]), text)
                yield text
        yield encoded(tally.last_line())


def _records(transaction: Transaction, target: ArchiveTarget, now: int) -> Iterable[Line]:
    rows = ArchivedRows(transaction, target)
    yield _header(target)
    projects = rows.projects()
    yield from (project.line() for project in projects)
    known = {project.id for project in projects}
    past, files = ExtractionStore(transaction), ArchivedFiles(transaction, target, known)
    for session in rows.sessions():
        yield session.record.line()
        for last, project in past.past(session.record.id):
            yield FormerProjectRecord(last_message_id=last, project_id=project if project in known else None).line()
        yield from (message.line() for message in rows.messages(session))
        yield from (memory.line() for memory in rows.memories(session.record.id))
        yield from (observation.line() for observation in rows.observations(session.record.id))
        yield from (response.line() for response in rows.responses(session))
        yield from (file.line() for file in files.of_session(session))
    yield from (pair.line() for pair in rows.replacements())
    for entity in rows.entities():
        yield entity.line()
        yield from (mention.line() for mention in rows.mentions(entity.id))
    yield from (relation.line() for relation in rows.relations())
    yield from (entry.line() for entry in ArchivedEntries(transaction, target, now).all())


def _header(target: ArchiveTarget) -> Line:
    """Without a time and without the tenant, so that the same data gives the same bytes wherever it is."""
    scope = "project" if target.project is not None else "user" if target.user is not None else "tenant"
    identity = target.user if target.project is None else format_project_id(target.project)
    return {
        "kind": "header",
        "format": ARCHIVE,
        "version": VERSION,
        "scope": scope,
        "id": identity,
        "created_by": f"cloister {version('cloister')}",
    }
