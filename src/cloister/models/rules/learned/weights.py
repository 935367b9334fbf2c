"""The classifiers that `benchmarks/learned_facts/train.py` trained, read from `weights.npz` at first use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from cloister.models.rules.learned.features import BUCKETS

Question = Literal["name", "role", "number", "status", "change"]
CLASSES: Mapping[Question, tuple[str, ...]] = {
    "name": ("none", "home", "former home", "employer", "former employer", "own name", "former name"),
    "role": ("none", "role", "former role"),
    "number": ("none", "age"),
    "status": ("none", "single", "divorced", "widowed", "dating", "engaged", "married"),
    "change": ("none", "stopped", "started"),
}
"""What each classifier tells apart: what a name, an occupation or a number is to the speaker, or what a text says of them."""
FILE = Path(__file__).with_name("weights.npz")


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """`tables` have a row for each bucket and one for the bias, and a column for each class. `common` words begin sentences and are
    no names; `names` are known without capitals."""

    tables: Mapping[Question, npt.NDArray[np.int8]]
    scales: Mapping[Question, float]
    common: frozenset[str]
    names: frozenset[str]

    def chances(self, question: Question, features: Sequence[int]) -> dict[str, float]:
        """How likely each class is; they add up to one."""
        scores = self.tables[question][[*features, BUCKETS]].sum(axis=0, dtype=np.int32) * self.scales[question]
        powers = np.exp(scores - scores.max())
        return dict(zip(CLASSES[question], (powers / powers.sum()).tolist(), strict=True))


@cache
def weights() -> Weights:
    with np.load(FILE) as stored:
        return Weights(
            tables={question: stored[question] for question in CLASSES},
            scales={question: float(stored[f"{question} scale"]) for question in CLASSES},
            common=_words(stored["common"]),
            names=_words(stored["names"]),
        )


def _words(stored: npt.NDArray[np.uint8]) -> frozenset[str]:
    return frozenset(stored.tobytes().decode().split())
