"""The embedder of an OpenAI-compatible endpoint, and every way in which such a server answers, faked at the network's edge."""

import json
import threading
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest

from cloister.domain.errors import ModelUnavailable
from cloister.models.openai import embeddings
from cloister.models.openai.embeddings import LONGEST_TEXT, OpenAiEmbedder
from cloister.models.openai.endpoint import Endpoint, SettingNames
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint, fake_endpoint, refusal

NAMES = SettingNames(url="CLOISTER_EMBEDDER_URL", key="CLOISTER_EMBEDDER_KEY", model="CLOISTER_EMBEDDER_MODEL")
SECRET = "the amulet is under the third floorboard"
Make = Callable[..., OpenAiEmbedder]


def listed(*vectors: Any, **first: Any) -> Answer:
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    if data:
        data[0] |= first
    return Answer(body=json.dumps({"object": "list", "data": data}).encode())


def by_length(asked: Asked) -> Answer:
    """A vector that tells how long the text was."""
    return listed(*([3.0, 4.0 * len(text)] for text in asked.body["input"]))


def refusing(is_refused: Callable[[str], bool], answer: Answer) -> Callable[[Asked], Answer]:
    return lambda asked: answer if any(map(is_refused, asked.body["input"])) else by_length(asked)


@pytest.fixture
def endpoint() -> Generator[FakeEndpoint]:
    with fake_endpoint() as fake:
        fake.follows(by_length)
        yield fake


@pytest.fixture
def make(endpoint: FakeEndpoint) -> Generator[Make]:
    made: list[OpenAiEmbedder] = []

    def new(seconds: float = 5.0, key: str | None = None, **options: Any) -> OpenAiEmbedder:
        address = Endpoint(url=endpoint.url, model="minilm", key=key, seconds=seconds, settings=NAMES)
        made.append(OpenAiEmbedder(address, **options))
        return made[-1]

    yield new
    for each in made:
        each.close()


def test_vectors_come_back_in_order_and_at_unit_length(endpoint: FakeEndpoint, make: Make) -> None:
    first, second = make(key="sk-1").embed(["a", "bb"])
    assert first is not None and second is not None
    assert np.allclose([first @ first, second @ second], 1)
    assert np.allclose(first, np.array([3, 4]) / 5)
    assert [(asked.path, asked.body["model"]) for asked in endpoint.asked] == [("/v1/embeddings", "minilm")]
    assert endpoint.asked[0].headers["authorization"] == "Bearer sk-1"


def test_vectors_are_put_in_the_order_that_the_server_says(endpoint: FakeEndpoint, make: Make) -> None:
    data = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    endpoint.answers(Answer(body=json.dumps({"data": data}).encode()))
    found = make().embed(["a", "b"])
    assert [vector.tolist() for vector in found if vector is not None] == [[1, 0], [0, 1]]


def test_texts_are_sent_in_batches_and_cut(endpoint: FakeEndpoint, make: Make) -> None:
    make().embed(["x"] * 70)
    assert [len(asked.body["input"]) for asked in endpoint.asked] == [32, 32, 6]
    endpoint.asked.clear()
    make(prefix="passage: ").embed(["y" * 100_000] * 3)
    assert [len(text) for asked in endpoint.asked for text in asked.body["input"]] == [LONGEST_TEXT + 9] * 3
    assert len(endpoint.asked) > 1


def test_prefixes_are_put_before_texts_and_questions(endpoint: FakeEndpoint, make: Make) -> None:
    embedder = make(prefix="passage: ", query_prefix="query: ")
    embedder.embed(["a"])
    embedder.embed_query("b")
    assert [asked.body["input"] for asked in endpoint.asked] == [["passage: a"], ["query: b"]]
    assert embedder.name != make().name == "openai:minilm"


TOO_LONG = (
    refusal(400, "This model's maximum context length is 512 tokens"),
    refusal(500, "input (901 tokens) is too large to process. increase the physical batch size"),
    refusal(413, "too large"),
    refusal(422, "sequence too long"),
)


@pytest.mark.parametrize("answer", TOO_LONG, ids=lambda answer: str(answer.status))
def test_a_text_that_is_too_long_is_cut_until_it_is_accepted(
    endpoint: FakeEndpoint, make: Make, answer: Answer
) -> None:
    endpoint.follows(refusing(lambda text: len(text) > 1_000, answer))
    found = make().embed(["a", "b" * 5_000, "c"])
    assert [vector is None for vector in found] == [False] * 3
    assert 625 in [len(text) for asked in endpoint.asked for text in asked.body["input"]]


def test_a_text_that_is_always_refused_is_given_up_and_the_others_are_not(endpoint: FakeEndpoint, make: Make) -> None:
    endpoint.follows(refusing(lambda text: text.startswith("poison"), refusal(400, "no")))
    found = make().embed(["a", "poison " * 100, "c"])
    assert [vector is None for vector in found] == [False, True, False]


