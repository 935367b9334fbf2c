"""Embed texts for others, as recall embeds what was said. Nothing is stored, and nothing is read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.domain.errors import InvalidRequest
from cloister.domain.recall.passage import Passage
from cloister.domain.text import checked_content
from cloister.models.interface import Embedder


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded:
    """`vectors` has a row for each text, of unit length or zero."""

    vectors: npt.NDArray[np.float32]
    tokens: int


class TextEmbedder:
    """The configured embedder, whatever it is."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.dimension = embedder.dimension

    def embed(self, texts: Sequence[str], *, dimensions: int | None = None) -> Embedded:
        if dimensions not in (None, self.dimension):
            raise InvalidRequest("dimensions", f"must be {self.dimension}: the embedder here has no other.")
        for place, text in enumerate(texts):
            checked_content(text, f"input[{place}]")
        embeddings = self._embedder.embed([Passage(prefix="", content=text) for text in texts])
        rows = [np.frombuffer(embedding.vector, "<f2").astype(np.float32) for embedding in embeddings]
        return Embedded(vectors=np.stack(rows), tokens=sum(embedding.tokens for embedding in embeddings))
