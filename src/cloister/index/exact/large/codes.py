"""Vectors of a large pool as two bits a dimension: its sign, and whether it is larger than usual.

The scan over all rows reads the signs only; the second bit improves the estimate for the best of them. Estimates are of the dot
product with a unit vector; exact products need the stored vectors.
"""

import math

import numkong
import numpy as np
import numpy.typing as npt

from cloister.index.exact.columns import Column

# The best two-bit quantiser of a normal distribution (Max 1960), in standard deviations; a unit vector's is 1 / √dimension.
_THRESHOLD = 0.9816
# The values that each bit stands for, divided by how much of a product they keep, so that estimates are right on average.
_SMALL, _LARGE = 0.4528 / 0.8825, 1.510 / 0.8825
_SIGN_ALONE = math.sqrt(math.pi / 2)
# A fine estimate of a product is wrong by 0.365 / √dimension, one standard deviation; the sum of a window by 0.7 of that.
_WINDOW_DOUBT = 5 * 0.7 * 0.365
_MAGNITUDE = 0x7FFF
_QUERY_BITS = 4


class Codes:
    def __init__(self, dimension: int) -> None:
        width = -(-dimension // 8)
        self._unit = 1 / math.sqrt(dimension)
        self._threshold = int(np.float16(_THRESHOLD * self._unit).view(np.uint16))
        self._signs = Column(np.uint8, width)
        self._large = Column(np.uint8, width)
        self._missing = Column(np.bool_)
        self._any_missing = False

    @property
    def doubt(self) -> float:
        """By how much a window's fine estimate may be wrong: five standard deviations of its error."""
        return _WINDOW_DOUBT * self._unit

    @property
    def nbytes(self) -> int:
        return self._signs.nbytes + self._large.nbytes + self._missing.nbytes

    def reserve(self, count: int) -> None:
        for column in (self._signs, self._large, self._missing):
            column.reserve(count)

    def extend(self, vectors: npt.NDArray[np.float16]) -> None:
        """Add rows; a vector of zeros is a missing one."""
        numbers = vectors.view(np.uint16)
        self._signs.extend(len(vectors))[:] = np.packbits(numbers <= _MAGNITUDE, axis=1)
        magnitudes = numbers & np.uint16(_MAGNITUDE)
        self._large.extend(len(vectors))[:] = np.packbits(magnitudes > self._threshold, axis=1)
        missing = self._missing.extend(len(vectors))
        missing[:] = ~magnitudes.any(axis=1)
        self._any_missing |= bool(missing.any())

    def keep(self, rows: npt.NDArray[np.intp]) -> None:
        for column in (self._signs, self._large, self._missing):
            column.keep(rows)
        self._any_missing = bool(self._missing.live.any())

    def coarse_products(self, query: "CodedQuery", rows: npt.NDArray[np.intp] | slice) -> npt.NDArray[np.float32]:
        """Estimates for some rows, from their signs."""
        products = query.dots(self._signs.live[rows])
        products *= np.float32(2 * _SIGN_ALONE * self._unit)
        products -= np.float32(query.total * _SIGN_ALONE * self._unit)
        if self._any_missing:
            products[self._missing.live[rows]] = 0
        return products

    def fine_products(self, query: "CodedQuery", rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
        """Better estimates for some rows, from both bits."""
        signs, large = self._signs.live[rows], self._large.live[rows]
        products = np.float32(2 * self._unit * _SMALL) * query.dots(signs)
        products -= np.float32(self._unit * _SMALL * query.total)
        large_products = np.float32(2) * query.dots(signs & large)
        large_products -= query.dots(large)
        products += np.float32(self._unit * (_LARGE - _SMALL)) * large_products
        products[self._missing.live[rows]] = 0
        return products


class CodedQuery:
    """A query's vector as integers of a few bits; each bit of them is a row of a small matrix."""

    def __init__(self, vector: npt.NDArray[np.float32]) -> None:
        bits, highest = _QUERY_BITS, 2 ** (_QUERY_BITS - 1) - 1
        step = float(np.abs(vector).max(initial=0)) / highest or 1.0
        integers = np.rint(vector / np.float32(step)).astype(np.int8)
        planes = np.packbits((integers.view(np.uint8) >> np.arange(bits, dtype=np.uint8)[:, None]) & 1, axis=1)
        self._packed = numkong.dots_pack(planes, dtype="uint1")
        # Two's complement: the highest bit counts negative.
        self._weights = (step * np.array([*(2**bit for bit in range(bits - 1)), -(2 ** (bits - 1))])).astype(np.float32)
        self.total = step * float(integers.sum(dtype=np.int64))

    def dots(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The sum of the query's numbers over the bits that are set, for each row."""
        if not len(codes):
            return np.empty(0, np.float32)
        return np.asarray(numkong.dots_packed(codes, self._packed)).astype(np.float32) @ self._weights
