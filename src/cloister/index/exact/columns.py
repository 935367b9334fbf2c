"""A pool's messages as columns in memory, and how stored rows are turned into columns.

A column only grows at its end or is replaced by a smaller copy, so a view that was taken earlier never changes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

from cloister.domain.conversation import ROLES
from cloister.domain.identifiers import SEQUENCE_BITS
from cloister.index.interface import Row

_ROLE_CODES = {role: code for code, role in enumerate(ROLES)}
_Scalar = TypeVar("_Scalar", bound=np.generic)
_GROWTH = 1.5
_SPARE_SHARE = 8
# The bytes of a column and of its array besides the data.
_COLUMN_BYTES = 240
_FEW = 250


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """A batch of stored messages as columns; those of one session are in the order of their ids."""

    ids: Sequence[int] | npt.NDArray[np.int64]
    session_ids: Sequence[int] | npt.NDArray[np.int64]
    roles: Sequence[int]
    authors: Sequence[str | None]
    created_at: Sequence[int]
    vectors: Sequence[bytes | None]
    """In order; one item may be the concatenated vectors of several messages."""
    terms: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.ids)


def rows_of(stored: Iterable[Row], most: int) -> Iterator[Rows]:
    """Stored rows (id, role, author, created at, vector, terms) in batches of about `most` rows, as columns."""
    remaining = iter(stored)
    while True:
        messages, roles, authors, created_at, vectors, terms = _columns(remaining, most)
        if not messages:
            return
        ids = np.array(messages, np.int64)
        yield Rows(
            ids=ids,
            session_ids=ids >> SEQUENCE_BITS,
            roles=list(map(_ROLE_CODES.__getitem__, roles)),
            authors=authors,
            created_at=created_at,
            vectors=vectors,
            terms=terms,
        )


def _columns(rows: Iterator[Row], most: int) -> tuple[list[Any], ...]:
    """Reads a few rows at a time and joins their vectors at once, so that short-lived memory stays in the CPU cache."""
    columns: tuple[list[Any], ...] = tuple([] for _ in range(6))
    while len(columns[0]) < most and (few := list(islice(rows, _FEW))):
        for column, values in zip(columns, zip(*few, strict=True), strict=True):
            if column is columns[4] and all(values):
                column.append(b"".join(cast(tuple[bytes, ...], values)))
            else:
                column += values
    return columns


class Column(Generic[_Scalar]):
    """One growing array; `width` makes it a matrix."""

    __slots__ = ("_data", "_length", "_tail")

    def __init__(self, kind: type[_Scalar], width: int | None = None) -> None:
        self._tail = () if width is None else (width,)
        self._data: npt.NDArray[_Scalar] = np.empty((0, *self._tail), kind)
        self._length = 0

    @property
    def live(self) -> npt.NDArray[_Scalar]:
        return self._data[: self._length]

    @property
    def nbytes(self) -> int:
        """The bytes of the array with its spare capacity, and of the column itself."""
        return self._data.nbytes + _COLUMN_BYTES

    def extend(self, count: int) -> npt.NDArray[_Scalar]:
        """Grow by `count` uninitialised elements, and return a view of them."""
        begin, end = self._length, self._length + count
        if end > len(self._data):
            self._make_room(int(end * _GROWTH) + 1)
        self._length = end
        return self._data[begin:end]

    def reserve(self, count: int) -> None:
        """Allocate for `count` elements and a few more, so that a column which was just loaded is not copied for the next ones."""
        if count > len(self._data):
            self._make_room(count + count // _SPARE_SHARE)

    def keep(self, rows: npt.NDArray[np.intp]) -> None:
        self._data = self._data[rows]
        self._length = len(rows)

    def _make_room(self, capacity: int) -> None:
        grown = np.empty((capacity, *self._tail), self._data.dtype)
        grown[: self._length] = self.live
        self._data = grown


def distinct(*rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The numbers of all these arrays, sorted, each once. For some thousands this is many times faster than `np.unique`."""
    found = np.concatenate(rows)
    found.sort()
    if not len(found):
        return found
    new = np.empty(len(found), np.bool_)
    new[0] = True
    np.not_equal(found[1:], found[:-1], out=new[1:])
    return found[new]


def fill_vectors(into: npt.NDArray[np.float16], vectors: Sequence[bytes | None]) -> None:
    """Copy stored vectors, single or concatenated, into the rows of a matrix; a missing vector becomes zeros."""
    flat, end = into.reshape(-1), 0
    for piece in vectors:
        values = np.frombuffer(piece, "<f2") if piece else np.zeros(into.shape[1], np.float16)
        begin, end = end, end + len(values)
        flat[begin:end] = values
