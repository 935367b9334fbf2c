"""The services that few processes use, each imported and made when it is first asked for: those of other programs' interfaces,
archives and the audit. Together they are a twentieth of the time that the library takes to load."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits
from cloister.models.interface import Embedder
from cloister.services.chat.converse import Chat
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.record import Recorder
from cloister.services.conversations.sessions import Sessions
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.indexer import Indexer
from cloister.services.memories.claims import Claims
from cloister.services.memories.entities import Entities
from cloister.services.memories.truth.manual_facts import ManualFacts
from cloister.services.recall.build_context import ContextBuilder
from cloister.storage.interface import Database

if TYPE_CHECKING:
    from cloister.services.archive.export import Export
    from cloister.services.archive.import_lines import Import
    from cloister.services.audit.plant import AuditPlants
    from cloister.services.chat.responses import Responses
    from cloister.services.chat.unrecorded import UnrecordedChat
    from cloister.services.chat_model.titles import Titles
    from cloister.services.conversations.files import MemoryFiles
    from cloister.services.conversations.items import Items
    from cloister.services.entries.entries import Entries


@dataclass(frozen=True, kw_only=True)
class FirstUse:
    """What these services are made from. Two threads that ask at once may make two of one: they have no state."""

    database: Database
    embedder: Embedder
    clock: Clock
    limits: Limits
    events: EventBus
    sessions: Sessions
    recorder: Recorder
    forgetting: Forgetting
    contexts: ContextBuilder
    chat: Chat
    claims: Claims
    entities: Entities
    indexer: Indexer
    entity_indexing: EntityIndexing
    manual: ManualFacts

    @cached_property
    def entries(self) -> "Entries":
        from cloister.services.entries.embedding import EntryEmbedding
        from cloister.services.entries.entries import Entries

        return Entries(self.database, EntryEmbedding(self.embedder), self.forgetting, self.clock, self.limits)

    @cached_property
    def files(self) -> "MemoryFiles":
        from cloister.services.conversations.files import MemoryFiles

        return MemoryFiles(self.database, self.forgetting, self.clock, self.limits)

    @cached_property
    def items(self) -> "Items":
        from cloister.services.conversations.items import Items

        return Items(self.database, self.sessions, self.recorder, self.forgetting, self.events, self.clock)

    @cached_property
    def titles(self) -> "Titles":
        from cloister.services.chat_model.titles import Titles

        return Titles(self.database, self.chat.model, self.events, is_configured=not self.chat.quotes_only)

    @cached_property
    def responses(self) -> "Responses":
        from cloister.services.chat.responses import Responses

        return Responses(self.database, self.forgetting)

    @cached_property
    def unrecorded(self) -> "UnrecordedChat":
        from cloister.services.chat.unrecorded import UnrecordedChat

        return UnrecordedChat(self.database, self.contexts, self.chat)

    @cached_property
    def audit_plants(self) -> "AuditPlants":
        from cloister.services.audit.plant import AuditPlants

        return AuditPlants(self.database, self.contexts, self.entities, self.claims, self.clock)

    @property
    def export(self) -> "Export":
        from cloister.services.archive.export import Export

        return Export(self.database, self.clock)

    @property
    def import_lines(self) -> "Import":
        from cloister.services.archive.import_lines import Import
        from cloister.services.entries.embedding import EntryEmbedding
        from cloister.services.memories.truth.imported_facts import ImportedFacts

        return Import(
            self.database,
            self.indexer,
            self.entity_indexing,
            self.recorder,
            EntryEmbedding(self.embedder),
            self.clock,
            self.limits,
            self.events,
            ImportedFacts(self.manual, self.indexer, self.clock),
        )
