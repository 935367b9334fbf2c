"""Embed the texts of entries, and rank entries by their similarity to a query. Vectors of different models are never compared."""

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cloister.domain.entries.entry import FLOAT_BYTES, GIVEN_VECTORS
from cloister.domain.entries.operations import PutEntry, SearchEntries
from cloister.domain.entries.paths import texts_at
from cloister.domain.entries.value_filter import passes
from cloister.domain.identifiers import new_entry_id
from cloister.domain.recall.passage import Passage
from cloister.domain.recall.question import asked_part
from cloister.models.interface import Embedder
from cloister.storage.stores.entries.entries import EntryStore, EntryVectors, NewEntry

Vector = npt.NDArray[np.float32]
# Entries that are compared in one step: few enough for memory, many enough for speed.
_STEP = 2_048


class Ranked(NamedTuple):
    """The row of an entry, and its similarity to the query: the best of its texts."""

    id: int
    score: float


class EntryEmbedding:
    """Wraps the configured embedder. Vectors that callers computed themselves are a model of their own for each length."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def prepare(self, puts: Sequence[PutEntry]) -> list[NewEntry]:
        """The rows of new entries with their vectors; computed before a transaction is open."""
        texts = [texts_at(put.value, put.paths) if put.vectors is None else [] for put in puts]
        embedded = iter(self._embed([text for found in texts for text in found]))
        return [self._row(put, list(islice(embedded, len(found)))) for put, found in zip(puts, texts, strict=True)]

    def prepare_given(self, put: PutEntry, vectors: Sequence[bytes]) -> NewEntry:
        """The row of an entry with vectors that a caller computed and that were stored before: they stay as they are."""
        return NewEntry(
            new_entry_id(),
            put.namespace,
            put.key,
            put.value,
            put.ttl,
            put.paths,
            f"{GIVEN_VECTORS}{len(vectors[0]) // FLOAT_BYTES}",
            b"".join(vectors),
        )

    def query(self, search: SearchEntries) -> "Query | None":
        """The query of a search, if it has one. Of a long text only the part that is asked is embedded (ISO-13)."""
        if search.vector is not None:
            given = np.asarray(search.vector, "<f4")
            return Query(f"{GIVEN_VECTORS}{len(given)}", _unit(given[None])[0])
        if search.query is None:
            return None
        vector = self._embedder.embed_query(asked_part(search.query), lambda words: [1.0] * len(words))
        return Query(self._embedder.name, vector)

    def rank(self, store: EntryStore, search: SearchEntries, query: "Query") -> list[Ranked]:
        """The best entries that pass the filter, as many as the search skips and shows, best first."""
        rows = store.vectors(search.prefix, query.model, with_values=bool(search.filter))
        best: list[Ranked] = []
        while step := list(islice(rows, _STEP)):
            ranked = self._scores([row for row in step if _passes(row, search.filter)], query)
            best = heapq.nlargest(search.offset + search.limit, [*best, *ranked], key=lambda each: each[::-1])
        return best

    def _scores(self, rows: Sequence[EntryVectors], query: "Query") -> Iterator[Ranked]:
        size = 4 * len(query.vector)
        found = [(row.id, self._vectors(row, query)) for row in rows]
        found = [(number, vectors) for number, vectors in found if vectors]
        if not found:
            return
        matrix = np.frombuffer(b"".join(vectors for _, vectors in found), "<f4").reshape(-1, len(query.vector))
        starts = np.cumsum([0, *(len(vectors) // size for _, vectors in found[:-1])])
        scores = np.maximum.reduceat(matrix @ query.vector, starts).tolist()
        for (number, _), score in zip(found, scores, strict=True):
            yield Ranked(number, score)

    def _vectors(self, row: EntryVectors, query: "Query") -> bytes:
        """The vectors of an entry, computed again if they are of an earlier embedder. Vectors that a caller computed are used for
        queries with such a vector only."""
        if row.model == query.model:
            return row.vectors
        if row.value is None or query.is_given or row.model.startswith(GIVEN_VECTORS):
            return b""
        return b"".join(each.tobytes() for each in self._embed(texts_at(row.value, json.loads(row.paths))))

    def _row(self, put: PutEntry, embedded: Sequence[Vector]) -> NewEntry:
        if put.vectors:
            given = _unit(np.asarray(put.vectors, "<f4"))
            return _new(put, f"{GIVEN_VECTORS}{given.shape[1]}", given)
        return _new(put, self._embedder.name, np.stack(embedded)) if embedded else _new(put, None, None)

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        embeddings = self._embedder.embed([Passage(prefix="", content=text) for text in texts])
        return [np.frombuffer(embedding.vector, "<f2").astype("<f4") for embedding in embeddings]


class Query(NamedTuple):
    """A query's vector, of unit length or zero, and the model of the vectors it can be compared with."""

    model: str
    vector: Vector

    @property
    def is_given(self) -> bool:
        return self.model.startswith(GIVEN_VECTORS)


def _passes(row: EntryVectors, wanted: Mapping[str, Any]) -> bool:
    return not wanted or (row.value is not None and passes(json.loads(row.value), wanted))


def _new(put: PutEntry, model: str | None, vectors: Vector | None) -> NewEntry:
    stored = None if vectors is None else vectors.tobytes()
    return NewEntry(new_entry_id(), put.namespace, put.key, put.value, put.ttl, put.paths, model, stored)


def _unit(vectors: Vector) -> Vector:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype("<f4")
