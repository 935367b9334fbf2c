"""The Qdrant index, for pools too large to scan. It finds candidates, which are then ranked like those of the exact index.

Points are put through the queue of unindexed rows. The client is an optional extra: import the modules of this folder only where
Qdrant is configured.
"""

import hashlib
from collections.abc import Sequence
from typing import Protocol

from cloister.domain.errors import InvalidRequest, StorageUnavailable
from cloister.index import terms
from cloister.index.cache import CACHE_BYTES, PoolCache
from cloister.index.exact.block import EmbedQuery
from cloister.index.exact.derived import DerivedBlocks
from cloister.index.interface import DerivedReader, EntityPoint, EntityReader, Point, PoolIndex, PoolReader
from cloister.index.qdrant import points as layout

try:
    from qdrant_client import QdrantClient

    from cloister.index.qdrant.collection import IDENTIFIER, MOMENT, TENANT_KEY, QdrantCollection, reaching_qdrant
    from cloister.index.qdrant.search import QdrantPool, QdrantProject
except ImportError as missing:
    raise StorageUnavailable("Qdrant needs its client: pip install cloister[qdrant]") from missing

_TIMEOUT_SECONDS = 30
# Somebody waits for the answer to a question, and a question has up to five requests.
_ASKING_SECONDS = 5
_OLDEST_SERVER = (1, 19)
_OF_EVERY_POINT = {layout.TENANT: IDENTIFIER, layout.TENANT_KEY: TENANT_KEY, layout.CREATED_AT: MOMENT}
_OF_EPISODES = {**_OF_EVERY_POINT, layout.SESSION: IDENTIFIER}
_OF_ENTITIES = {**_OF_EVERY_POINT, layout.PROJECT: IDENTIFIER, layout.USER_PART: IDENTIFIER}


class Embedder(Protocol):
    """What the index needs of the embedder."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def embed_query(self) -> EmbedQuery: ...


def open_qdrant(url: str | None, key: str | None, embedder: Embedder, byte_limit: int = CACHE_BYTES) -> "QdrantIndex":
    """Open the index for this embedder on a server, or in memory for `:memory:`."""
    if not url:
        raise InvalidRequest("CLOISTER_QDRANT_URL", "must name a Qdrant server when the index is qdrant.")
    if url == ":memory:":
        return QdrantIndex(QdrantClient(":memory:"), embedder, byte_limit)
    with reaching_qdrant():
        client = QdrantClient(url=url, api_key=key, timeout=_TIMEOUT_SECONDS, check_compatibility=False)
        asking = QdrantClient(url=url, api_key=key, timeout=_ASKING_SECONDS, check_compatibility=False)
        _refuse_older_server(client.info().version)
    return QdrantIndex(client, embedder, byte_limit, asking)


def collection_name(embedder: Embedder) -> str:
    """One collection per embedder, tokeniser and layout, because points of two generations cannot be compared."""
    generation = f"{embedder.name}+terms{terms.VERSION}+layout{layout.LAYOUT}"
    return f"cloister_{hashlib.sha256(generation.encode()).hexdigest()[:16]}"


def entity_collection_name(embedder: Embedder) -> str:
    """A collection of their own, because an entity may have the id of a message."""
    return f"{collection_name(embedder)}_entities"


class QdrantIndex:
    """It lags behind storage by the length of the queue, but filters by the pool's sessions as storage has them at the question.
    Memories are few in a pool, and are searched exactly."""

    def __init__(
        self,
        client: QdrantClient,
        embedder: Embedder,
        byte_limit: int = CACHE_BYTES,
        asking: QdrantClient | None = None,
    ) -> None:
        """`asking` is the client for questions, which waits less long than the one that changes points."""
        self._clients = (client, asking or client)
        self._embedder = embedder
        dimension = embedder.dimension
        self._episodes = QdrantCollection(self._clients, collection_name(embedder), dimension, _OF_EPISODES)
        self._entities = QdrantCollection(self._clients, entity_collection_name(embedder), dimension, _OF_ENTITIES)
        self.cache = PoolCache(byte_limit)
        self._memories = DerivedBlocks(embedder.embed_query, dimension, self.cache)

    def within(self, pool: PoolReader) -> PoolIndex:
        return QdrantPool(self._episodes.query, pool, self._embedder.embed_query)

    def memories_within(self, pool: DerivedReader) -> PoolIndex:
        return self._memories.within(pool)

    def entities_within(self, entities: EntityReader) -> PoolIndex:
        return QdrantProject(self._entities.query, entities, self._embedder.embed_query)

    def put(self, run: Sequence[Point], first: int, last: int) -> None:
        self._episodes.put(layout.episode_points(run, first, last, self._embedder.dimension))

    def forget_sessions(self, tenant: int, sessions: Sequence[int]) -> None:
        self._episodes.forget_where(tenant, layout.SESSION, sessions)

    def forget_messages(self, tenant: int, messages: Sequence[int]) -> None:
        self._episodes.forget(tenant, messages)

    def put_entities(self, entities: Sequence[EntityPoint]) -> None:
        self._entities.put(layout.entity_points(entities, self._embedder.dimension))

    def forget_entities(self, tenant: int, entities: Sequence[int]) -> None:
        self._entities.forget(tenant, entities)

    def count(self, tenant: int, sessions: Sequence[int], messages: Sequence[int], entities: Sequence[int]) -> int:
        return (
            self._episodes.count_where(tenant, layout.SESSION, sessions)
            + self._episodes.count(tenant, messages)
            + self._entities.count(tenant, entities)
        )

    def close(self) -> None:
        self.cache.clear()
        for client in dict.fromkeys(self._clients):
            client.close()


def _refuse_older_server(version: str) -> None:
    """An older server silently ignores the filter of word statistics, so that one tenant's words would weigh another's."""
    numbers = tuple(int(part) for part in version.split("-")[0].split(".")[:2])
    if numbers < _OLDEST_SERVER:
        oldest = ".".join(map(str, _OLDEST_SERVER))
        raise StorageUnavailable(f"The Qdrant server is {version}, and Cloister needs {oldest} or newer.")
