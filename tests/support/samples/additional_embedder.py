"""An additional embedder that knows a few synonyms, which the table does not: so tests see whose vectors an answer is from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cloister.domain.errors import ModelUnavailable
from cloister.models.unit_vectors import UnitVector

# Words of one line mean the same, though no two of them look alike or are close in the table.
MEANINGS = (("zorblat", "quimble"), ("frestig", "ombrax"), ("trellop", "vastun"), ("skerrin", "ploveth"))


@dataclass
class Synonyms:
    """`meanwhile` runs while it embeds messages. A text with one of `refused` in it gets no vector. While `down`, all fails."""

    name: str = "synonyms/1"
    dimension: int = 8
    down: bool = False
    refused: tuple[str, ...] = ()
    meanwhile: Callable[[], object] = field(default=lambda: None)
    seen: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])

    def embed(self, texts: Sequence[str]) -> list[UnitVector | None]:
        self._require_up()
        self.seen += texts
        event, self.meanwhile = self.meanwhile, lambda: None
        event()
        return [None if any(word in text for word in self.refused) else self._vector(text) for text in texts]

    def embed_query(self, text: str) -> UnitVector:
        self._require_up()
        self.asked.append(text)
        return self._vector(text)

    def close(self) -> None:
        """Nothing is open."""

    def _require_up(self) -> None:
        if self.down:
            raise ModelUnavailable("The model (synonyms) cannot be reached.")

    def _vector(self, text: str) -> UnitVector:
        vector = np.full(self.dimension, 0.01, np.float32)
        for meaning, words in enumerate(MEANINGS):
            vector[meaning] += sum(text.lower().count(word) for word in words)
        return vector / np.float32(np.linalg.norm(vector))
