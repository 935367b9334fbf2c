"""Wire the services from the settings. The only module that chooses concrete back ends."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import LOCAL_TENANT
from cloister.domain.lease import LEASE_SECONDS, TURN_LEASE_SECONDS
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock, now
from cloister.domain.tracing.interface import NO_TRACING, Tracer
from cloister.domain.usage import Limits
from cloister.first_use import FirstUse
from cloister.index.exact.second_vectors import SecondVectors
from cloister.index.interface import ExternalIndex, Index
from cloister.models.interface import AdditionalEmbedder, ChatModel, Embedder, Extractor
from cloister.models.recall_only import RecallOnly
from cloister.models.rules.extractor import Rules
from cloister.models.static.embedder import StaticEmbedder
from cloister.opening import DatabaseLocation as DatabaseLocation
from cloister.opening import distribute_database as distribute_database
from cloister.opening import (
    open_additional_embedder,
    open_chat_model,
    open_database,
    open_extractor,
    open_index,
    open_tracer,
)
from cloister.opening import open_trace_headers as open_trace_headers
from cloister.opening import restore_backup as restore_backup
from cloister.services.audit.index_probe import IndexProbe
from cloister.services.certificates.certify import Certification
from cloister.services.chat.converse import Chat
from cloister.services.chat.follow import TurnReaders
from cloister.services.chat.traced_turns import TracedTurns
from cloister.services.chat_model.names import ModelNames
from cloister.services.conversations.branches import Branches
from cloister.services.conversations.default_sessions import DefaultSessions
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.record import Recorder
from cloister.services.conversations.retention import Retention
from cloister.services.conversations.sessions import Sessions
from cloister.services.entries.expiry import EntryExpiry
from cloister.services.erasure.erase_project import ProjectErasure
from cloister.services.erasure.erase_user import UserErasure
from cloister.services.events.bus import EventBus
from cloister.services.health import Health
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.indexer import Indexer
from cloister.services.indexing.memories import MemoryIndexing
from cloister.services.indexing.queue import IndexQueue
from cloister.services.indexing.reindex import Reindexer
from cloister.services.indexing.vectors import VectorQueue
from cloister.services.lease import Leases
from cloister.services.listing.listings import Listings
from cloister.services.listing.message_windows import MessageWindows
from cloister.services.maintenance.integrity import RowIntegrity
from cloister.services.memories.claims import Claims
from cloister.services.memories.corrections import Corrections
from cloister.services.memories.entities import Entities
from cloister.services.memories.entity_changes import EntityChanges
from cloister.services.memories.entity_undo import EntityUndo
from cloister.services.memories.extract import Extraction
from cloister.services.memories.observations import Observations
from cloister.services.memories.preview import ExtractionPreview
from cloister.services.memories.traced.memories import TracedMemories
from cloister.services.memories.truth.manual_facts import ManualFacts
from cloister.services.processes import Processes
from cloister.services.recall.build_context import ContextBuilder
from cloister.services.recall.current_rows import CurrentRows
from cloister.services.recall.embeddings.additional import AdditionalRecall
from cloister.services.recall.embeddings.embed import TextEmbedder
from cloister.services.recall.embeddings.query_vectors import QueryVectors
from cloister.services.recall.pool_reader import PoolReader
from cloister.services.recall.profile import Profiles
from cloister.services.recall.recall import Recall
from cloister.services.recall.search import Search
from cloister.services.recall.traced_context import TracedContextBuilder
from cloister.services.receipts.expiry import ReceiptExpiry
from cloister.services.receipts.explain import Explain
from cloister.services.receipts.prompt import ReceiptPrompts
from cloister.services.receipts.reading import Receipts
from cloister.services.receipts.recalled import RecallReceipts
from cloister.services.receipts.storing import ReceiptStoring
from cloister.services.tenancy.api_keys import ApiKeys
from cloister.services.tenancy.idempotency_expiry import IdempotencyExpiry
from cloister.services.tenancy.projects import Projects
from cloister.services.tenancy.sign_ins import SignIns
from cloister.services.tenancy.tenants import Tenants
from cloister.services.tenancy.visibility import VisibilityChange
from cloister.services.turn_leases import TurnLeases
from cloister.services.wakeup import WakeUp
from cloister.settings import CONTEXT_TOKENS, Settings
from cloister.storage.interface import Database
from cloister.storage.stores.tenants import TenantStore

if TYPE_CHECKING:
    from cloister.services.archive.export import Export
    from cloister.services.archive.import_lines import Import
    from cloister.services.audit.plant import AuditPlants
    from cloister.services.chat.responses import Responses
    from cloister.services.chat.unrecorded import UnrecordedChat
    from cloister.services.conversations.files import MemoryFiles
    from cloister.services.conversations.items import Items
    from cloister.services.entries.entries import Entries

LOCAL_NAME = "local"


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """All use cases, wired. `close` finishes accepted writes and releases all resources."""

    database: Database
    index: Index
    projects: Projects
    sessions: Sessions
    message_windows: MessageWindows
    record: Recorder
    recall: Recall
    context: ContextBuilder
    search: Search
    pool_reader: PoolReader
    mcp_sessions: DefaultSessions
    mem0_sessions: DefaultSessions
    memory_tool_sessions: DefaultSessions
    branches: Branches
    forgetting: Forgetting
    certification: Certification
    index_probe: IndexProbe
    erase_user: UserErasure
    erase_project: ProjectErasure
    first_use: FirstUse
    tenants: Tenants
    queue: IndexQueue
    reindex: Reindexer
    health: Health
    api_keys: ApiKeys
    sign_ins: SignIns
    processes: Processes
    memories: TracedMemories
    corrections: Corrections
    entities: Entities
    entity_changes: EntityChanges
    entity_undo: EntityUndo
    observations: Observations
    extraction: Extraction
    extraction_preview: ExtractionPreview
    claims: Claims
    turns: TracedTurns
    chat: Chat
    turn_readers: TurnReaders
    embed: TextEmbedder
    wake_up: WakeUp
    events: EventBus
    extractor: Extractor
    idempotency_expiry: IdempotencyExpiry
    entry_expiry: EntryExpiry
    receipts: Receipts
    receipt_prompts: ReceiptPrompts
    explain: Explain
    recall_receipts: RecallReceipts
    receipt_expiry: ReceiptExpiry
    retention: Retention
    integrity: RowIntegrity
    profiles: Profiles
    listings: Listings
    tracer: Tracer
    vectors: VectorQueue | None = None
    """The queue of the additional embedder, if there is one."""
    additional_embedder: AdditionalEmbedder | None = None
    immediate: bool
    """Whether a message can be recalled as soon as it is committed, without draining the queue."""

    @property
    def entries(self) -> "Entries":
        return self.first_use.entries

    @property
    def files(self) -> "MemoryFiles":
        return self.first_use.files

    @property
    def items(self) -> "Items":
        return self.first_use.items

    @property
    def responses(self) -> "Responses":
        return self.first_use.responses

    @property
    def unrecorded(self) -> "UnrecordedChat":
        return self.first_use.unrecorded

    @property
    def audit_plants(self) -> "AuditPlants":
        return self.first_use.audit_plants

    @property
    def export(self) -> "Export":
        return self.first_use.export

    @property
    def import_lines(self) -> "Import":
        return self.first_use.import_lines

    def close(self) -> None:
        self.extractor.close()
        if self.additional_embedder is not None:
            self.additional_embedder.close()
        self.index.close()
        self.database.close()
        self.tracer.close()


def build_services(settings: Settings, *, clock: Clock = now, embedder: Embedder | None = None) -> Services:
    """Open the back ends that the settings name, and wire the services. Tests pass their own clock or embedder."""
    tracer = open_tracer(settings.tracing)
    database = open_database(settings)
    try:
        chosen = embedder or StaticEmbedder()
        return wire(
            database,
            index=open_index(settings, chosen),
            embedder=chosen,
            clock=clock,
            limits=settings.limits,
            extractor=open_extractor(settings, tracer),
            lease_seconds=settings.lease_seconds,
            chat_model=open_chat_model(settings, tracer),
            context_tokens=settings.context_tokens,
            allows_caller_keys=settings.caller_model_keys,
            image_models=settings.image_models,
            additional_embedder=open_additional_embedder(settings.embedder, tracer),
            tracer=tracer,
        )
    except CloisterError:
        database.close()
        raise


def wire(
    database: Database,
    *,
    index: Index,
    embedder: Embedder,
    clock: Clock = now,
    limits: Limits | None = None,
    extractor: Extractor | None = None,
    lease_seconds: float = LEASE_SECONDS,
    chat_model: ChatModel | None = None,
    context_tokens: int = CONTEXT_TOKENS,
    allows_caller_keys: bool = False,
    image_models: frozenset[str] = frozenset(),
    additional_embedder: AdditionalEmbedder | None = None,
    tracer: Tracer = NO_TRACING,
) -> Services:
    """Wire the services from parts that are already open. `limits` apply to tenants without limits of their own."""
    limits = limits or Limits()
    extractor = extractor or Rules()
    external = index if isinstance(index, ExternalIndex) else None
    leases, wake_up, processes = Leases(clock, lease_seconds), WakeUp(), Processes(database, clock)
    claims, events = Claims(database, clock, leases), EventBus(database, clock, processes)
    indexer = Indexer(database, embedder, has_external_index=external is not None)
    generation = indexer.generation
    vectors = additional = None
    if additional_embedder is not None:
        vectors = VectorQueue(database, additional_embedder, leases, clock)
        matrices = SecondVectors(index.cache)
        additional = AdditionalRecall(QueryVectors(additional_embedder), matrices, vectors.model)
    current = CurrentRows(indexer) if external is None and embedder.immediate else None
    recall = Recall(index, generation, additional, current)
    memory_indexing = MemoryIndexing(database, indexer, clock)
    entity_indexing = EntityIndexing(database, external, indexer, clock)
    queue = IndexQueue(database, external, indexer, memory_indexing, entity_indexing, clock)
    manual = ManualFacts(Rules(), clock)
    memories = TracedMemories(database, memory_indexing, generation, clock, events, entity_indexing, manual, tracer)
    corrections = Corrections(database, memory_indexing, generation, clock, events, manual, tracer)
    entities = Entities(database, entity_indexing, clock)
    visibility = VisibilityChange(entity_indexing, generation, clock)
    projects = Projects(database, generation, clock, limits, events, visibility)
    reindexer = Reindexer(database, indexer, memory_indexing, entity_indexing, queue, clock, processes, vectors)
    is_configured = chat_model is not None and not isinstance(chat_model, RecallOnly)
    chat_model = chat_model or RecallOnly()
    model_names = ModelNames(chat_model, is_configured=is_configured)
    sessions = Sessions(database, generation, clock, limits, events, model_names)
    recorder = Recorder(database, indexer, clock, limits, wake_up, events, tracer)
    profiles = Profiles(database, generation, clock)
    contexts = TracedContextBuilder(database, recall, generation, clock, profiles, tracer=tracer)
    forgetting = Forgetting(database, external, queue, entity_indexing, generation, events, tracer)
    search, index_probe = Search(database, recall, clock, tracer), IndexProbe(database, recall, clock)
    receipts, access = Receipts(database, generation, clock), ApiKeys(database, projects, clock)
    turn_leases = TurnLeases(clock, min(lease_seconds, TURN_LEASE_SECONDS), database, processes)
    branches = Branches(database, forgetting, entity_indexing, turn_leases, clock, events, wake_up)
    turns = TracedTurns(database, sessions, recorder, branches, events, turn_leases, tracer=tracer)
    chat = Chat(
        turns,
        contexts,
        forgetting,
        chat_model,
        context_tokens=context_tokens,
        allows_caller_keys=allows_caller_keys,
        image_models=image_models,
        quotes_only=not is_configured,
    )
    return Services(
        database=database,
        index=index,
        projects=projects,
        sessions=sessions,
        message_windows=MessageWindows(database, clock),
        record=recorder,
        recall=recall,
        context=contexts,
        search=search,
        pool_reader=PoolReader(database, generation, clock),
        mcp_sessions=DefaultSessions(database=database, prefix="mcp-"),
        mem0_sessions=DefaultSessions(database=database, prefix="mem0-"),
        memory_tool_sessions=DefaultSessions(database=database, prefix="memory-tool-"),
        branches=branches,
        forgetting=forgetting,
        certification=Certification(database, external, recall, search, index_probe),
        index_probe=index_probe,
        erase_user=UserErasure(database, forgetting, entity_indexing, generation, events),
        erase_project=ProjectErasure(database, forgetting, entity_indexing, generation, clock, events),
        first_use=FirstUse(
            database=database,
            embedder=embedder,
            clock=clock,
            limits=limits,
            events=events,
            sessions=sessions,
            recorder=recorder,
            forgetting=forgetting,
            contexts=contexts,
            chat=chat,
            claims=claims,
            entities=entities,
            indexer=indexer,
            entity_indexing=entity_indexing,
            manual=manual,
        ),
        tenants=Tenants(database, external, forgetting, access, generation, clock, events),
        queue=queue,
        reindex=reindexer,
        health=Health(
            database, queue, reindexer, claims, clock, vectors, embedder=embedder.name, extractor=extractor.name
        ),
        api_keys=access,
        sign_ins=SignIns(database, clock),
        processes=processes,
        memories=memories,
        corrections=corrections,
        entities=entities,
        entity_changes=EntityChanges(database, entities, entity_indexing, clock),
        entity_undo=EntityUndo(database, entities, entity_indexing, clock),
        observations=Observations(database),
        extraction=Extraction(database, memories, entities, extractor, clock, claims, events, tracer),
        extraction_preview=ExtractionPreview(database, extractor, clock),
        claims=claims,
        turns=turns,
        chat=chat,
        turn_readers=TurnReaders(database, generation),
        embed=TextEmbedder(embedder),
        wake_up=wake_up,
        events=events,
        extractor=extractor,
        idempotency_expiry=IdempotencyExpiry(database, clock),
        entry_expiry=EntryExpiry(database, clock),
        receipts=receipts,
        receipt_prompts=ReceiptPrompts(database, receipts, profiles, clock),
        explain=Explain(database, contexts, recall, receipts, generation, clock),
        recall_receipts=RecallReceipts(ReceiptStoring(database, generation), clock),
        receipt_expiry=ReceiptExpiry(database, clock),
        profiles=profiles,
        listings=Listings(database, clock),
        tracer=tracer,
        integrity=RowIntegrity(database, forgetting, events, generation),
        retention=Retention(database, forgetting, generation, clock, events),
        immediate=embedder.immediate and external is None,
        vectors=vectors,
        additional_embedder=additional_embedder,
    )


def open_tenant(services: Services, given: str | None) -> Reach:
    """The existing tenant with this id or name; for None or `local` the tenant of the installation, which is created at its first
    use."""
    return ensure_local_tenant(services) if given in (None, LOCAL_NAME) else Reach(tenant=services.tenants.find(given))


def ensure_local_tenant(services: Services) -> Reach:
    """The local tenant, created with its default project at the first start; several processes may start at once."""
    reach = Reach(tenant=LOCAL_TENANT)
    with services.database.read(reach) as transaction:
        known = TenantStore(transaction).exists()
    if not known:
        services.projects.create_tenant(LOCAL_NAME, tenant=LOCAL_TENANT)
    return reach
