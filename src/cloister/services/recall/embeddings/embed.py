"""Embed texts for callers, with the embedder that recall uses. Nothing is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.domain.errors import InvalidRequest
from cloister.domain.recall.passage import Passage
from cloister.domain.text import checked_content
from cloister.models.interface import Embedder


@dataclass(frozen=True, kw_only=True, slots=True)
class Embeddings:
    """Vectors of texts: one row per text, of unit length or zero. `tokens` is the total."""

    vectors: npt.NDArray[np.float32]
    tokens: int


class TextEmbedder:
    """Wraps the configured embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.dimension = embedder.dimension

    def embed(self, texts: Sequence[str], *, dimensions: int | None = None) -> Embeddings:
        if dimensions not in (None, self.dimension):
            raise InvalidRequest("dimensions", f"must be {self.dimension}: the embedder here has no other.")
        for position, text in enumerate(texts):
            checked_content(text, f"input[{position}]")
        embeddings = self._embedder.embed([Passage(prefix="", content=text) for text in texts])
        rows = [np.frombuffer(embedding.vector, "<f2").astype(np.float32) for embedding in embeddings]
        return Embeddings(vectors=np.stack(rows), tokens=sum(embedding.tokens for embedding in embeddings))
