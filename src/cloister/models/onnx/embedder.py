"""A local transformer as an additional embedder, run by onnxruntime from a model directory. No network."""

import os
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from cloister.domain.errors import InvalidRequest, ModelUnavailable
from cloister.models.onnx.directory import SETTING, ModelDirectory
from cloister.models.unit_vectors import UnitVector, model_name, unit_vector

_LONGEST_TEXT = 32_000
"""In characters. The tokenizer cuts to the model's length only after it has read the whole text."""
_MOST_TEXTS = 16
_MOST_TOKENS = 2_048
_MOST_THREADS = 4
_PROBE = "memory"


class OnnxEmbedder:
    """Loaded at first use, which takes a second. Batches are run one at a time; questions do not wait for them."""

    def __init__(self, directory: ModelDirectory, *, prefix: str = "", query_prefix: str = "") -> None:
        self.name = model_name(directory.name, prefix)
        self._directory = directory
        self._prefix = prefix
        self._query_prefix = query_prefix
        self._lock = threading.Lock()
        self._loaded: _Model | None = None

    def embed(self, texts: Sequence[str]) -> list[UnitVector | None]:
        """Texts of like length run together, so that little is padded."""
        model = self._model()
        encoded = model.encode([self._prefix + text for text in texts])
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at].ids))
        found: list[UnitVector | None] = [None] * len(texts)
        while order:
            count = max(1, min(_MOST_TEXTS, _MOST_TOKENS // max(1, len(encoded[order[-1]].ids))))
            batch, order = order[-count:], order[:-count]
            for at, vector in zip(batch, _run_or_skip(model, [encoded[at] for at in batch]), strict=True):
                found[at] = vector
        return found

    def embed_query(self, text: str) -> UnitVector:
        model = self._model()
        (vector,) = model.run(model.encode([self._query_prefix + text]))
        if vector is None:
            raise ModelUnavailable(f"The embedder ({self.name}) gave no usable vector: check {SETTING}.")
        return vector

    def close(self) -> None:
        with self._lock:
            self._loaded = None

    def _model(self) -> "_Model":
        with self._lock:
            if self._loaded is None:
                self._loaded = _Model(self._directory)
            return self._loaded


def _run_or_skip(model: "_Model", encoded: Sequence[Encoding]) -> list[UnitVector | None]:
    """Run a batch; if it fails, each text alone. None for a text at which the model fails, unless it fails at a plain word too."""
    try:
        return model.run(encoded)
    except ModelUnavailable:
        model.run(model.encode([_PROBE]))
        if len(encoded) == 1:
            return [None]
        return [vector for one in encoded for vector in _run_or_skip(model, [one])]


def require_onnxruntime() -> None:
    """Raise an error that says what to install, if it is not."""
    try:
        import_module("onnxruntime")
    except ImportError:
        raise InvalidRequest(
            "CLOISTER_EMBEDDER", "is onnx, which needs onnxruntime: pip install 'cloister[onnx]'."
        ) from None


class _Model:
    def __init__(self, directory: ModelDirectory) -> None:
        self._pooling = directory.pooling
        runtime: Any = import_module("onnxruntime")
        try:
            self._tokenizer = Tokenizer.from_file(str(directory.tokenizer))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(directory.tokens)  # pyright: ignore[reportUnknownMemberType]
            options = runtime.SessionOptions()
            options.intra_op_num_threads = min(_MOST_THREADS, os.cpu_count() or 1)
            options.log_severity_level = 3
            self._session = runtime.InferenceSession(str(directory.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the types of onnxruntime and tokenizers are not public; the cause is kept
            raise ModelUnavailable(f"The model cannot be loaded: check {SETTING} ({type(error).__name__}).") from error
        self._inputs = [cast(str, given.name) for given in self._session.get_inputs()]
        self._outputs = [cast(str, given.name) for given in self._session.get_outputs()]

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        return self._tokenizer.encode_batch([text[:_LONGEST_TEXT] for text in texts])

    def run(self, encoded: Sequence[Encoding]) -> list[UnitVector | None]:
        longest = max(1, max(len(one.ids) for one in encoded))
        columns = {name: np.zeros((len(encoded), longest), np.int64) for name in ("ids", "mask", "kinds")}
        for row, one in enumerate(encoded):
            columns["ids"][row, : len(one.ids)] = one.ids
            columns["mask"][row, : len(one.ids)] = one.attention_mask
            columns["kinds"][row, : len(one.ids)] = one.type_ids
        given = {"input_ids": columns["ids"], "attention_mask": columns["mask"], "token_type_ids": columns["kinds"]}
        try:
            outputs = self._session.run(self._outputs, {name: given[name] for name in self._inputs})
        except Exception as error:  # the types of onnxruntime are not public; the cause is kept
            raise ModelUnavailable(f"The model cannot be run: check {SETTING} ({type(error).__name__}).") from error
        return [unit_vector(vector) for vector in self._pooled(outputs, columns["mask"])]

    def _pooled(self, outputs: Sequence[Any], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """One vector for each text: the model's own, or else the vectors of the tokens pooled."""
        whole = dict(zip(self._outputs, outputs, strict=True)).get("sentence_embedding")
        tokens = next((output for output in outputs if output.ndim == 3), None)
        if whole is None and tokens is None:
            whole = next((output for output in outputs if output.ndim == 2), None)
        if whole is not None:
            return whole
        if tokens is None:
            raise ModelUnavailable(f"The model gives no embeddings: check {SETTING}.")
        if self._pooling == "cls":
            return tokens[:, 0]
        weights = mask[..., None].astype(np.float32)
        return (tokens * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
