"""Exact and Qdrant rank the same conversation alike: the recipe is one, and candidates are enough.

Measured with Qdrant in memory, 28 questions on 260 messages: the same best message for 27, and 276 of 280 of the ten best.
"""

import warnings
from collections.abc import Generator

import numpy as np
import pytest

from cloister.bootstrap import Services, wire
from cloister.domain.conversation import Message
from cloister.domain.identifiers import SEQUENCE_BITS
from cloister.domain.recall.relevance import matches
from cloister.domain.scope import Reach, Scope
from cloister.index.exact.index import ExactIndex
from cloister.index.qdrant import search as qdrant_search
from cloister.services.recall.selection import Pick, Question
from cloister.storage.stores.pools import PoolStore
from support.samples.long_conversation import FACTS, QUESTIONS, sessions
from support.setups.qdrant import EMBEDDER, KINDS, QdrantSetup, Reader, open_house

LIMIT = 10
OFF_TOPIC = "What is the capital of France?"


@pytest.fixture(params=KINDS, scope="module")
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[tuple[QdrantSetup, Reach]]:
    with warnings.catch_warnings(action="ignore"), open_house(request.param, tmp_path_factory.mktemp("data")) as house:
        reach = house.tenant("friends")
        for name, drafts in sessions():
            house.session(reach, name)
            house.services.record.messages(reach, name, drafts)
        house.drain()
        yield house, reach


def _best(services: Services, reach: Reach, question: str) -> list[Message]:
    scope = Scope(tenant=reach.tenant, project=None, user=None)
    with services.database.read(reach) as transaction:
        items = services.recall.messages(
            transaction, scope, Question(text=question, asked_at=0, now=0, floor=0), [Pick(limit=LIMIT)]
        ).items
    return [item.message for item in items]


@pytest.fixture(scope="module")
def answers(told: tuple[QdrantSetup, Reach]) -> dict[str, list[Message]]:
    """What Qdrant finds for each question. In memory it takes its time: each is asked once."""
    house, reach = told
    return {question: _best(house.services, reach, question) for question in QUESTIONS}


def test_exact_and_qdrant_rank_a_pool_alike(told: tuple[QdrantSetup, Reach], answers: dict[str, list[Message]]) -> None:
    house, reach = told
    exact = wire(
        house.services.database,
        index=ExactIndex(EMBEDDER.embed_query, EMBEDDER.dimension, 1_000_000_000),
        embedder=EMBEDDER,
    )
    same_best = shared = 0
    for question, found in answers.items():
        expected = _best(exact, reach, question)
        same_best += expected[0].id == found[0].id
        shared += len({message.id for message in expected} & {message.id for message in found})
    assert same_best >= 0.95 * len(QUESTIONS)
    assert shared >= 0.95 * LIMIT * len(QUESTIONS)


def test_ctx_6_relevance_means_the_same_in_both(told: tuple[QdrantSetup, Reach]) -> None:
    """The share of the question's words is computed alike, without names and words of requests. Qdrant does not know how long other
    windows are, nor how many messages are copies."""
    house, reach = told
    index = ExactIndex(EMBEDDER.embed_query, EMBEDDER.dimension, 1_000_000_000)
    scope = Scope(tenant=reach.tenant, project=None, user=None)
    with house.services.database.read(reach) as transaction:
        rows = PoolStore(transaction, house.services.record.generation).rows(scope)
        assert rows is not None
        for question in (
            *QUESTIONS[:4],
            "Tell me about the grey cat",
            "Give me an overview of the marathon",
            OFF_TOPIC,
        ):
            exact, found = index.within(rows).evidence(question, 0), house.index.within(rows).evidence(question, 0)
            position = {message: at for at, message in enumerate(exact.ids.tolist())}
            best = np.argsort(-matches(found))[:5]
            same = [position[int(found.ids[at])] for at in best]
            assert exact.own_coverage is not None and found.own_coverage is not None
            assert found.own_coverage[best] == pytest.approx(exact.own_coverage[same], abs=1e-3), question
            assert found.coverage[best] == pytest.approx(exact.coverage[same], abs=0.1), question
            ours, theirs = matches(exact)[same], matches(found)[best]
            assert np.abs(ours - theirs).mean() < 0.25, question


def test_qdrant_finds_what_was_asked_for(answers: dict[str, list[Message]]) -> None:
    found = sum(said in [message.content for message in answers[question][:3]] for said, _, question in FACTS)
    assert found >= 0.9 * len(FACTS)


def test_a_candidate_of_one_arm_carries_the_score_of_the_other(
    told: tuple[QdrantSetup, Reach], monkeypatch: pytest.MonkeyPatch
) -> None:
    house, reach = told
    pool = Reader(reach.tenant, [message >> SEQUENCE_BITS for message in house.points()])
    question = "Where does the grey cat come from?"
    whole = house.index.within(pool).evidence(question, 0)
    monkeypatch.setattr(qdrant_search, "CANDIDATES", 20)
    few = house.index.within(pool).evidence(question, 0)
    rows = [whole.ids.tolist().index(message) for message in few.ids.tolist()]
    assert 20 < len(few) <= 40 < len(whole)
    assert few.lexical.tolist() == pytest.approx(whole.lexical[rows].tolist(), abs=1e-5)
    assert few.semantic.tolist() == pytest.approx(whole.semantic[rows].tolist(), abs=1e-5)
