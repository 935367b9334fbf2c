"""Another model than the one that is shipped."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cloister.domain.recall.passage import Passage
from cloister.models.interface import Embedding, Weigh


@dataclass
class OtherEmbedder:
    """Another model, with another length of vectors; slow ones run from the queue only."""

    immediate: bool = True
    name: str = "other/1"
    dimension: int = 8
    seen: list[str] = field(default_factory=list[str])

    def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        self.seen += [passage.content for passage in passages]
        return [Embedding(vector=np.full(8, 0.35, "<f2").tobytes(), tokens=1) for _ in passages]

    def embed_query(self, text: str, weigh: Weigh) -> npt.NDArray[np.float32]:
        return np.full(8, 0.35, np.float32)
