"""Wire the services from the settings. The only module that chooses concrete back ends."""

from dataclasses import dataclass
from pathlib import Path

from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import LOCAL_TENANT
from cloister.domain.lease import LEASE_SECONDS
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock, now
from cloister.domain.usage import Limits
from cloister.index.exact.index import ExactIndex
from cloister.index.exact.second_vectors import SecondVectors
from cloister.index.interface import ExternalIndex, Index
from cloister.models.interface import AdditionalEmbedder, ChatModel, Embedder, Extractor
from cloister.models.recall_only import RecallOnly
from cloister.models.rules.extractor import Rules
from cloister.models.static.embedder import StaticEmbedder
from cloister.services.archive.export import Export
from cloister.services.archive.import_lines import Import
from cloister.services.chat.converse import Chat
from cloister.services.chat.follow import TurnReaders
from cloister.services.chat.responses import Responses
from cloister.services.chat.turns import Turns
from cloister.services.chat.unrecorded import UnrecordedChat
from cloister.services.conversations.default_sessions import DefaultSessions
from cloister.services.conversations.erase_user import UserErasure
from cloister.services.conversations.files import MemoryFiles
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.items import Items
from cloister.services.conversations.record import Recorder
from cloister.services.conversations.retention import Retention
from cloister.services.conversations.sessions import Sessions
from cloister.services.entries.embedding import EntryEmbedding
from cloister.services.entries.entries import Entries
from cloister.services.entries.expiry import EntryExpiry
from cloister.services.events.bus import EventBus
from cloister.services.health import Health
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.indexer import Indexer
from cloister.services.indexing.memories import MemoryIndexing
from cloister.services.indexing.queue import IndexQueue
from cloister.services.indexing.reindex import Reindexer
from cloister.services.indexing.vectors import VectorQueue
from cloister.services.lease import Leases
from cloister.services.memories.claims import Claims
from cloister.services.memories.corrections import Corrections
from cloister.services.memories.entities import Entities
from cloister.services.memories.entity_changes import EntityChanges
from cloister.services.memories.entity_undo import EntityUndo
from cloister.services.memories.extract import Extraction
from cloister.services.memories.memories import Memories
from cloister.services.memories.observations import Observations
from cloister.services.memories.preview import ExtractionPreview
from cloister.services.recall.additional import AdditionalRecall
from cloister.services.recall.build_context import ContextBuilder
from cloister.services.recall.embed import TextEmbedder
from cloister.services.recall.pool_reader import PoolReader
from cloister.services.recall.profile import Profiles
from cloister.services.recall.query_vectors import QueryVectors
from cloister.services.recall.recall import Recall
from cloister.services.recall.search import Search
from cloister.services.tenancy.api_keys import ApiKeys
from cloister.services.tenancy.idempotency_expiry import IdempotencyExpiry
from cloister.services.tenancy.projects import Projects
from cloister.services.tenancy.tenants import Tenants
from cloister.services.tenancy.visibility import VisibilityChange
from cloister.services.wakeup import WakeUp
from cloister.settings import CONTEXT_TOKENS, EmbedderSettings, Settings
from cloister.storage.interface import Database
from cloister.storage.sqlite.database import open_sqlite
from cloister.storage.stores.tenants import TenantStore

LOCAL_NAME = "local"


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """All use cases, wired. `close` finishes accepted writes and releases all resources."""

    database: Database
    index: Index
    projects: Projects
    sessions: Sessions
    record: Recorder
    recall: Recall
    context: ContextBuilder
    search: Search
    pool_reader: PoolReader
    mcp_sessions: DefaultSessions
    forgetting: Forgetting
    erase_user: UserErasure
    export: Export
    import_lines: Import
    tenants: Tenants
    queue: IndexQueue
    reindex: Reindexer
    health: Health
    api_keys: ApiKeys
    memories: Memories
    corrections: Corrections
    entities: Entities
    entity_changes: EntityChanges
    entity_undo: EntityUndo
    observations: Observations
    extraction: Extraction
    extraction_preview: ExtractionPreview
    claims: Claims
    turns: Turns
    chat: Chat
    turn_readers: TurnReaders
    unrecorded: UnrecordedChat
    items: Items
    files: MemoryFiles
    responses: Responses
    embed: TextEmbedder
    wake_up: WakeUp
    events: EventBus
    extractor: Extractor
    idempotency_expiry: IdempotencyExpiry
    entries: Entries
    entry_expiry: EntryExpiry
    retention: Retention
    profiles: Profiles
    vectors: VectorQueue | None = None
    """The queue of the additional embedder, if there is one."""
    additional_embedder: AdditionalEmbedder | None = None
    immediate: bool
    """Whether a message can be recalled as soon as it is committed, without draining the queue."""

    def close(self) -> None:
        self.extractor.close()
        if self.additional_embedder is not None:
            self.additional_embedder.close()
        self.index.close()
        self.database.close()