def test_no_text_is_given_up_for_a_server_whose_vectors_are_all_unusable(endpoint: FakeEndpoint, make: Make) -> None:
    endpoint.follows(lambda asked: listed(*("AAAA" for _ in asked.body["input"])))
    with pytest.raises(ModelUnavailable, match="check CLOISTER_EMBEDDER_URL"):
        make().embed(["a", "b"])


def test_no_text_is_given_up_for_a_server_that_refuses_everything(endpoint: FakeEndpoint, make: Make) -> None:
    endpoint.answers(refusal(500, SECRET))
    with pytest.raises(ModelUnavailable, match="log of its server") as caught:
        make().embed([SECRET])
    assert SECRET not in str(caught.value)
    assert len(endpoint.asked) == 2


BROKEN = {
    "not json": Answer(body=b"<html>"),
    "no data": Answer(body=b"{}"),
    "a list": Answer(body=b"[1]"),
    "too few": listed(),
    "too many": listed([1, 0], [0, 1]),
    "another index": listed([1, 0], index=7),
    "no index": listed([1, 0], index="0"),
    "an entry that is no object": Answer(body=b'{"data": [7]}'),
    "deep": Answer(body=b"[" * 100_000),
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_an_answer_that_is_no_list_of_vectors_is_an_error(endpoint: FakeEndpoint, make: Make, answer: Answer) -> None:
    endpoint.answers(answer)
    embedder = make()
    with pytest.raises(ModelUnavailable, match="check CLOISTER_EMBEDDER_URL"):
        embedder.embed(["a"])
    with pytest.raises(ModelUnavailable, match="check CLOISTER_EMBEDDER_URL"):
        embedder.embed_query("a")


@pytest.mark.parametrize(
    "vector",
    [
        [],
        [0.0, 0.0],
        [float("nan"), 1],
        [float("inf"), 1],
        [None, 1],
        ["1", "2"],
        [True, False],
        [[1, 2]],
        "AAAA",
        None,
        [10**400, 1],
        [0.5] * 20_000,
    ],
    ids=lambda vector: repr(vector)[:20],
)
def test_a_vector_that_is_none_is_not_stored(endpoint: FakeEndpoint, make: Make, vector: Any) -> None:
    """The server works, but not for this text."""
    endpoint.follows(lambda asked: listed(*(vector if text == "bad" else [3.0, 4.0] for text in asked.body["input"])))
    embedder = make()
    found = embedder.embed(["a", "bad"])
    assert [each is None for each in found] == [False, True]
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("bad")


def test_vectors_of_two_lengths_in_one_answer_are_an_error(endpoint: FakeEndpoint, make: Make) -> None:
    endpoint.follows(lambda asked: listed(*([1.0] * (at + 2) for at, _ in enumerate(asked.body["input"]))))
    found = make().embed(["a", "b"])
    assert [len(vector) for vector in found if vector is not None] == [2, 2], "each was asked for again, alone"


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (refusal(401, "no"), "set CLOISTER_EMBEDDER_KEY"),
        (refusal(404, "no"), "CLOISTER_EMBEDDER_MODEL, and CLOISTER_EMBEDDER_URL"),
        (refusal(429, "slow down"), "is rate limited"),
        (refusal(503, "loading"), "is not ready"),
        (Answer(status=307, headers={"location": "http://127.0.0.1:1/"}), "has moved: set CLOISTER_EMBEDDER_URL"),
    ],
    ids=lambda given: str(getattr(given, "status", "")),
)
def test_a_failure_of_the_server_is_told_at_once_with_what_to_do(
    endpoint: FakeEndpoint, make: Make, answer: Answer, advice: str
) -> None:
    endpoint.answers(answer)
    with pytest.raises(ModelUnavailable, match=advice):
        make().embed(["a", "b"])
    assert len(endpoint.asked) == 1


def test_a_server_that_is_not_there_is_an_error(make: Make) -> None:
    embedder = OpenAiEmbedder(Endpoint(url="http://127.0.0.1:9/v1", model="m", settings=NAMES))
    for call in (lambda: embedder.embed(["a"]), lambda: embedder.embed_query("a")):
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            call()
    embedder.close()
    embedder.close()


def test_a_question_does_not_wait_for_a_slow_server(
    endpoint: FakeEndpoint, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "QUERY_SECONDS", 0.05)
    answered = threading.Event()
    endpoint.answers(Answer(body=b"{}", pause=lambda: answered.wait(10)))
    try:
        with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.05 s"):
            make().embed_query("a")
    finally:
        answered.set()


def test_a_server_that_is_slow_with_one_text_is_asked_for_less(endpoint: FakeEndpoint, make: Make) -> None:
    answered = threading.Event()
    slow = Answer(body=b"{}", pause=lambda: answered.wait(10))
    endpoint.follows(refusing(lambda text: len(text) > 500, slow))
    try:
        (vector,) = make(seconds=0.2).embed(["x" * 900])
        assert vector is not None
    finally:
        answered.set()
