"""What texts add up to in the default embedder's table. A frequent piece of a text has a row of its own, the sum of its tokens: a
message of forty tokens is then twenty rows, and the tokenizer has nothing to do."""

import re
import threading
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numkong
import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from cloister.domain.passage import Passage

SPACE = "▁"
_PIECE = re.compile(f"{SPACE}+[^{SPACE}]+")
_SPECIAL = re.compile(r"<unk>|</?s>")
_UNUSUAL = re.compile(f"  |{SPACE}|<")
_LONGEST_KEPT_PIECE = 24
_KEPT_PIECES = 50_000
_PIECES_WITH_A_ROW = 16_384
_NOTHING = 0
_ROWS_TOGETHER = 2_048

Table = npt.NDArray[np.float16]
Floats = npt.NDArray[np.float32]


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
    """Safe to use from any thread."""

    def __init__(self, table: Table, tokenizer: Tokenizer) -> None:
        self._table = table
        self._pieces = _Pieces(table, tokenizer)
        self._lock = threading.Lock()

    def of(self, passages: Sequence[Passage]) -> tuple[Floats, list[int]]:
        """For each passage the sum of the rows of its tokens, and how many tokens its content has."""
        found, rowless, counts = self._found(passages)
        if len(found) * max(map(len, found)) <= _ROWS_TOGETHER:
            sums = self._added_up(_columns(found))
        else:
            sums = np.empty((len(passages), self._table.shape[1]), np.float32)
            for some in _alike(found):
                sums[some] = self._added_up(_columns([found[at] for at in some]))
        for at, tokens in rowless.items():
            for begin in range(0, len(tokens), _ROWS_TOGETHER):
                rows = rows_of_tokens(self._table, tokens[begin : begin + _ROWS_TOGETHER])
                sums[at] += np.add.reduce(rows, axis=0)
        return sums, counts

    def _added_up(self, columns: npt.NDArray[np.intp]) -> Floats:
        rows = self._pieces.rows
        sums = np.add.reduce(rows.take(columns[:_ROWS_TOGETHER], axis=0), axis=0)
        for begin in range(_ROWS_TOGETHER, len(columns), _ROWS_TOGETHER):
            sums += np.add.reduce(rows.take(columns[begin : begin + _ROWS_TOGETHER], axis=0), axis=0)
        return sums

    def _found(self, passages: Sequence[Passage]) -> tuple[list[list[int]], dict[int, list[int]], list[int]]:
        """Of each passage the rows of its pieces, of some the tokens of pieces that have no row, and the tokens of all contents."""
        pieces = self._pieces
        row_of, length_of = pieces.__getitem__, pieces.lengths.__getitem__
        found: list[list[int]] = []
        rowless: dict[int, list[int]] = {}
        counts: list[int] = []
        with self._lock:
            for at, (prefix, content) in enumerate(passages):
                pieces.rowless = others = list[int]()
                rows = list(map(row_of, cut(content)))
                counts.append(sum(map(length_of, rows)) + len(others))
                rows += map(row_of, cut(prefix))
                found.append(rows)
                if others:
                    rowless[at] = others
        return found, rowless, counts


class _Pieces(dict[str, int]):
    """The rows of the first some thousand pieces met, among which the frequent ones are; a row never changes. A piece without one
    has the row of zeros, and its tokens come to `rowless`. One thread at a time."""

    def __init__(self, table: Table, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._table = table
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}
        self.rows = np.zeros((_PIECES_WITH_A_ROW, table.shape[1]), np.float32)
        self.lengths = [0] * _PIECES_WITH_A_ROW
        """How many tokens each row has."""
        self.rowless: list[int] = []

    def __missing__(self, piece: str) -> int:
        known = self._known.get(piece)
        if known is not None:
            self.rowless += known
            return _NOTHING
        tokens = self._tokenizer.encode(piece, add_special_tokens=False).ids
        row = len(self) + 1
        if len(piece) <= _LONGEST_KEPT_PIECE and row < _PIECES_WITH_A_ROW:
            if tokens:
                np.add.reduce(rows_of_tokens(self._table, tokens), axis=0, out=self.rows[row])
            self.lengths[row] = len(tokens)
            self[piece] = row
            return row
        self.rowless += tokens
        if len(piece) <= _LONGEST_KEPT_PIECE:
            if len(self._known) >= _KEPT_PIECES:
                self._known.clear()
            self._known[piece] = tokens
        return _NOTHING


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
