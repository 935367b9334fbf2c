"""Import a stream of lines: an archive of a Cloister, or conversations of other assistants. The first line says which."""

from collections.abc import Callable, Iterable

from cloister.domain.archive.imported import Imported, ImportTally
from cloister.domain.archive.lines import ARCHIVE
from cloister.domain.archive.reading import ArchiveReader
from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits
from cloister.services.archive.archived_projects import ArchivedProjects
from cloister.services.archive.import_archive import ArchiveImport
from cloister.services.archive.import_conversations import ConversationImport, scope_of_import
from cloister.services.archive.import_entities import EntityImport
from cloister.services.archive.import_entries import EntryImport
from cloister.services.archive.import_relations import RelationImport
from cloister.services.archive.import_sessions import SessionImport
from cloister.services.conversations.record import Recorder
from cloister.services.entries.embedding import EntryEmbedding
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.indexer import Indexer
from cloister.services.memories.truth.imported_facts import ImportedFacts
from cloister.storage.interface import Database

Progress = Callable[[int], object]
_STEP = 500


class Import:
    """Imports streams for any caller."""

    def __init__(
        self,
        database: Database,
        indexer: Indexer,
        entities: EntityIndexing,
        recorder: Recorder,
        embedding: EntryEmbedding,
        clock: Clock,
        limits: Limits,
        events: EventBus,
        facts: ImportedFacts,
    ) -> None:
        self._database = database
        self._indexer = indexer
        self._entities = entities
        self._recorder = recorder
        self._embedding = embedding
        self._clock = clock
        self._limits = limits
        self._events = events
        self._facts = facts

    def check_target(self, reach: Reach, project: ProjectId | None) -> None:
        """Raise unless conversations of other assistants can be imported into this project, or into none."""
        with self._database.read(reach) as transaction:
            scope_of_import(transaction, project, None, lock=False)

    def run(self, reach: Reach, lines: Iterable[bytes], progress: Progress | None = None) -> Imported:
        """Import all lines. `progress` is called with the number of lines so far. An error has a note that says where it was, and
        what was imported before it: that stays."""
        tally = ImportTally()
        reader = ArchiveReader(lines)
        try:
            for done, _ in enumerate(self._opened(reach, reader, tally).run(reader), 1):
                if progress is not None and done % _STEP == 0:
                    progress(reader.number)
        except CloisterError as error:
            error.add_note(_stopped(reader, tally))
            raise
        finally:
            self._recorder.notify()
        if progress is not None:
            progress(reader.number)
        return tally.result()

    def _opened(self, reach: Reach, reader: ArchiveReader, tally: ImportTally) -> ArchiveImport | ConversationImport:
        if reader.format != ARCHIVE:
            return ConversationImport(
                self._database, reach, self._limits, self._recorder, self._facts, self._events, tally
            )
        archived = ArchivedProjects()
        sessions = SessionImport(
            self._database, self._indexer, self._clock, self._limits, self._events, reach, archived
        )
        entities = EntityImport(self._database, self._entities, reach, archived)
        relations = RelationImport(self._database, reach, archived)
        entries = EntryImport(self._database, self._embedding, reach, self._clock, self._limits)
        return ArchiveImport(
            self._database, reach, self._limits, sessions, entities, relations, entries, archived, tally
        )


def _stopped(reader: ArchiveReader, tally: ImportTally) -> str:
    added = tally.result().added
    return (
        f"The import stopped at line {reader.number:,}. Before it, {added.sessions:,} sessions with {added.messages:,} "
        "messages were added, and stay: a repeated import adds the rest."
    )
