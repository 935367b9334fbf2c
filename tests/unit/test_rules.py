"""What the rules remember: each category, several facts in one message, changes, and what is known already (MEM-1, MEM-2)."""

import json
from pathlib import Path

import pytest

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.models.interface import Extractor
from cloister.models.rules.categories import IMPORTANCE, Category
from cloister.models.rules.extractor import Rules
from cloister.models.rules.memories import facts
from support.samples.statements import known_memory

RULES = Rules()
SENTENCES = Path(__file__).parents[2] / "benchmarks" / "extraction_sentences.json"


def said(*contents: str, role: str = "user", author: str | None = None) -> list[Statement]:
    return [
        Statement(id=MessageId(number), role=role, content=content, author=author, created_at=number)
        for number, content in enumerate(contents, 1)
    ]


def remembered(content: str, author: str | None = None) -> list[str]:
    return [memory.content for memory in RULES.memories(said(content, author=author), [])]


def test_they_are_an_extractor() -> None:
    extractor: Extractor = RULES
    assert extractor.name == "rules/1"


@pytest.mark.parametrize(
    ("category", "content", "memory"),
    [
        ("name", "My name is Rosalind.", "The user's name is Rosalind."),
        ("name", "You can call me Ro.", "The user wants to be called Ro."),
        ("name", "I go by Max.", "The user goes by Max."),
        ("place", "I live in Coimbra.", "The user lives in Coimbra."),
        ("place", "I'm originally from Kerala.", "The user is originally from Kerala."),
        ("place", "I grew up on a farm near Cork.", "The user grew up on a farm near Cork."),
        ("work", "I'm a structural engineer.", "The user is a structural engineer."),
        ("work", "I work for the railway.", "The user works for the railway."),
        ("work", "I've been a midwife for ten years.", "The user has been a midwife for ten years."),
        ("work", "My company is called Oakline.", "The user's company is called Oakline."),
        ("family", "I have three sons.", "The user has three sons."),
        ("family", "My sister Maud lives in Kyiv.", "The user's sister Maud lives in Kyiv."),
        ("family", "My wife's name is Elena.", "The user's wife's name is Elena."),
        ("family", "My kids love swimming.", "The user's kids love swimming."),
        ("family", "My partner and I live in Graz.", "The user and their partner live in Graz."),
        ("possession", "I have a cat named Miso.", "The user has a cat named Miso."),
        ("possession", "Our dog is called Bruno.", "The user's dog is called Bruno."),
        ("possession", "My car is a Fiat Panda.", "The user's car is a Fiat Panda."),
        ("preference", "I love hot chocolate.", "The user loves hot chocolate."),
        ("preference", "My favourite season is autumn.", "The user's favourite season is autumn."),
        ("preference", "Chess is my favourite game.", "Chess is the user's favourite game."),
        ("preference", "I usually cook on Sundays.", "The user usually cooks on Sundays."),
        ("health", "I'm allergic to penicillin.", "The user is allergic to penicillin."),
        ("health", "I don't eat shellfish.", "The user does not eat shellfish."),
        ("health", "I have asthma.", "The user has asthma."),
        ("self", "I'm 52 years old.", "The user is 52 years old."),
        ("self", "I speak Polish.", "The user speaks Polish."),
        ("self", "My birthday is on 9 June.", "The user's birthday is on 9 June."),
        ("plan", "I'm planning to move to Graz.", "The user is planning to move to Graz."),
        ("plan", "I want to become a pilot.", "The user wants to become a pilot."),
        ("plan", "My surgery is on March 3.", "The user's surgery is on March 3."),
        ("decision", "I decided to sell the boat.", "The user decided to sell the boat."),
        ("decision", "I've opted for solar panels.", "The user has opted for solar panels."),
        ("change", "I moved to Bergen.", "The user moved to Bergen."),
        ("change", "I no longer work at the bank.", "The user no longer works at the bank."),
        ("change", "I've switched from tea to coffee.", "The user has switched from tea to coffee."),
        ("change", "I don't smoke anymore.", "The user does not smoke anymore."),
        ("change", "I used to play the oboe.", "The user used to play the oboe."),
        ("change", "I got married in May.", "The user got married in May."),
    ],
)
def test_each_category_is_remembered(category: Category, content: str, memory: str) -> None:
    assert [(fact.category, fact.content) for fact in facts(content, None)] == [(category, memory)]
    assert RULES.memories(said(content), [])[0].importance == IMPORTANCE[category]


