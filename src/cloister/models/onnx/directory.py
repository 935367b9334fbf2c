"""The directory of an ONNX model: which files are read, and what they say about the model. Nothing is downloaded.

model.onnx              or onnx/model.onnx
tokenizer.json
1_Pooling/config.json   optional, of sentence-transformers: `pooling_mode_cls_token` instead of the mean of all tokens
sentence_bert_config.json, tokenizer_config.json, config.json   optional: the longest text, in tokens
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from cloister.domain.errors import InvalidRequest

Pooling = Literal["mean", "cls"]
SETTING = "CLOISTER_EMBEDDER_PATH"
_DEFAULT_TOKENS = 512
_HIGHEST_TOKENS = 8_192
_SAMPLES = 64
_SAMPLE_BYTES = 65_536
# The files that may give the longest text, and under which name.
_LENGTHS = (
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
    ("config.json", "max_position_embeddings"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelDirectory:
    """The files of a model, and how it is used. `name` is made of a fingerprint of the files and all that changes the vectors."""

    model: Path
    tokenizer: Path
    pooling: Pooling
    tokens: int
    name: str


def read_directory(path: Path) -> ModelDirectory:
    model = next((file for file in (path / "model.onnx", path / "onnx" / "model.onnx") if file.is_file()), None)
    tokenizer = path / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise InvalidRequest(SETTING, "must be a directory with model.onnx (or onnx/model.onnx) and tokenizer.json.")
    is_cls = _config(path / "1_Pooling" / "config.json").get("pooling_mode_cls_token") is True
    fingerprint = _fingerprint([model, model.with_name(f"{model.name}_data"), tokenizer])
    pooling: Pooling = "cls" if is_cls else "mean"
    tokens = _longest(path)
    return ModelDirectory(
        model=model,
        tokenizer=tokenizer,
        pooling=pooling,
        tokens=tokens,
        name=f"onnx:{fingerprint}:{pooling}:{tokens}",
    )


def _longest(path: Path) -> int:
    for file, field in _LENGTHS:
        given = _config(path / file).get(field)
        if type(given) is int and 0 < given <= _HIGHEST_TOKENS:
            return given
    return _DEFAULT_TOKENS


def _config(file: Path) -> Mapping[str, Any]:
    """The fields of an optional JSON file."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        raise InvalidRequest(SETTING, f"has a file that cannot be read: {file.name}.") from None
    return cast(Mapping[str, Any], found) if isinstance(found, dict) else {}


def _fingerprint(files: list[Path]) -> str:
    """A hash of the sizes of files and of parts of them: other weights give another hash, and large files are not read whole."""
    digest = hashlib.blake2b(digest_size=8)
    for file in files:
        if not file.is_file():
            continue
        size = file.stat().st_size
        digest.update(size.to_bytes(8, "little"))
        with file.open("rb") as content:
            for at in range(_SAMPLES):
                content.seek(max(0, size - _SAMPLE_BYTES) * at // (_SAMPLES - 1))
                digest.update(content.read(_SAMPLE_BYTES))
    return digest.hexdigest()
