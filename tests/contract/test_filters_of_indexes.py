"""Filters in Qdrant and with an additional embedder (MEM-14), and what requests without a filter cost."""

import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.scope import Reach
from cloister.index.qdrant import search as qdrant_search
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EntityHit, EpisodeHit, SearchTarget
from cloister.storage.stores.filters import FilterStore
from support.databases.engines import Engine
from support.samples.additional_embedder import Synonyms
from support.setups.memories import SteppingClock, settle_house
from support.setups.qdrant import KINDS, QdrantSetup, open_house

QUESTION = "Which lamp does the kitchen need?"


@pytest.fixture(params=KINDS)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[QdrantSetup]:
    with warnings.catch_warnings(action="ignore"), open_house(request.param, tmp_path / "data") as made:
        yield made


def found(house: QdrantSetup, reach: Reach, wanted: dict[str, Any], limit: int = 20, **target: Any) -> list[str]:
    hits = house.services.search.search(
        reach, QUESTION, SearchTarget(**target), limit, min_relevance=0, filter=parse_filter(wanted)
    )
    return [hit.item.message.content for hit in hits if isinstance(hit, EpisodeHit)]


def test_mem_14_qdrant_looks_for_candidates_among_what_the_filter_lets_pass(
    house: QdrantSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few candidates, a filter that came after them would leave nothing."""
    monkeypatch.setattr(qdrant_search, "CANDIDATES", 8)
    reach = house.tenant("friends")
    house.session(reach, "loud")
    house.session(reach, "quiet")
    house.say(reach, "loud", *(f"The kitchen needs a lamp, and lamp {number} is best." for number in range(60)))
    notes = [Draft(role="user", content=f"Page {number} has a kitchen.", categories=("notes",)) for number in range(9)]
    house.services.record.messages(reach, "quiet", notes)
    house.drain()
    for wanted in ({"category": "notes"}, {"session_id": "quiet"}):
        hits = found(house, reach, wanted, limit=6)
        assert len(hits) == 6 and all(content.startswith("Page") for content in hits)
    assert found(house, reach, {"category": "unheard of"}) == []


def test_mem_14_a_filter_in_qdrant_stays_in_its_pool(house: QdrantSetup) -> None:
    """ISO-8: the same words and labels in another tenant and in another pool are not among its candidates."""
    reach, other = house.tenant("friends"), house.tenant("others")
    garden = house.project(reach, "Garden")
    for whose, name, project in ((reach, "ours", None), (other, "ours", None), (reach, "far", garden)):
        house.session(whose, name, project)
        content = f"The kitchen of {name} in {'no project' if project is None else 'Garden'} needs a lamp."
        house.services.record.messages(whose, name, [Draft(role="user", content=content, categories=("lamps",))])
    house.drain()
    assert found(house, reach, {"category": "lamps"}) == ["The kitchen of ours in no project needs a lamp."]
    assert found(house, reach, {"session_id": "far"}) == []
    assert found(house, reach, {"category": "lamps"}, project=garden) == ["The kitchen of far in Garden needs a lamp."]


def test_mem_14_entities_in_qdrant_are_filtered(house: QdrantSetup) -> None:
    reach = house.tenant("friends")
    garden = house.project(reach, "Garden")
    house.session(reach, "talk", garden, "ada")
    house.tell(reach, "talk", "My neighbour Anna plays the cello.")
    house.drain()

    def entities(wanted: dict[str, Any]) -> list[str]:
        target = SearchTarget(project=garden)
        asked = house.services.search.search(
            reach, "Who is Anna?", target, 9, min_relevance=0, filter=parse_filter(wanted)
        )
        return [hit.entity.name for hit in asked if isinstance(hit, EntityHit)]

    assert entities({"kind": "entity"}) == ["Anna"]
    assert entities({"not": {"kind": "entity"}}) == []
    assert entities({"created_before": "2000-01-01T00:00:00Z"}) == []


def test_mem_14_an_additional_embedder_ranks_what_the_filter_lets_pass(engine: Engine) -> None:
    """CTX-10: what it alone finds is found with a filter too, as relevant as without one."""
    services = engine.services(additional_embedder=Synonyms(), clock=SteppingClock())
    assert services.vectors is not None
    reach = Reach(tenant=services.projects.create_tenant("Pools")[0])
    services.sessions.create(reach, SessionFields(external_id="talk"))
    weather = [f"The weather report of day {number} mentions rain." for number in range(24)]
    secret = "The zorblat is under the stairs."
    drafts = [
        Draft(role="user", content=content, categories=("reports",) if at % 2 else ("odd",))
        for at, content in enumerate([*weather, secret])
    ]
    services.record.messages(reach, "talk", drafts)
    services.vectors.drain()

    def hits(wanted: dict[str, Any] | None) -> list[tuple[str, float]]:
        parsed = None if wanted is None else parse_filter(wanted)
        target = SearchTarget(session="talk")
        asked = services.search.search(reach, "quimble", target, 30, ["episodes"], min_relevance=0, filter=parsed)
        return [(hit.item.message.content, hit.relevance) for hit in asked if isinstance(hit, EpisodeHit)]

    everything, odd = dict(hits(None)), dict(hits({"category": "odd"}))
    assert odd[secret] == everything[secret] == max(everything.values())
    assert odd == {content: relevance for content, relevance in everything.items() if content in odd}
    reports = hits({"category": "reports"})
    assert len(reports) == 12 and secret not in dict(reports)


def test_mem_14_without_a_filter_no_query_is_added(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    house = settle_house(engine)
    house.session("talk")
    house.tell("talk", "My neighbour Anna plays the cello.")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a filter was evaluated")

    for name in ("pool_messages", "session_messages", "pool_memories", "project_entities"):
        monkeypatch.setattr(FilterStore, name, refuse)
    assert house.services.search.search(house.reach, "cello", SearchTarget(session="talk"), 9)
    assert house.services.context.build(house.reach, "talk", ContextRequest(question="cello")).current_conversation
    assert house.services.sessions.messages(house.reach, "talk", limit=9)[1]
    with pytest.raises(AssertionError, match="evaluated"):
        wanted = parse_filter({"role": "user"})
        house.services.search.search(house.reach, "cello", SearchTarget(session="talk"), 9, filter=wanted)
