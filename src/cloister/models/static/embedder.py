"""The default embedder: a table with a vector of 256 numbers for each token, from the `wordllama` wheel. No network, no inference.

Only the wheel's data files are read; its own loader, which looks for updates online, is never imported.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numkong
import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]
from tokenizers import Tokenizer

from cloister.domain.patterns import linear
from cloister.domain.recall.passage import Passage
from cloister.domain.recall.word_cache import WordCache
from cloister.models.interface import Embedding, Weigh
from cloister.models.static.sums import SPACE, Sums, is_plain, rows_of_tokens, stripped

_WORD = linear(r"[^\W_]+")
_LONGEST_KEPT_PIECE = 24
_KEPT_PIECES = 8_192
_PUNCTUATION_WEIGHT = 0.0
_CHARACTERS_TOGETHER = 20_000


class StaticEmbedder:
    """Thread-safe. The table is loaded once, at first use."""

    name = "wordllama-l2-supercat-256/1"
    dimension = 256
    immediate = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._long = threading.Lock()
        self._files: _Files | None = None

    def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """Embed passages. Long texts are embedded by one thread at a time: more at once would not be faster, because all of them
        need the GIL, and would block requests."""
        if sum(len(passage.content) for passage in passages) <= _CHARACTERS_TOGETHER:
            return self._embed(passages) if passages else []
        found: list[Embedding] = []
        for part in _parts(passages):
            with self._long:
                found += self._embed(part)
        return found

    def _embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        sums, tokens = self._loaded.sums.of(passages)
        totals = sums.astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", totals, totals))
        units = totals / np.maximum(lengths, 1e-12)[:, None]
        vectors = np.asarray(numkong.astype(units, "float16"), "<f2").tobytes()
        size = 2 * self.dimension
        return [Embedding(vectors[at * size : (at + 1) * size], count) for at, count in enumerate(tokens)]

    def embed_query(self, text: str, weigh: Weigh) -> npt.NDArray[np.float32]:
        tokens, weights = self._weighed(text, weigh)
        if not tokens:
            return np.zeros(self.dimension, np.float32)
        by_token = np.array(weights, np.float32)
        if not by_token.any():
            by_token[:] = 1
        return _unit(np.add.reduce(rows_of_tokens(self._loaded.table, tokens) * by_token[:, None], axis=0))

    def _weighed(self, text: str, weigh: Weigh) -> tuple[list[int], list[float]]:
        """The tokens of a query, and for each the weight of the word in which it ends."""
        asked = self._loaded.asked
        text = stripped(text)
        pieces = [asked[piece] for piece in (text.split(" ") if is_plain(text) else [text])]
        weights = iter(weigh([word for piece in pieces for word in piece.words]))
        tokens: list[int] = []
        by_token: list[float] = []
        for piece in pieces:
            own = [_PUNCTUATION_WEIGHT, *islice(weights, len(piece.words))]
            tokens += piece.tokens
            by_token += [own[word] for word in piece.endings]
        return tokens, by_token

    @property
    def _loaded(self) -> "_Files":
        if self._files is None:
            with self._lock:
                self._files = self._files or _load()
        return self._files


@dataclass(frozen=True, kw_only=True, slots=True)
class _Files:
    table: npt.NDArray[np.float16]
    tokenizer: Tokenizer
    sums: Sums
    asked: "AskedPieces"


class _AskedPiece(NamedTuple):
    """A part of a query. `endings` has for each token the word in which it ends, counted from one, or 0 for none."""

    tokens: list[int]
    words: list[str]
    endings: list[int]


class AskedPieces(WordCache[_AskedPiece]):
    """A cache of the pieces of queries, which are split at spaces as `cut` does, or not at all."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(_KEPT_PIECES, _LONGEST_KEPT_PIECE)
        self._tokenizer = tokenizer

    def computed(self, piece: str, /) -> _AskedPiece:
        encoding = self._tokenizer.encode(piece, add_special_tokens=False)
        words = list(_WORD.finditer(piece))
        at = [0] * len(piece)
        for number, word in enumerate(words, 1):
            at[word.start() : word.end()] = [number] * (word.end() - word.start())
        endings = [
            0 if token == SPACE else at[end - 1]
            for token, (_, end) in zip(encoding.tokens, encoding.offsets, strict=True)
        ]
        return _AskedPiece(encoding.ids, [word.group() for word in words], endings)


def _parts(passages: Sequence[Passage]) -> Iterator[Sequence[Passage]]:
    """Split passages into batches, to limit the memory that one batch takes."""
    begin = characters = 0
    for at, passage in enumerate(passages):
        characters += len(passage.content)
        if characters > _CHARACTERS_TOGETHER and at > begin:
            yield passages[begin:at]
            begin, characters = at, len(passage.content)
    if passages:
        yield passages[begin:]


@cache
def _load() -> _Files:
    """Load the table once for each process: all embedders share it."""
    folder = _wheel()
    table = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Files(table=table, tokenizer=tokenizer, sums=Sums(table, tokenizer), asked=AskedPieces(tokenizer))


def _wheel() -> Path:
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the wordllama package, which contains the static embedding table, is not installed")
    return Path(spec.submodule_search_locations[0])


def _unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    length = float(np.sqrt(np.add.reduce(vector * vector)))
    return vector / np.float32(length) if length > 0 else vector
