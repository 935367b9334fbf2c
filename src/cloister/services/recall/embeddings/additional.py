"""Recall by an additional embedder: the vector of a question, and the similarities of a pool's messages to it."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cloister.domain.identifiers import PoolId
from cloister.domain.scope import Reach
from cloister.index.exact.second_vectors import SecondVectors, Similarities
from cloister.models.unit_vectors import UnitVector
from cloister.services.recall.embeddings.query_vectors import QueryVectors
from cloister.storage.interface import Transaction
from cloister.storage.stores.indexing.vectors import PoolVectors


class QueryVector(NamedTuple):
    """The vector of one question; it is not used for another. `model` is the number of the model that made it."""

    question: str
    vector: UnitVector
    model: int

    def model_for(self, text: str) -> int | None:
        """The model whose vector is used for this text; None if it is not that of the question."""
        return self.model if self.question == text else None


class AdditionalRecall:
    """The vectors of one model. `model` is its number in the database."""

    def __init__(self, queries: QueryVectors, vectors: SecondVectors, model: int) -> None:
        self._queries = queries
        self._vectors = vectors
        self._model = model
        self.outcomes = queries.outcomes

    def query_vector(self, reach: Reach, question: str) -> QueryVector | None:
        vector = self._queries.vector(reach.tenant, question)
        return None if vector is None else QueryVector(question, vector, self._model)

    def similarities(
        self, transaction: Transaction, pool: PoolId, ids: npt.NDArray[np.int64], asked: QueryVector
    ) -> Similarities | None:
        """See `SecondVectors.similarities`. The pool is one that the caller found through a scope."""
        return self._vectors.similarities(PoolVectors(transaction, pool, self._model), ids, asked.vector)
