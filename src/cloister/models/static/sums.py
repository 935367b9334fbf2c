"""What texts add up to in the default embedder's table. A frequent piece of a text has a row of its own, the sum of its tokens: a
message of forty tokens is then twenty rows, and the tokenizer has nothing to do.

Sums are exact, so they say nothing of which pieces have a row: that depends on what others said before. Every number of the table
is a small multiple of 2**-24, and a float64 has room for the sum of more of them than a text can have, in any order.
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

SPACE = "▁"
_PIECE = linear(f"(?<!{SPACE}){SPACE}++[^{SPACE}]+")
_SPECIAL = linear(r"<unk>|</?s>")
_UNUSUAL = linear(f"  |{SPACE}|<")
_LONGEST_KEPT_PIECE = 24
_LONGEST_PIECE = 2_048
_KEPT_PIECES = 50_000
_PIECES_WITH_A_ROW = 16_384
_NOTHING = 0
_ROWS_TOGETHER = 2_048

Table = npt.NDArray[np.float16]
Floats = npt.NDArray[np.float32]
Exact = npt.NDArray[np.float64]


def stripped(text: str) -> str:
    """Without the spaces around it, which give no token."""
    return text.strip(" " + SPACE)


def is_plain(text: str) -> bool:
    """Whether a stripped text may be cut at each space, for it holds no other and nothing that looks like a control word."""
    return _UNUSUAL.search(text) is None


def cut(text: str) -> list[str]:
    """The pieces of a text, which have the same tokens together as the whole: no token has a space behind a letter."""
    text = stripped(text)
    if is_plain(text):
        return text.split(" ")
    if _SPECIAL.search(text):
        return [text]
    return [piece[1:] for piece in _PIECE.findall(SPACE + text.replace(" ", SPACE))]


def rows_of_tokens(table: Table, tokens: Sequence[int]) -> Floats:
    return np.asarray(numkong.astype(table.take(tokens, axis=0), "float32"))


class Sums:
    """Safe to use from any thread, and without a lock: what is known of a piece is written before the piece is."""

    def __init__(self, table: Table, tokenizer: Tokenizer) -> None:
        self._table = table
        self._tokenizer = tokenizer
        self._row_of: dict[str, int] = {}
        self._tokens_of: dict[str, list[int]] = {}
        self._free_rows = iter(range(_NOTHING + 1, _PIECES_WITH_A_ROW))
        self._rows = np.zeros((_PIECES_WITH_A_ROW, table.shape[1]), np.float64)
        self._lengths = [0] * _PIECES_WITH_A_ROW

    def of(self, passages: Sequence[Passage]) -> tuple[Exact, list[int]]:
        """For each passage the sum of the rows of its tokens, and how many tokens its content has."""
        found: list[list[int]] = []
        rowless: dict[int, list[int]] = {}
        counts: list[int] = []
        for at, (prefix, content) in enumerate(passages):
            others: list[int] = []
            rows = self._found(content, others)
            counts.append(sum(map(self._lengths.__getitem__, rows)) + len(others))
            rows += self._found(prefix, others)
            found.append(rows)
            if others:
                rowless[at] = others
        sums = self._sums(found)
        for at, tokens in rowless.items():
            sums[at] += self._sum_of_tokens(tokens)
        return sums, counts

    def _found(self, text: str, others: list[int]) -> list[int]:
        """The rows of a text's pieces. The tokens of a piece that has none come to the others."""
        pieces = cut(text)
        rows = list(map(self._row_of.get, pieces))
        if None not in rows:
            return cast(list[int], rows)
        return [self._learnt(pieces[at], others) if row is None else row for at, row in enumerate(rows)]

    def _learnt(self, piece: str, others: list[int]) -> int:
        tokens = self._tokens_of.get(piece)
        if tokens is None:
            tokens = self._encoded(piece)
            if len(piece) <= _LONGEST_KEPT_PIECE:
                row = next(self._free_rows, None)
                if row is not None:
                    self._rows[row] = self._sum_of_tokens(tokens)
                    self._lengths[row] = len(tokens)
                    self._row_of[piece] = row
                    return row
                if len(self._tokens_of) >= _KEPT_PIECES:
                    self._tokens_of.clear()
                self._tokens_of[piece] = tokens
        others += tokens
        return _NOTHING

    def _encoded(self, piece: str) -> list[int]:
        """The tokenizer holds the GIL, so a piece of more than 2,048 characters is given to it in parts; a token that would go
        across two of them is lost, and the space it puts before each part is taken out again."""
        tokens = self._tokenizer.encode(piece[:_LONGEST_PIECE], add_special_tokens=False).ids
        for begin in range(_LONGEST_PIECE, len(piece), _LONGEST_PIECE):
            part = self._tokenizer.encode(piece[begin : begin + _LONGEST_PIECE], add_special_tokens=False)
            tokens += part.ids[1:] if part.tokens[0] == SPACE else part.ids
        return tokens

    def _sums(self, found: Sequence[Sequence[int]]) -> Exact:
        if len(found) * max(map(len, found)) <= _ROWS_TOGETHER:
            return self._added_up(_columns(found))
        sums = np.empty((len(found), self._table.shape[1]), np.float64)
        for some in _alike(found):
            sums[some] = self._added_up(_columns([found[at] for at in some]))
        return sums

    def _added_up(self, columns: npt.NDArray[np.intp]) -> Exact:
        sums = np.add.reduce(self._rows.take(columns[:_ROWS_TOGETHER], axis=0), axis=0)
        for begin in range(_ROWS_TOGETHER, len(columns), _ROWS_TOGETHER):
            sums += np.add.reduce(self._rows.take(columns[begin : begin + _ROWS_TOGETHER], axis=0), axis=0)
        return sums

    def _sum_of_tokens(self, tokens: Sequence[int]) -> Exact:
        total = np.zeros(self._table.shape[1], np.float64)
        for begin in range(0, len(tokens), _ROWS_TOGETHER):
            rows = rows_of_tokens(self._table, tokens[begin : begin + _ROWS_TOGETHER])
            total += np.add.reduce(rows, axis=0, dtype=np.float64)
        return total


def _alike(found: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Which ones are added up together: they are of like length, and no more than are held at once, unless one alone is more."""
    order = sorted(range(len(found)), key=lambda at: len(found[at]))
    begin = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or len(found[order[end]]) * (end + 1 - begin) > _ROWS_TOGETHER:
            yield order[begin:end]
            begin = end


def _columns(found: Sequence[Sequence[int]]) -> npt.NDArray[np.intp]:
    """One beside the other; one that ends before the last goes on with nothing."""
    if len(found) == 1:
        return np.array(found[0], np.intp)[:, None]
    return np.array(list(zip_longest(*found, fillvalue=_NOTHING)), np.intp)
