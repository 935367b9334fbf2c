"""Memories that a person or a program wrote, in whatever form, are read as facts about the user and compared (MEM-12)."""

import pytest

from cloister.domain.extraction import FactOfMemory, KnownMemory, ManualMemory, Statement
from cloister.domain.identifiers import MemoryId, MessageId
from cloister.models.rules.extractor import Rules

RULES = Rules()
ROME = "The user lives in Rome."


def known(*contents: str, subject: str | None = "home") -> list[KnownMemory]:
    return [
        KnownMemory(id=MemoryId(number), content=content, subject=subject, valid_from=number)
        for number, content in enumerate(contents, 1)
    ]


def read(
    content: str,
    *before: KnownMemory,
    user: str | None = "ada",
    authors: tuple[str, ...] = (),
    is_own: bool = True,
) -> FactOfMemory:
    (fact,) = RULES.read([ManualMemory(content=content, said_at=100, is_own=is_own)], before, user, authors)
    return fact


@pytest.mark.parametrize(
    "content",
    [
        "The user lives in Oslo.",
        "User lives in Oslo",
        "user now lives in Oslo!",
        "I live in Oslo.",
        "I'm living in Oslo now.",
        "I moved to Oslo last week.",
        "Lives in Oslo",
        "lives in Oslo.",
        "Moved to Oslo.",
        "Ada lives in Oslo.",
        "ada moved to Oslo",
        "Home: Oslo",
        "Location: Oslo",
        "User's home is Oslo",
        "My home is in Oslo now.",
    ],
)
def test_mem_12_whatever_its_form_a_new_home_makes_the_old_one_untrue(content: str) -> None:
    """MEM-12: also if the old one has another form."""
    for before in (ROME, "User lives in Rome", "Lives in Rome", "I live in Rome.", "Ada lives in Rome."):
        assert read(content, *known(before)) == FactOfMemory("home", (MemoryId(1),)), before


@pytest.mark.parametrize(
    ("before", "after", "subject"),
    [
        ("The user is vegetarian", "The user is no longer vegetarian", "diet"),
        ("Vegetarian", "No longer vegetarian", "diet"),
        ("Works at Acme", "User joined Globex as an engineer", "employer"),
        ("Employer: Acme", "Works for Globex now", "employer"),
        ("User is single", "Got married in June", "relationship"),
        ("39 years old", "User turned 40", "age"),
        ("Name: Ada", "My name is Berta now", "name"),
        ("User's favorite colour is blue", "My favourite colour is red", "favourite colour"),
    ],
)
def test_mem_12_other_facts_with_one_value_are_compared_too(before: str, after: str, subject: str) -> None:
    assert read(before).subject == subject
    assert read(after, *known(before, subject=subject)) == FactOfMemory(subject, (MemoryId(1),))


@pytest.mark.parametrize(
    "content",
    [
        "Bob lives in Oslo.",
        "My brother lives in Oslo.",
        "The user's sister moved to Oslo.",
        "James lives in Oslo",
        "She lives in Oslo",
        "I might move to Oslo.",
        "User is moving to Oslo next year",
        "User visited Oslo",
        "If I lived in Oslo, I would ski.",
        "User lives in Rome and loves Oslo",
        "User interface is in Oslo style",
        "User lives in Oslo. Bob lives in Rome.",
        "Oslo",
        "The user lives in Italy.",
        "I live in Oslo " + "and so on " * 40,
    ],
)
def test_mem_12_what_is_in_doubt_or_about_somebody_else_makes_nothing_untrue(content: str) -> None:
    """MEM-12: what is true must not be withdrawn."""
    fact = read(content, *known(ROME))
    assert fact.replaces == ()
    assert fact.subject is None


def test_mem_11_a_name_is_that_of_the_sessions_user_or_author_only() -> None:
    """MEM-11: an author's facts are the author's; without a user, a name is nobody's."""
    assert read("Ada lives in Oslo.", *known(ROME), user=None) == FactOfMemory()
    of_bob = known("Bob lives in Rome.", subject="bob: home")
    assert read("Bob lives in Oslo.", *of_bob, authors=("Bob",)) == FactOfMemory("bob: home", (MemoryId(1),))
    assert read("Bob lives in Oslo.", *known(ROME), authors=("Bob",)) == FactOfMemory("bob: home")
    assert read("Bobby lives in Oslo.", *of_bob, authors=("Bob",)) == FactOfMemory()


def test_mem_12_in_the_words_of_an_assistant_i_is_not_the_user() -> None:
    assert read("I live in Oslo.", *known(ROME), is_own=False) == FactOfMemory()
    assert read("The user lives in Oslo.", *known(ROME), is_own=False).subject == "home"


def test_mem_12_memories_of_one_call_are_compared_with_each_other() -> None:
    given = [ManualMemory(content=f"User lives in {town}", said_at=100) for town in ("Rome", "Oslo")]
    assert [fact.subject for fact in RULES.read(given, [], "ada", [])] == ["home", "home"]


def test_mem_12_the_same_statement_again_has_the_same_subject() -> None:
    """MEM-12: a third session that made it had none, and its copy was never superseded."""
    assert read(ROME, *known(ROME)) == FactOfMemory("home")


def test_mem_12_the_same_fact_in_other_words_withdraws_nothing() -> None:
    """MEM-12: it has no subject, or the older words would be over; a later change ends both."""
    assert read("Lives in Rome", *known(ROME)) == FactOfMemory()
    both = [*known(ROME), KnownMemory(id=MemoryId(2), content="Lives in Rome", subject=None, valid_from=2)]
    assert read("User lives in Oslo", *both) == FactOfMemory("home", (MemoryId(1), MemoryId(2)))
    said = Statement(id=MessageId(9), role="user", content="I moved to Oslo last week.", author=None, created_at=9)
    (moved,) = RULES.memories([said], both)
    assert moved.replaces == (MemoryId(1), MemoryId(2))
