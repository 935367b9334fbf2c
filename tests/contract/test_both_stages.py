"""A context is the same whether its pool is scanned in full or answered in two stages (CTX-6, CTX-7)."""

import random

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.scope import Reach
from cloister.index.exact.index import LARGE
from cloister.index.exact.large import block as large_block
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from support.databases.engines import Engine, exact_index

SUBJECTS = ["the ferry", "the roses", "my knee", "the gate code", "Anna's cello", "the lemon cake", "the train to Graz"]
SAID = ["I asked about {} again", "{} was fine", "We talked about {} for an hour", "Where is {}?", "Noted.", "Thanks!"]
QUESTIONS = [
    "Where is the ferry?",
    "What did Anna say about the roses last week?",
    "What did we talk about first, my knee or the lemon cake?",
    "the train to Graz yesterday",
    "How do I translate a poem?",
    "Hello!",
]


def settle(services: Services, seed: int) -> Reach:
    rng = random.Random(seed)
    reach = Reach(tenant=services.projects.create_tenant("House")[0])
    for name in ("one", "two", "three", "asking"):
        services.sessions.create(reach, SessionFields(external_id=name))
    for _ in range(3):
        for name in ("one", "two", "three"):
            drafts = [
                Draft(
                    role=rng.choice(("user", "assistant")),
                    content=rng.choice(SAID).format(rng.choice(SUBJECTS)),
                    author=rng.choice((None, "Anna", "Bo")),
                    created_at=1_790_000_000_000_000 + rng.randrange(40) * 86_400_000_000,
                )
                for _ in range(7)
            ]
            services.record.messages(reach, name, drafts)
    return reach


@pytest.mark.parametrize("kept_vectors", [0, large_block.KEPT_VECTORS])
@pytest.mark.parametrize("seed", range(4))
def test_both_stages_give_the_same_context(
    engine: Engine, seed: int, kept_vectors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same items in the same order, equally relevant, said as often, and the same counts of what is left out."""
    monkeypatch.setattr(large_block, "KEPT_VECTORS", kept_vectors)
    full, staged = (engine.services(index=exact_index(large=large)) for large in (LARGE, 1))
    reach = settle(full, seed)
    asked = [
        ContextRequest(question=question, min_relevance=floor, budget=budget, asked_at=1_793_000_000_000_000)
        for question in QUESTIONS
        for floor in (None, 0.0, 0.4)
        for budget in (None, 300)
    ]

    def agree() -> None:
        for request in asked:
            one, other = (services.context.build(reach, "asking", request) for services in (full, staged))
            for get in ("relevant_history", "chat_history"):
                found, expected = getattr(other, get), getattr(one, get)
                assert [item.message.id for item in found] == [item.message.id for item in expected]
                assert [item.times for item in found] == [item.times for item in expected]
                for name in ("score", "relevance"):
                    numbers = [getattr(item, name) or 0.0 for item in found]
                    assert numbers == pytest.approx([getattr(item, name) or 0.0 for item in expected], abs=2e-4)
            assert (other.omitted, other.tokens) == (one.omitted, one.tokens)

    agree()
    full.forgetting.contents(reach, "two")
    agree()
