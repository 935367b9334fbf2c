"""The Qdrant index: for pools too large to scan. It finds candidates; the same ranking orders them.

Points reach it through the queue of unindexed rows. It answers ids and scores: whoever asks reads the rows back from storage under
the same scope. Only this module and `qdrant_search` import the client, an optional extra; import them where Qdrant is chosen.
"""

import hashlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, cast

from cloister.domain.errors import InvalidRequest, StorageUnavailable
from cloister.index import qdrant_points as layout
from cloister.index import terms
from cloister.index.block import EmbedQuery
from cloister.index.interface import Point, PoolReader

try:
    from qdrant_client import QdrantClient, models
    from qdrant_client.common.client_exceptions import QdrantException
    from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

    from cloister.index.qdrant_search import Hit, QdrantPool
except ImportError as missing:
    raise StorageUnavailable("Qdrant needs its client: pip install cloister[qdrant]") from missing

_BATCH = 100
_TIMEOUT_SECONDS = 30
_CONFLICT = 409
_OLDEST_SERVER = (1, 19)
_PAYLOAD_INDEXES: dict[str, Any] = {
    layout.TENANT: models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False),
    layout.TENANT_KEY: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    layout.SESSION: models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False),
    layout.CREATED_AT: models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True),
}


class Embedder(Protocol):
    """What the index needs to know of whatever makes the vectors."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def embed_query(self) -> EmbedQuery: ...


def open_qdrant(url: str | None, key: str | None, embedder: Embedder) -> "QdrantIndex":
    """The index of this embedder's generation on a server, or in memory for `:memory:`."""
    if not url:
        raise InvalidRequest("CLOISTER_QDRANT_URL", "must name a Qdrant server when the index is qdrant.")
    if url == ":memory:":
        return QdrantIndex(QdrantClient(":memory:"), embedder)
    with _reaching_qdrant():
        client = QdrantClient(url=url, api_key=key, timeout=_TIMEOUT_SECONDS, check_compatibility=False)
        _refuse_older_server(client.info().version)
    return QdrantIndex(client, embedder)


def collection_name(embedder: Embedder) -> str:
    """One collection a generation: points of two embedders, tokenisers or layouts are never compared."""
    generation = f"{embedder.name}+terms{terms.VERSION}+layout{layout.LAYOUT}"
    return f"cloister_{hashlib.sha256(generation.encode()).hexdigest()[:16]}"


class QdrantIndex:
    """Late by as long as the queue is; never wider than what storage says of the pool at the moment of the question."""

    immediate = False

    def __init__(self, client: QdrantClient, embedder: Embedder) -> None:
        self._client = client
        self._embedder = embedder
        self.collection = collection_name(embedder)
        with _reaching_qdrant():
            self._make_collection()

    def within(self, pool: PoolReader) -> QdrantPool:
        return QdrantPool(self._ask, pool, self._embedder.embed_query)

    def put(self, run: Sequence[Point], first: int, last: int) -> None:
        points = [_point(made) for made in layout.episode_points(run, first, last, self._embedder.dimension)]
        for begin in range(0, len(points), _BATCH):
            with _reaching_qdrant():
                self._client.upsert(self.collection, points[begin : begin + _BATCH], wait=True)

    def forget_sessions(self, sessions: Sequence[int]) -> None:
        if not sessions:
            return
        gone = models.FieldCondition(key=layout.SESSION, match=models.MatchAny(any=list(sessions)))
        self._delete(models.FilterSelector(filter=models.Filter(must=[gone])))

    def forget_messages(self, messages: Sequence[int]) -> None:
        if messages:
            self._delete(models.PointIdsList(points=list(messages)))

    def close(self) -> None:
        self._client.close()

    def _delete(self, selector: models.FilterSelector | models.PointIdsList) -> None:
        with _reaching_qdrant():
            self._client.delete(self.collection, selector, wait=True)

    def _ask(self, requests: Sequence[models.QueryRequest]) -> list[list[Hit]]:
        with _reaching_qdrant():
            answers = self._client.query_batch_points(self.collection, requests)
        return [[_hit(point) for point in answer.points if isinstance(point.id, int)] for answer in answers]

    def _make_collection(self) -> None:
        """Several processes may start at once: whoever comes second finds it made, and makes sure of its indexes too."""
        if not self._client.collection_exists(self.collection):
            try:
                self._client.create_collection(
                    self.collection,
                    vectors_config={layout.WINDOW: _vector_params(self._embedder.dimension)},
                    sparse_vectors_config={
                        layout.WINDOW_WORDS: models.SparseVectorParams(),
                        layout.OWN_WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF),
                    },
                    hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                )
            except UnexpectedResponse as error:
                if error.status_code != _CONFLICT:
                    raise
        for key, schema in _PAYLOAD_INDEXES.items():
            self._client.create_payload_index(self.collection, key, schema, wait=True)


def _vector_params(dimension: int) -> models.VectorParams:
    """Vectors are of unit length already, or zero where there is none yet, which a cosine cannot take."""
    return models.VectorParams(size=dimension, distance=models.Distance.DOT, datatype=models.Datatype.FLOAT16)


def _point(made: layout.EpisodePoint) -> models.PointStruct:
    return models.PointStruct(
        id=made.message,
        vector={
            layout.WINDOW: made.vector,
            layout.WINDOW_WORDS: models.SparseVector(indices=made.window.terms, values=made.window.weights),
            layout.OWN_WORDS: models.SparseVector(indices=made.own.terms, values=made.own.weights),
        },
        payload=made.payload,
    )


def _hit(point: models.ScoredPoint) -> Hit:
    payload = point.payload or {}
    return Hit(
        message=cast(int, point.id),
        score=point.score,
        role=payload.get(layout.ROLE, 0),
        author=payload.get(layout.AUTHOR, ()),
        created_at=payload.get(layout.CREATED_AT, 0),
    )


def _refuse_older_server(version: str) -> None:
    """An older server ignores the scope of word statistics without a word, and one tenant's words would weigh another's."""
    numbers = tuple(int(part) for part in version.split("-")[0].split(".")[:2])
    if numbers < _OLDEST_SERVER:
        oldest = ".".join(map(str, _OLDEST_SERVER))
        raise StorageUnavailable(f"The Qdrant server is {version}, and Cloister needs {oldest} or newer.")


@contextmanager
def _reaching_qdrant() -> Generator[None]:
    try:
        yield
    except (ApiException, QdrantException) as error:
        raise StorageUnavailable(f"Qdrant could not do it: {error}") from error