@pytest.mark.parametrize(
    ("content", "memories"),
    [
        (
            "I live in Ghent and work at a brewery, and I have two cats.",
            ["The user lives in Ghent.", "The user works at a brewery.", "The user has two cats."],
        ),
        (
            "My brother lives in Oslo.\n- I live in Malmö\n- I'm vegan",
            ["The user's brother lives in Oslo.", "The user lives in Malmö.", "The user is vegan."],
        ),
        ("I'm vegan, what can I eat in Prague?", ["The user is vegan."]),
        ("Can you help me? I can't eat dairy.", ["The user cannot eat dairy."]),
        ("I moved to Lyon. I moved to Lyon!", ["The user moved to Lyon."]),
        ("Ugh, what a day. Anyway, btw, I'm a nurse lol", ["The user is a nurse."]),
        ("I enjoy reading, long walks, and chess.", ["The user enjoys reading, long walks, and chess."]),
        ("I live in Lisbon, Portugal.", ["The user lives in Lisbon, Portugal."]),
        ("In 2019 I moved to Rome.", ["The user moved to Rome in 2019."]),
        ("My favourite book is “Dune”.", ["The user's favourite book is “Dune”."]),
    ],
)
def test_a_message_gives_all_its_facts_and_nothing_else(content: str, memories: list[str]) -> None:
    assert remembered(content) == memories


@pytest.mark.parametrize(
    ("content", "memory"),
    [
        ("Actually my name is Ann, not Anna.", "The user's name is Ann, not Anna."),
        ("Scratch that, I live in Leeds now, not York.", "The user lives in Leeds now, not York."),
        ("I now live in Turin.", "The user now lives in Turin."),
        ("I'm not vegetarian any more.", "The user is not vegetarian any more."),
        ("I've given up on learning German.", "The user has given up on learning German."),
    ],
)
def test_a_change_keeps_that_it_is_one(content: str, memory: str) -> None:
    assert remembered(content) == [memory]


@pytest.mark.parametrize(
    ("content", "memory"),
    [
        ("i live in Porto", "The user lives in Porto."),
        ("I live in\u00a0Porto", "The user lives in Porto."),
        ("im a nurse", "The user is a nurse."),
        ("ive moved to Rome", "The user has moved to Rome."),
        ("i dont eat meat", "The user does not eat meat."),
        ("I’m allergic to nuts", "The user is allergic to nuts."),
        ("I`m allergic to nuts", "The user is allergic to nuts."),
        ("I'VE GOT TWO KIDS AND A DOG", "The user has two kids and a dog."),
    ],
)
def test_apostrophes_and_capitals_may_be_missing_or_wrong(content: str, memory: str) -> None:
    assert remembered(content) == [memory]


@pytest.mark.parametrize(
    ("content", "memory"),
    [
        ("I'm allergic to nuts.", "Caroline is allergic to nuts."),
        ("My sister lives with me.", "Caroline's sister lives with Caroline."),
        ("I like my coffee black.", "Caroline likes their coffee black."),
        ("Tea is my favourite drink.", "Tea is Caroline's favourite drink."),
    ],
)
def test_a_named_author_is_named(content: str, memory: str) -> None:
    assert remembered(content, author="Caroline") == [memory]


def test_sources_are_all_the_messages_that_say_it() -> None:
    found = RULES.memories(said("I live in Rome.", "Hello!", "As I said, I live in Rome."), [])
    assert [(memory.content, memory.sources) for memory in found] == [("The user lives in Rome.", (1, 3))]


def test_what_two_people_say_of_themselves_stays_apart() -> None:
    both = [*said("I'm vegan.", author="Ana"), *said("I'm vegan.", author="Ben")]
    assert [memory.content for memory in RULES.memories(both, [])] == ["Ana is vegan.", "Ben is vegan."]


@pytest.mark.parametrize("known", ["The user lives in Rome.", "the user  LIVES in rome", "The user lives, in Rome!"])
def test_mem_2_what_is_known_already_is_not_repeated(known: str) -> None:
    assert (
        RULES.memories(said("I live in Rome. I'm a nurse."), [known_memory(1, known)])[0].content
        == "The user is a nurse."
    )


def test_only_users_are_listened_to() -> None:
    for role in ("assistant", "system", "tool", "developer"):
        assert RULES.memories(said("I live in Rome and I am a nurse.", role=role), []) == []


def test_nothing_gives_nothing() -> None:
    assert RULES.memories([], []) == []
    assert RULES.memories(said(""), [known_memory(1, "The user is a nurse.")]) == []


def test_the_labelled_sentences_are_read_as_well_as_was_decided() -> None:
    """The floors of decision 015; `benchmarks/extraction.py` gives the figures themselves."""
    taken = right = keys = found = 0
    for sentence in json.loads(SENTENCES.read_text("utf-8")):
        if sentence["half"] != "held-out":
            continue
        memories = [fact.content.casefold() for fact in facts(sentence["text"], None)]
        wanted = [key.casefold() for key in sentence["keys"]]
        good = wanted + [key.casefold() for key in sentence["also"]]
        taken += len(memories)
        right += sum(any(key in memory for key in good) for memory in memories)
        keys += len(wanted)
        found += sum(any(key in memory for memory in memories) for key in wanted)
    assert right / taken >= 0.95
    assert found / keys >= 0.6
