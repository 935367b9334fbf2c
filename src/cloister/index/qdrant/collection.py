"""One Qdrant collection: create it, put points, delete points, and query. Scope filters are added in `search`."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast
from uuid import UUID

from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from cloister.domain.errors import StorageUnavailable
from cloister.index.qdrant import points as layout
from cloister.index.qdrant.search import Hit

IDENTIFIER = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False)
MOMENT = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True)
TENANT_KEY = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
_BATCH = 100
_CONFLICT = 409


class QdrantCollection:
    """A collection of points of one layout. Every failure of Qdrant is raised as `StorageUnavailable`."""

    def __init__(
        self, clients: tuple[QdrantClient, QdrantClient], name: str, dimension: int, indexes: Mapping[str, Any]
    ) -> None:
        """`clients` are the one for changes and the one for questions."""
        self._client, self._asking = clients
        self.name = name
        with reaching_qdrant():
            self._make(dimension, indexes)

    def put(self, encoded: Iterable[layout.EncodedPoint]) -> None:
        points = [_point(one) for one in encoded]
        for begin in range(0, len(points), _BATCH):
            with reaching_qdrant():
                self._client.upsert(self.name, points[begin : begin + _BATCH], wait=True)

    def forget(self, tenant: int, rows: Sequence[int]) -> None:
        if rows:
            self._delete(models.PointIdsList(points=_point_ids(tenant, rows)))

    def forget_where(self, tenant: int, key: str, values: Sequence[int]) -> None:
        if values:
            self._delete(models.FilterSelector(filter=_of_tenant(tenant, key, values)))

    def count(self, tenant: int, rows: Sequence[int]) -> int:
        """How many of the tenant's rows there are."""
        if not rows:
            return 0
        with reaching_qdrant():
            return len(self._client.retrieve(self.name, _point_ids(tenant, rows), with_payload=False))

    def count_where(self, tenant: int, key: str, values: Sequence[int]) -> int:
        """How many points of the tenant have one of these values."""
        if not values:
            return 0
        with reaching_qdrant():
            return self._client.count(self.name, count_filter=_of_tenant(tenant, key, values), exact=True).count

    def query(self, requests: Sequence[models.QueryRequest]) -> list[list[Hit]]:
        with reaching_qdrant():
            answers = self._asking.query_batch_points(self.name, requests)
        return [[_hit(point) for point in answer.points if isinstance(point.id, str)] for answer in answers]

    def _delete(self, selector: models.FilterSelector | models.PointIdsList) -> None:
        with reaching_qdrant():
            self._client.delete(self.name, selector, wait=True)

    def _make(self, dimension: int, indexes: Mapping[str, Any]) -> None:
        """Several processes may start at once: the second one finds the collection, and ensures that its indexes exist."""
        if not self._client.collection_exists(self.name):
            try:
                self._client.create_collection(
                    self.name,
                    vectors_config={layout.WINDOW: _vector_params(dimension)},
                    sparse_vectors_config={
                        layout.WINDOW_WORDS: models.SparseVectorParams(),
                        layout.OWN_WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF),
                    },
                    hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                )
            except UnexpectedResponse as error:
                if error.status_code != _CONFLICT:
                    raise
        for key, schema in indexes.items():
            self._client.create_payload_index(self.name, key, schema, wait=True)


def _point_ids(tenant: int, rows: Sequence[int]) -> list[int | str | UUID]:
    return [layout.point_id(tenant, row) for row in rows]


def _of_tenant(tenant: int, key: str, values: Sequence[int]) -> models.Filter:
    """Always with the tenant: another one may have a session with the same id."""
    own = models.FieldCondition(key=layout.TENANT, match=models.MatchValue(value=tenant))
    wanted = models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))
    return models.Filter(must=[own, wanted])


def _vector_params(dimension: int) -> models.VectorParams:
    """Vectors have unit length, or are zero while there is none, which the cosine distance does not accept."""
    return models.VectorParams(size=dimension, distance=models.Distance.DOT, datatype=models.Datatype.FLOAT16)


def _point(encoded: layout.EncodedPoint) -> models.PointStruct:
    return models.PointStruct(
        id=encoded.id,
        vector={
            layout.WINDOW: encoded.vector,
            layout.WINDOW_WORDS: models.SparseVector(indices=encoded.window.terms, values=encoded.window.weights),
            layout.OWN_WORDS: models.SparseVector(indices=encoded.own.terms, values=encoded.own.weights),
        },
        payload=encoded.payload,
    )


def _hit(point: models.ScoredPoint) -> Hit:
    payload = point.payload or {}
    return Hit(
        id=layout.row_id(cast(str, point.id)),
        score=point.score,
        role=payload.get(layout.ROLE, 0),
        author=payload.get(layout.AUTHOR, ()),
        created_at=payload.get(layout.CREATED_AT, 0),
    )


@contextmanager
def reaching_qdrant() -> Generator[None]:
    try:
        yield
    except (ApiException, QdrantException) as error:
        raise StorageUnavailable(f"Qdrant could not do it: {error}") from error
