"""`GET /v1/models` and `POST /v1/embeddings`, with the unmodified client."""

import base64
from typing import Any

import numpy as np
import openai
import pytest

from cloister.models.static.embedder import StaticEmbedder
from support.clients.openai_client import MODEL, Front

DIMENSION = StaticEmbedder().dimension


def test_the_models_are_who_answers_here(front: Front) -> None:
    listed = front.client(front.tenant().key).models.list()
    assert [model.id for model in listed] == [MODEL, "org/another-model", StaticEmbedder().name]


def test_a_text_is_embedded_as_recall_embeds(front: Front) -> None:
    client = front.client(front.tenant().key)
    made = client.embeddings.create(model="any", input="The ferry leaves at ten.", encoding_format="float")
    (entry,) = made.data
    assert len(entry.embedding) == DIMENSION
    assert abs(float(np.linalg.norm(entry.embedding)) - 1) < 1e-2
    assert made.model == StaticEmbedder().name and made.usage.prompt_tokens > 0


def test_what_is_alike_is_near(front: Front) -> None:
    """The client asks for base64 unless it is told otherwise, and decodes it."""
    client = front.client(front.tenant().key)
    texts = ["The ferry leaves at ten.", "When does the ferry depart?", "Tomatoes need water."]
    made = client.embeddings.create(model="any", input=texts)
    assert [entry.index for entry in made.data] == [0, 1, 2]
    first, near, far = (np.array(entry.embedding) for entry in made.data)
    assert first @ near > first @ far


def test_both_formats_say_the_same(front: Front) -> None:
    caller = front.tenant().admin
    made: Any = [
        caller.made("/v1/embeddings", {"input": "Roses", "encoding_format": format})["data"][0]["embedding"]
        for format in ("float", "base64")
    ]
    assert np.frombuffer(base64.b64decode(made[1]), "<f4").tolist() == made[0]


def test_the_dimension_is_the_embedders_own(front: Front) -> None:
    client = front.client(front.tenant().key)
    assert len(client.embeddings.create(model="m", input="x y", dimensions=DIMENSION).data[0].embedding) == DIMENSION
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        client.embeddings.create(model="m", input="x y", dimensions=64)
    assert (refused.value.param, str(DIMENSION) in str(refused.value)) == ("dimensions", True)


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ("", "input[0]"),
        ([], "input"),
        (["a", " "], "input[1]"),
        ([1, 2, 3], "input[0]"),
        ([[1, 2], [3]], "input[0]"),
        (["a"] * 2_049, "input"),
        (None, "input"),
    ],
)
def test_inputs_that_are_no_texts_are_refused(front: Front, given: Any, param: str) -> None:
    answer = front.tenant().admin.post("/v1/embeddings", {"input": given})
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["param"].startswith(param)


def test_a_text_that_is_too_long(front: Front) -> None:
    answer = front.tenant().admin.post("/v1/embeddings", {"input": "x" * 65_537})
    assert (answer.status_code, answer.json()["error"]["param"]) == (413, "input[0]")


def test_an_unknown_format_is_refused_and_unknown_fields_are_not(front: Front) -> None:
    caller = front.tenant().admin
    assert caller.post("/v1/embeddings", {"input": "x", "encoding_format": "int8"}).status_code == 422
    assert caller.post("/v1/embeddings", {"input": "x", "encoding_format": None, "user": "ada"}).status_code == 200
    assert caller.post("/v1/embeddings", {"input": "x", "project_id": "sea"}).status_code == 422
