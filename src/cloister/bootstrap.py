"""Settings → services. The only module that names concrete back ends."""

from dataclasses import dataclass
from pathlib import Path

from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import LOCAL_TENANT
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock, now
from cloister.domain.usage import Limits
from cloister.index.exact.index import ExactIndex
from cloister.index.interface import Index
from cloister.models.interface import ChatModel, Embedder, Extractor
from cloister.models.recall_only import RecallOnly
from cloister.models.rules.extractor import Rules
from cloister.models.static.embedder import StaticEmbedder
from cloister.services.chat.converse import CONTEXT_TOKENS, Converser
from cloister.services.chat.follow import Follower
from cloister.services.chat.turns import TurnKeeper
from cloister.services.conversations.erase_user import UserEraser
from cloister.services.conversations.forget import Forgetter
from cloister.services.conversations.record import Recorder
from cloister.services.conversations.sessions import SessionKeeper
from cloister.services.events.bus import Bus
from cloister.services.health import Diagnoser
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.indexer import Indexer
from cloister.services.indexing.memories import MemoryIndexing
from cloister.services.indexing.queue import IndexQueue
from cloister.services.indexing.reindex import Reindexer
from cloister.services.memories.claims import LEASE_SECONDS, Claims
from cloister.services.memories.entities import EntityKeeper
from cloister.services.memories.extract import MemoryWorker
from cloister.services.memories.memories import Rememberer
from cloister.services.memories.observations import ObservationReader
from cloister.services.recall.build_context import ContextBuilder
from cloister.services.recall.embed import TextEmbedder
from cloister.services.recall.recall import Recaller
from cloister.services.recall.recall_derived import DerivedRecaller
from cloister.services.recall.search import Searcher
from cloister.services.tenancy.api_keys import Gatekeeper
from cloister.services.tenancy.idempotency_expiry import ExpiredAnswers
from cloister.services.tenancy.projects import Organiser
from cloister.services.tenancy.tenants import TenantDirectory
from cloister.services.tenancy.visibility import VisibilityChange
from cloister.services.wakeup import Bell
from cloister.settings import Settings
from cloister.storage.interface import Database
from cloister.storage.sqlite.database import open_sqlite
from cloister.storage.stores.tenants import Tenants

LOCAL_NAME = "local"


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """Every use case, wired; `close` finishes what was accepted and lets go of everything."""

    database: Database
    index: Index
    organise: Organiser
    sessions: SessionKeeper
    record: Recorder
    recall: Recaller
    recall_derived: DerivedRecaller
    context: ContextBuilder
    search: Searcher
    forget: Forgetter
    erase_user: UserEraser
    tenants: TenantDirectory
    queue: IndexQueue
    reindex: Reindexer
    diagnose: Diagnoser
    access: Gatekeeper
    remember: Rememberer
    entities: EntityKeeper
    observations: ObservationReader
    memory_worker: MemoryWorker
    claims: Claims
    turns: TurnKeeper
    converse: Converser
    follow: Follower
    embed: TextEmbedder
    bell: Bell
    events: Bus
    extractor: Extractor
    expired_answers: ExpiredAnswers
    immediate: bool
    """Whether what was recorded can be recalled at once, with no queue to drain."""

    def close(self) -> None:
        self.extractor.close()
        self.index.close()
        self.database.close()


