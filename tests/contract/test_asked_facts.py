"""MEM-12, CTX-6: a question for a fact of one's own finds it, however few words they share, and nobody else's."""

from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import MemoryHit, SearchTarget
from support.databases.engines import Engine
from support.setups.facts import FactSetup, settle_facts

QUESTION = "Am I seeing anyone?"
BOYFRIEND, WIFE = (f"relationship = The user has a {partner}" for partner in ("boyfriend", "wife"))


def recalled(house: FactSetup, session: str, question: str = QUESTION, floor: float | None = None) -> list[str]:
    asked = ContextRequest(question=question, min_relevance=floor)
    derived = house.services.context.build(house.reach, session, asked).derived
    return [found.memory.content for found in derived.memories]


def test_the_fact_that_is_asked_for_is_found_without_a_common_word(engine: Engine) -> None:
    """MEM-12: it is strong, and comes first; with a higher floor it is left out; other questions do not find it."""
    house = settle_facts(engine)
    house.session("a", user="ann")
    house.state("a", "The user has seen every film of Tarkovsky", 1)
    house.state("a", BOYFRIEND, 2)
    assert recalled(house, "a")[0] == "The user has a boyfriend"
    assert "The user has a boyfriend" not in recalled(house, "a", floor=0.6)
    assert "The user has a boyfriend" not in recalled(house, "a", "How do I fix a segfault?")
    hits = house.services.search.search(house.reach, QUESTION, SearchTarget(session="a"), 9, ["memories"])
    assert isinstance(hits[0], MemoryHit)
    assert (hits[0].stored.memory.content, hits[0].relevance) == ("The user has a boyfriend", 0.5)


def test_what_is_no_longer_true_is_not_found(engine: Engine) -> None:
    """MEM-12."""
    house = settle_facts(engine)
    house.session("a", user="ann")
    house.state("a", BOYFRIEND, 1)
    house.state("a", WIFE, 2)
    assert recalled(house, "a") == ["The user has a wife"]


def test_a_fact_of_another_user_or_project_is_never_found(engine: Engine) -> None:
    """ISO-4, ISO-10: the pool decides, as for every other memory."""
    house = settle_facts(engine)
    house.session("a", user="ann")
    house.session("b", user="bob")
    house.state("a", BOYFRIEND, 1)
    assert recalled(house, "b") == []
    house.state("b", WIFE, 1)
    assert (recalled(house, "a"), recalled(house, "b")) == (["The user has a boyfriend"], ["The user has a wife"])