def build_services(
    settings: Settings,
    *,
    clock: Clock = now,
    embedder: Embedder | None = None,
) -> Services:
    """Open the back ends that the settings name, and wire the services. Tests pass their own clock or embedder."""
    database = _open_database(settings)
    try:
        chosen = embedder or StaticEmbedder()
        return wire(
            database,
            index=_open_index(settings, chosen),
            embedder=chosen,
            clock=clock,
            limits=settings.limits,
            extractor=_open_extractor(settings),
            lease_seconds=settings.lease_seconds,
            chat_model=_open_chat_model(settings),
            context_tokens=settings.context_tokens,
            allows_caller_keys=settings.caller_model_keys,
            additional_embedder=_open_additional_embedder(settings.embedder),
            pool_cache_megabytes=settings.pool_cache_megabytes,
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
    additional_embedder: AdditionalEmbedder | None = None,
    pool_cache_megabytes: int = 256,
) -> Services:
    """Wire the services from parts that are already open. `limits` apply to tenants without limits of their own."""
    limits = limits or Limits()
    extractor = extractor or Rules()
    external = index if isinstance(index, ExternalIndex) else None
    leases, wake_up = Leases(clock, lease_seconds), WakeUp()
    claims, events = Claims(database, clock, leases), EventBus(database, clock)
    indexer = Indexer(database, embedder, has_external_index=external is not None)
    generation = indexer.generation
    vectors = additional = None
    if additional_embedder is not None:
        vectors = VectorQueue(database, additional_embedder, leases, clock)
        matrices = SecondVectors(pool_cache_megabytes * 1_000_000)
        additional = AdditionalRecall(QueryVectors(additional_embedder), matrices, vectors.model)
    recall = Recall(index, generation, additional)
    memory_indexing = MemoryIndexing(database, indexer, clock)
    entity_indexing = EntityIndexing(database, external, indexer, clock)
    queue = IndexQueue(database, external, indexer, memory_indexing, entity_indexing, clock)
    memories = Memories(
        database, memory_indexing, generation, clock, events, entity_indexing, subject_of=Rules().subject
    )
    corrections = Corrections(database, memory_indexing, generation, clock, events, subject_of=Rules().subject)
    entities = Entities(database, entity_indexing, clock)
    visibility = VisibilityChange(entity_indexing, generation, clock)
    projects = Projects(database, generation, clock, limits, events, visibility)
    reindexer = Reindexer(database, indexer, memory_indexing, entity_indexing, queue, clock, vectors)
    sessions = Sessions(database, generation, clock, limits, events)
    recorder = Recorder(database, indexer, clock, limits, wake_up, events)
    profiles = Profiles(database, generation, clock)
    contexts = ContextBuilder(database, recall, generation, clock, profiles)
    forgetting = Forgetting(database, external, queue, entity_indexing, generation, events)
    access = ApiKeys(database, projects, clock)
    turns = Turns(database, sessions, recorder, events, leases)
    chat = Chat(
        turns,
        contexts,
        forgetting,
        chat_model or RecallOnly(),
        context_tokens=context_tokens,
        allows_caller_keys=allows_caller_keys,
    )
    return Services(
        database=database,
        index=index,
        projects=projects,
        sessions=sessions,
        record=recorder,
        recall=recall,
        context=contexts,
        search=Search(database, recall, clock),
        pool_reader=PoolReader(database, generation, clock),
        mcp_sessions=DefaultSessions(database=database, prefix="mcp-"),
        forgetting=forgetting,
        erase_user=UserErasure(database, forgetting, entity_indexing, generation, events),
        export=Export(database),
        import_lines=Import(database, indexer, entity_indexing, recorder, clock, limits, events),
        tenants=Tenants(database, external, forgetting, access, generation, clock, events),
        queue=queue,
        reindex=reindexer,
        health=Health(
            database, queue, reindexer, claims, clock, vectors, embedder=embedder.name, extractor=extractor.name
        ),
        api_keys=access,
        memories=memories,
        corrections=corrections,
        entities=entities,
        entity_changes=EntityChanges(database, entities, entity_indexing, clock),
        entity_undo=EntityUndo(database, entities, entity_indexing, clock),
        observations=Observations(database),
        extraction=Extraction(database, memories, entities, extractor, clock, claims),
        extraction_preview=ExtractionPreview(database, extractor, clock),
        claims=claims,
        turns=turns,
        chat=chat,
        unrecorded=UnrecordedChat(database, contexts, chat),
        turn_readers=TurnReaders(database, generation),
        items=Items(database, sessions, recorder, forgetting, events),
        files=MemoryFiles(database, forgetting, clock),
        responses=Responses(database, forgetting),
        embed=TextEmbedder(embedder),
        wake_up=wake_up,
        events=events,
        extractor=extractor,
        idempotency_expiry=IdempotencyExpiry(database, clock),
        entries=Entries(database, EntryEmbedding(embedder), forgetting, clock, limits),
        entry_expiry=EntryExpiry(database, clock),
        profiles=profiles,
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


def _open_database(settings: Settings) -> Database:
    if settings.postgres:
        from cloister.storage.postgres.database import open_postgres

        return open_postgres(settings.data)
    return open_sqlite(Path(settings.data).expanduser())


def _open_index(settings: Settings, embedder: Embedder) -> Index:
    if settings.index == "qdrant":
        from cloister.index.qdrant.index import open_qdrant

        return open_qdrant(settings.qdrant_url, settings.qdrant_key, embedder)
    return ExactIndex(embedder.embed_query, embedder.dimension, settings.pool_cache_megabytes * 1_000_000)


def _open_additional_embedder(settings: EmbedderSettings) -> AdditionalEmbedder | None:
    """None for the table alone. Whether an endpoint can be reached is found out at the first request, not here."""
    if settings.kind == "openai":
        from cloister.models.openai.embeddings import OpenAiEmbedder
        from cloister.models.openai.endpoint import Endpoint, SettingNames

        names = SettingNames(url="CLOISTER_EMBEDDER_URL", key="CLOISTER_EMBEDDER_KEY", model="CLOISTER_EMBEDDER_MODEL")
        return OpenAiEmbedder(
            Endpoint(url=settings.url, model=settings.model, key=settings.key, settings=names),
            prefix=settings.prefix,
            query_prefix=settings.query_prefix,
        )
    if settings.kind == "onnx":
        from cloister.models.onnx.directory import read_directory
        from cloister.models.onnx.embedder import OnnxEmbedder, require_onnxruntime

        require_onnxruntime()
        directory = read_directory(Path(settings.path).expanduser())
        return OnnxEmbedder(directory, prefix=settings.prefix, query_prefix=settings.query_prefix)
    return None


def _open_chat_model(settings: Settings) -> ChatModel:
    """Without a model, replies quote what was recalled."""
    if settings.model_url is None:
        return RecallOnly()
    from cloister.models.openai.chat import OpenAiChatModel
    from cloister.models.openai.endpoint import Endpoint

    return OpenAiChatModel(Endpoint(url=settings.model_url, model=settings.model_name, key=settings.model_key))


def _open_extractor(settings: Settings) -> Extractor:
    """Without a model, rules. Whether a model can be reached is found out at its first request, not here."""
    if settings.model_url is None:
        return Rules()
    from cloister.models.openai.endpoint import Endpoint
    from cloister.models.openai.extractor import OpenAiExtractor

    return OpenAiExtractor(Endpoint(url=settings.model_url, model=settings.model_name, key=settings.model_key))