def build_services(
    settings: Settings,
    *,
    clock: Clock = now,
    embedder: Embedder | None = None,
) -> Services:
    """Open everything that the settings name. Tests pass their own clock or embedder."""
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
) -> Services:
    """Services over parts that are already open; `limits` hold for tenants without limits of their own."""
    limits = limits or Limits()
    extractor = extractor or Rules()
    claims, bell = Claims(database, clock, lease_seconds=lease_seconds), Bell()
    events = Bus(database, clock)
    indexer = Indexer(database, embedder, immediate_index=index.immediate)
    generation = indexer.generation
    recaller = Recaller(index, generation)
    memory_indexing = MemoryIndexing(database, indexer, clock)
    entity_indexing = EntityIndexing(database, index, indexer, clock)
    queue = IndexQueue(database, index, indexer, memory_indexing, entity_indexing, clock)
    derived = DerivedRecaller(index, generation)
    rememberer = Rememberer(database, memory_indexing, clock)
    entities = EntityKeeper(database, entity_indexing, clock)
    visibility = VisibilityChange(entity_indexing, generation, clock)
    organiser = Organiser(database, generation, clock, limits, events, visibility)
    reindexer = Reindexer(database, indexer, memory_indexing, entity_indexing, queue, clock)
    sessions = SessionKeeper(database, generation, clock, limits, events)
    recorder = Recorder(database, indexer, clock, limits, bell, events)
    contexts = ContextBuilder(database, recaller, derived, generation)
    forgetter = Forgetter(database, index, queue, entity_indexing, generation, events)
    access = Gatekeeper(database, organiser, clock)
    turns = TurnKeeper(database, sessions, recorder, clock, events, lease_seconds=lease_seconds)
    return Services(
        database=database,
        index=index,
        organise=organiser,
        sessions=sessions,
        record=recorder,
        recall=recaller,
        recall_derived=derived,
        context=contexts,
        search=Searcher(database, recaller, derived),
        forget=forgetter,
        erase_user=UserEraser(database, forgetter, entity_indexing, generation, events),
        tenants=TenantDirectory(database, index, forgetter, access, generation, clock, events),
        queue=queue,
        reindex=reindexer,
        diagnose=Diagnoser(database, queue, reindexer, claims, clock, embedder=embedder.name, extractor=extractor.name),
        access=access,
        remember=rememberer,
        entities=entities,
        observations=ObservationReader(database),
        memory_worker=MemoryWorker(database, rememberer, entities, extractor, clock, claims),
        claims=claims,
        turns=turns,
        converse=Converser(turns, contexts, forgetter, chat_model or RecallOnly(), context_tokens=context_tokens),
        follow=Follower(database, generation),
        embed=TextEmbedder(embedder),
        bell=bell,
        events=events,
        extractor=extractor,
        expired_answers=ExpiredAnswers(database, clock),
        immediate=embedder.immediate and index.immediate,
    )


def open_tenant(services: Services, given: str | None) -> Reach:
    """The tenant of this id or name, which must be there; where none is given, or `local`, that of the installation, which is made
    with its first use."""
    return ensure_local_tenant(services) if given in (None, LOCAL_NAME) else Reach(tenant=services.tenants.find(given))


def ensure_local_tenant(services: Services) -> Reach:
    """The local tenant and its default project, made at the first start; several processes may start at once."""
    reach = Reach(tenant=LOCAL_TENANT)
    with services.database.read(reach) as transaction:
        known = Tenants(transaction).exists()
    if not known:
        services.organise.create_tenant(LOCAL_NAME, tenant=LOCAL_TENANT)
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


def _open_chat_model(settings: Settings) -> ChatModel:
    """Without a model, replies that quote what is remembered."""
    if settings.model_url is None:
        return RecallOnly()
    from cloister.models.openai.chat import OpenAiChatModel
    from cloister.models.openai.endpoint import Endpoint

    return OpenAiChatModel(Endpoint(url=settings.model_url, model=settings.model_name, key=settings.model_key))


def _open_extractor(settings: Settings) -> Extractor:
    """Without a model, rules. A model is asked when there is work for it; that it can be reached is not asked for at the start."""
    if settings.model_url is None:
        return Rules()
    from cloister.models.openai.endpoint import Endpoint
    from cloister.models.openai.extractor import OpenAiExtractor

    return OpenAiExtractor(Endpoint(url=settings.model_url, model=settings.model_name, key=settings.model_key))
