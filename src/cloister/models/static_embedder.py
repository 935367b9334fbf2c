"""The default embedder: a table of 256 numbers a token, shipped in the `wordllama` wheel. No network, no model run.

Only the wheel's data files are read; its own loader, which looks for updates online, is never imported.
"""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numkong
import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Tokenizer

from cloister.domain.passage import Passage
from cloister.models.interface import Embedding, Weigh

_SPACE = "▁"
_PIECE = re.compile(f"{_SPACE}+[^{_SPACE}]+")
_WORD = re.compile(r"[^\W_]+")
_SPECIAL = re.compile(r"<unk>|</?s>")
_LONGEST_KEPT_PIECE = 24
_KEPT_PIECES = 50_000
_PUNCTUATION_WEIGHT = 0.0


class StaticEmbedder:
    """Loaded on first use, once, from whichever thread comes first."""

    name = "wordllama-l2-supercat-256/1"
    dimension = 256
    immediate = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: _Files | None = None

    def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        return [self._embed(passage) for passage in passages]

    def embed_query(self, text: str, weigh: Weigh) -> npt.NDArray[np.float32]:
        encoding = self._loaded.tokenizer.encode(text, add_special_tokens=False)
        if not encoding.ids:
            return np.zeros(self.dimension, np.float32)
        words = list(_WORD.finditer(text))
        weights = [float(weight) for weight in weigh([word.group() for word in words])]
        at = np.full(len(text) + 1, _PUNCTUATION_WEIGHT, np.float32)
        for word, weight in zip(words, weights, strict=True):
            at[word.start() : word.end()] = weight
        ends = np.array([end for _, end in encoding.offsets])
        by_token = at[np.maximum(ends - 1, 0)]
        if not by_token.any():
            by_token = np.ones_like(by_token)
        return _unit(by_token @ self._rows(encoding.ids))

    def _embed(self, passage: Passage) -> Embedding:
        content = self._loaded.pieces.tokens(passage.content)
        prefix = self._loaded.pieces.tokens(passage.prefix)
        if not content and not prefix:
            return Embedding(vector=bytes(2 * self.dimension), tokens=0)
        total = np.add.reduce(self._rows(prefix + content), axis=0)
        return Embedding(vector=_unit(total).astype("<f2").tobytes(), tokens=len(content))

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
    pieces: "_Pieces"


class _Pieces(dict[str, list[int]]):
    """Tokens of the pieces of a text, kept for the frequent ones.

    The tokenizer has no token in which a space follows a letter, so a text may be cut before each run of
    spaces and the pieces tokenised alone, with the same result.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def tokens(self, text: str) -> list[int]:
        if _SPECIAL.search(text):
            return self._tokenizer.encode(text.strip(), add_special_tokens=False).ids
        found: list[int] = []
        for piece in _PIECE.findall(_SPACE + text.strip(" " + _SPACE).replace(" ", _SPACE)):
            found += self[piece]
        return found

    def __missing__(self, piece: str) -> list[int]:
        tokens = self._tokenizer.encode(piece[1:], add_special_tokens=False).ids
        if len(piece) <= _LONGEST_KEPT_PIECE:
            if len(self) >= _KEPT_PIECES:
                self.clear()
            self[piece] = tokens
        return tokens


def _load() -> _Files:
    folder = _wheel()
    with safe_open(folder / "weights" / "l2_supercat_256.safetensors", framework="numpy") as file:
        table = file.get_tensor("embedding.weight")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Files(table=table, tokenizer=tokenizer, pieces=_Pieces(tokenizer))


def _wheel() -> Path:
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the wordllama package, which holds the static embedding table, is not installed")
    return Path(spec.submodule_search_locations[0])


def _unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    length = float(np.sqrt(np.add.reduce(vector * vector)))
    return vector / np.float32(length) if length > 0 else vector
