"""Fixtures of tests that need the llama.cpp server; see `model_server.py`."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from cloister.models.openai import answers
from support.servers.model_server import embedding_server, model_server, the_embedding_server, the_model_server

__all__ = ["at_least_one", "embedding_server", "model_server", "the_embedding_server", "the_model_server"]


@pytest.fixture
def at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the schemas demand an item: an empty list is a valid answer, but tests nothing."""
    memories_schema = answers.memories_schema

    def at_least_one_memory(categories: Sequence[str]) -> answers.Schema:
        schema: Any = json.loads(json.dumps(memories_schema(categories)))
        schema["properties"]["memories"]["minItems"] = 1
        return schema

    monkeypatch.setattr(answers, "memories_schema", at_least_one_memory)
    for kind in ("ENTITIES", "NOTES"):
        schema: Any = json.loads(json.dumps(getattr(answers, kind)))
        schema["properties"][kind.lower()]["minItems"] = 1
        monkeypatch.setattr(answers, kind, schema)
