"""Sums of token vectors for the default embedder. A cache has one row for each frequent piece of text, the sum of its tokens: a
message of forty tokens takes about twenty rows, and no tokenizer. Its size is fixed, however many different pieces there are.

Sums are exact, so they do not reveal which pieces are cached, which depends on texts of other tenants. Every number of the table is
a small multiple of 2**-24, and a float64 represents the sum of as many of them as a text can have, added in any order. A row is of
float32, and a piece whose sum has more digits gets none.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import cast

import numkong
import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from cloister.domain.patterns import linear
from cloister.domain.recall.passage import Passage
from cloister.domain.recall.word_cache import WordCache

SPACE = "▁"
_PIECE = linear(f"(?<!{SPACE}){SPACE}++[^{SPACE}]+")
_SPECIAL = linear(r"<unk>|</?s>")
_UNUSUAL = linear(f"  |{SPACE}|<")
_LONGEST_KEPT_PIECE = 24
_LONGEST_PIECE = 2_048
_KEPT_PIECES = 65_536
_PIECES_WITH_A_ROW = 16_384
_TOKEN = np.dtype("<u2")
_NOTHING = 0
_ROWS_TOGETHER = 2_048

Table = npt.NDArray[np.float16]
Floats = npt.NDArray[np.float32]
Exact = npt.NDArray[np.float64]
Tokens = npt.NDArray[np.uint16]


def stripped(text: str) -> str:
    """Strip the spaces around a text, which give no token."""
    return text.strip(" " + SPACE)


def is_plain(text: str) -> bool:
    """Whether a stripped text can be split at each space: it has only single ones, and nothing like a control token."""
    return _UNUSUAL.search(text) is None


def cut(text: str) -> list[str]:
    """Split a text into pieces that have the same tokens as the whole: no token has a space after a letter."""
    text = stripped(text)
    if is_plain(text):
        return text.split(" ")
    if _SPECIAL.search(text):
        return [text]
    return [piece[1:] for piece in _PIECE.findall(SPACE + text.replace(" ", SPACE))]


def rows_of_tokens(table: Table, tokens: Sequence[int] | Tokens) -> Floats:
    return np.asarray(numkong.astype(table.take(tokens, axis=0), "float32"))


class _Tokens(WordCache[bytes]):
    """A cache of the tokens of pieces, each as two bytes."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(_KEPT_PIECES, _LONGEST_KEPT_PIECE)
        self._tokenizer = tokenizer

    def computed(self, piece: str, /) -> bytes:
        """Tokenize a piece, in parts of 2,048 characters, because the tokenizer does not release the GIL. A token that spans two
        parts is lost; the space that the tokenizer puts before each part is removed."""
        tokens = self._tokenizer.encode(piece[:_LONGEST_PIECE], add_special_tokens=False).ids
        for begin in range(_LONGEST_PIECE, len(piece), _LONGEST_PIECE):
            part = self._tokenizer.encode(piece[begin : begin + _LONGEST_PIECE], add_special_tokens=False)
            tokens += part.ids[1:] if part.tokens[0] == SPACE else part.ids
        return np.array(tokens, _TOKEN).tobytes()


