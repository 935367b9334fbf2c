"""The default embedder: a table of 256 numbers a token, shipped in the `wordllama` wheel. No network, no model run.

Only the wheel's data files are read; its own loader, which looks for updates online, is never imported.
"""

import re
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

from cloister.domain.passage import Passage
from cloister.models.interface import Embedding, Weigh

_SPACE = "▁"
_PIECE = re.compile(f"{_SPACE}+[^{_SPACE}]+")
_WORD = re.compile(r"[^\W_]+")
_SPECIAL = re.compile(r"<unk>|</?s>")
_UNUSUAL = re.compile(f"  |{_SPACE}|<")
_LONGEST_KEPT_PIECE = 24
_KEPT_PIECES = 50_000
_PUNCTUATION_WEIGHT = 0.0
_CHARACTERS_TOGETHER = 3_000


class StaticEmbedder:
    """Loaded on first use, once, from whichever thread comes first."""

    name = "wordllama-l2-supercat-256/1"
    dimension = 256
    immediate = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: _Files | None = None

    def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        return [embedding for part in _parts(passages) for embedding in self._embed(part)]

    def embed_query(self, text: str, weigh: Weigh) -> npt.NDArray[np.float32]:
        tokens, weights = self._weighed(text, weigh)
        if not tokens:
            return np.zeros(self.dimension, np.float32)
        by_token = np.array(weights, np.float32)
        if not by_token.any():
            by_token[:] = 1
        return _unit(np.add.reduce(self._rows(tokens) * by_token[:, None], axis=0))

    def _weighed(self, text: str, weigh: Weigh) -> tuple[list[int], list[float]]:
        """The tokens of a query, each with the weight of the word it ends in."""
        asked = self._loaded.asked
        text = text.strip(" " + _SPACE)
        whole = _UNUSUAL.search(text) is not None
        pieces = [asked[piece] for piece in ([text] if whole else text.split(" "))]
        weights = iter(weigh([word for piece in pieces for word in piece.words]))
        tokens: list[int] = []
        by_token: list[float] = []
        for piece in pieces:
            own = [_PUNCTUATION_WEIGHT, *islice(weights, len(piece.words))]
            tokens += piece.tokens
            by_token += [own[word] for word in piece.endings]
        return tokens, by_token

    def _embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """One look into the table for all: what a call costs is shared."""
        tokens = self._loaded.pieces.tokens
        contents = [tokens(passage.content) for passage in passages]
        prefixes = {prefix: tokens(prefix) for prefix in {passage.prefix for passage in passages}}
        whole = [prefixes[passage.prefix] + content for passage, content in zip(passages, contents, strict=True)]
        rows = self._rows([token for ids in whole for token in ids] or [0])
        totals = np.zeros((len(passages), self.dimension), np.float32)
        end = 0
        for total, ids in zip(totals, whole, strict=True):
            begin, end = end, end + len(ids)
            np.add.reduce(rows[begin:end], axis=0, out=total)
        lengths = np.sqrt(np.einsum("ij,ij->i", totals, totals))
        vectors = (totals / np.maximum(lengths, 1e-12)[:, None]).astype("<f2").tobytes()
        size = 2 * self.dimension
        return [
            Embedding(vector=vectors[at * size : (at + 1) * size], tokens=len(content))
            for at, content in enumerate(contents)
        ]

    def _rows(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        return np.asarray(numkong.astype(self._loaded.table.take(tokens, axis=0), "float32"))

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
    pieces: "Pieces"
    asked: "AskedPieces"


class _AskedPiece(NamedTuple):
    """A part of a query. `endings` says for each token in which of the words it ends, counted from one; 0 for none."""

    tokens: list[int]
    words: list[str]
    endings: list[int]


class AskedPieces(dict[str, _AskedPiece]):
    """The pieces of queries, kept for the frequent ones; what holds for `Pieces` holds here."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, piece: str) -> _AskedPiece:
        encoding = self._tokenizer.encode(piece, add_special_tokens=False)
        words = list(_WORD.finditer(piece))
        at = [0] * len(piece)
        for number, word in enumerate(words, 1):
            at[word.start() : word.end()] = [number] * (word.end() - word.start())
        endings = [
            0 if token == _SPACE else at[end - 1]
            for token, (_, end) in zip(encoding.tokens, encoding.offsets, strict=True)
        ]
        found = _AskedPiece(encoding.ids, [word.group() for word in words], endings)
        if len(piece) <= _LONGEST_KEPT_PIECE:
            if len(self) >= _KEPT_PIECES:
                self.clear()
            self[piece] = found
        return found


class Pieces(dict[str, list[int]]):
    """Tokens of the pieces of a text, kept for the frequent ones.

    The tokenizer has no token in which a space follows a letter, so a text may be cut before each run of
    spaces and the pieces tokenised alone, with the same result.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text without the spaces around it."""
        text = text.strip(" " + _SPACE)
        found: list[int] = []
        if _UNUSUAL.search(text) is None:
            for word in text.split(" "):
                found += self[word]
        elif _SPECIAL.search(text):
            found = self._tokenizer.encode(text, add_special_tokens=False).ids
        else:
            for piece in _PIECE.findall(_SPACE + text.replace(" ", _SPACE)):
                found += self[piece[1:]]
        return found

    def __missing__(self, piece: str) -> list[int]:
        tokens = self._tokenizer.encode(piece, add_special_tokens=False).ids
        if len(piece) <= _LONGEST_KEPT_PIECE:
            if len(self) >= _KEPT_PIECES:
                self.clear()
            self[piece] = tokens
        return tokens


def _parts(passages: Sequence[Passage]) -> Iterator[Sequence[Passage]]:
    """Runs of passages that are embedded together without holding too many rows of the table at once."""
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
    """Read once a process; however many embedders there are, they share what never changes."""
    folder = _wheel()
    table = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Files(table=table, tokenizer=tokenizer, pieces=Pieces(tokenizer), asked=AskedPieces(tokenizer))


def _wheel() -> Path:
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the wordllama package, which holds the static embedding table, is not installed")
    return Path(spec.submodule_search_locations[0])


def _unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    length = float(np.sqrt(np.add.reduce(vector * vector)))
    return vector / np.float32(length) if length > 0 else vector
