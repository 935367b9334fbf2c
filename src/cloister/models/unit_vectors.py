"""Vectors of additional embedders: checked, and brought to unit length. What a model or its server gives is not trusted."""

import hashlib
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

HIGHEST_DIMENSION = 16_384

UnitVector = npt.NDArray[np.float32]


def unit_vector(values: npt.NDArray[np.floating[Any]]) -> UnitVector | None:
    """The vector at unit length; None if it has no direction, because it is zero or not finite."""
    wide = values.astype(np.float64)
    length = float(np.sqrt(np.dot(wide, wide)))
    if not np.isfinite(length) or length < 1e-12:
        return None
    return (wide / length).astype(np.float32)


def parsed_vectors(answer: Any, count: int) -> list[UnitVector | None] | None:
    """The vectors of an `/embeddings` answer, in the order of the texts. None if it is no such answer for `count` texts; a single
    vector is None if it is not a list of finite numbers."""
    data = cast(dict[str, Any], answer).get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(cast(list[Any], data)) != count:
        return None
    found: list[UnitVector | None] = [None] * count
    seen: set[int] = set()
    for position, entry in enumerate(cast(list[Any], data)):
        if not isinstance(entry, dict):
            return None
        fields = cast(dict[str, Any], entry)
        index = fields.get("index", position)
        if type(index) is not int or not 0 <= index < count or index in seen:
            return None
        seen.add(index)
        found[index] = _parsed(fields.get("embedding"))
    return found if len({len(vector) for vector in found if vector is not None}) <= 1 else None


def model_name(name: str, prefix: str) -> str:
    """The name under which vectors are stored: a text before each message makes others of them."""
    return f"{name}+{hashlib.blake2b(prefix.encode(), digest_size=4).hexdigest()}" if prefix else name


def stored(vector: UnitVector | None) -> bytes:
    """A vector as it is stored: little-endian float16; empty for none."""
    return b"" if vector is None else vector.astype("<f2").tobytes()


def _parsed(embedding: Any) -> UnitVector | None:
    if not isinstance(embedding, list) or not 0 < len(cast(list[Any], embedding)) <= HIGHEST_DIMENSION:
        return None
    numbers = cast(Sequence[Any], embedding)
    if any(type(number) not in (float, int) for number in numbers):
        return None
    try:
        return unit_vector(np.array(numbers, np.float64))
    except OverflowError:  # an integer with more digits than a float can have
        return None