class Sums:
    """Thread-safe without a lock: the row of a piece is filled before the piece is added to the index, and never changes. The first
    pieces that come a second time have rows."""

    def __init__(self, table: Table, tokenizer: Tokenizer) -> None:
        self._table = table
        self._tokens = _Tokens(tokenizer)
        self._row_of: dict[str, int] = {}
        self._has_free_rows = True
        self._free_rows = iter(range(_NOTHING + 1, _PIECES_WITH_A_ROW))
        self._rows: Floats = np.zeros((_PIECES_WITH_A_ROW, table.shape[1]), np.float32)
        self._lengths = [0] * _PIECES_WITH_A_ROW

    def of(self, passages: Sequence[Passage]) -> tuple[Exact, list[int]]:
        """For each passage the sum of its tokens' vectors, and the number of tokens of its content."""
        found: list[list[int]] = []
        rowless: dict[int, bytes] = {}
        counts: list[int] = []
        for at, (prefix, content) in enumerate(passages):
            others: list[bytes] = []
            rows = self._found(content, others)
            counts.append(sum(map(self._lengths.__getitem__, rows)) + sum(map(len, others)) // _TOKEN.itemsize)
            rows += self._found(prefix, others)
            found.append(rows)
            if others:
                rowless[at] = b"".join(others)
        sums = self._sums(found)
        for at, tokens in rowless.items():
            sums[at] += self._sum_of_tokens(np.frombuffer(tokens, _TOKEN))
        return sums, counts

    def _found(self, text: str, others: list[bytes]) -> list[int]:
        """The rows of a text's pieces. The tokens of a piece without a row are appended to `others`."""
        pieces = cut(text)
        rows = list(map(self._row_of.get, pieces))
        if None not in rows:
            return cast(list[int], rows)
        return [self._learnt(pieces[at], others) if row is None else row for at, row in enumerate(rows)]

    def _learnt(self, piece: str, others: list[bytes]) -> int:
        if self._has_free_rows and self._tokens.knows(piece):
            row = self._row_of.get(piece) or self._new_row(piece)  # the same piece may have come twice in this text
            if row is not None:
                return row
        others.append(self._tokens[piece])
        return _NOTHING

    def _new_row(self, piece: str) -> int | None:
        """None if the sum is not a float32, as one in fifty, or there is no free row."""
        tokens = np.frombuffer(self._tokens[piece], _TOKEN)
        exact = self._sum_of_tokens(tokens)
        total = exact.astype(np.float32)
        if not (total == exact).all():
            return None
        row = next(self._free_rows, None)
        if row is None:
            self._has_free_rows = False
            return None
        self._rows[row] = total
        self._lengths[row] = len(tokens)
        self._row_of[piece] = row
        return row

    def _sums(self, found: Sequence[Sequence[int]]) -> Exact:
        if len(found) * max(map(len, found)) <= _ROWS_TOGETHER:
            return self._added_up(_columns(found))
        sums = np.empty((len(found), self._table.shape[1]), np.float64)
        for some in _alike(found):
            sums[some] = self._added_up(_columns([found[at] for at in some]))
        return sums

    def _added_up(self, columns: npt.NDArray[np.intp]) -> Exact:
        sums = self._sum_of_rows(columns[:_ROWS_TOGETHER])
        for begin in range(_ROWS_TOGETHER, len(columns), _ROWS_TOGETHER):
            sums += self._sum_of_rows(columns[begin : begin + _ROWS_TOGETHER])
        return sums

    def _sum_of_rows(self, columns: npt.NDArray[np.intp]) -> Exact:
        return np.add.reduce(self._rows.take(columns, axis=0), axis=0, dtype=np.float64)

    def _sum_of_tokens(self, tokens: Tokens) -> Exact:
        total = np.zeros(self._table.shape[1], np.float64)
        for begin in range(0, len(tokens), _ROWS_TOGETHER):
            rows = rows_of_tokens(self._table, tokens[begin : begin + _ROWS_TOGETHER])
            total += np.add.reduce(rows, axis=0, dtype=np.float64)
        return total


def _alike(found: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Batches of similar length, of at most `_ROWS_TOGETHER` rows with padding, unless a single one has more."""
    order = sorted(range(len(found)), key=lambda at: len(found[at]))
    begin = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or len(found[order[end]]) * (end + 1 - begin) > _ROWS_TOGETHER:
            yield order[begin:end]
            begin = end


def _columns(found: Sequence[Sequence[int]]) -> npt.NDArray[np.intp]:
    """A matrix with one column for each list, padded with the row of zeros."""
    if len(found) == 1:
        return np.array(found[0], np.intp)[:, None]
    return np.array(list(zip_longest(*found, fillvalue=_NOTHING)), np.intp)
