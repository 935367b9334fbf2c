"""MEM-12: which facts of their own a person asks for."""

import pytest

from cloister.domain.truth.asked_facts import asked_facts


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("What's my job title?", "role"),
        ("Who do I work for?", "employer"),
        ("What do I do for a living?", "role"),
        ("Am I seeing anyone?", "relationship"),
        ("Remind me, am I still single?", "relationship"),
        ("Which city am I based in?", "home"),
        ("Where do we live now?", "home"),
        ("How old am I?", "age"),
        ("What should you call me?", "called"),
        ("Am I vegan?", "diet"),
    ],
)
def test_a_question_about_oneself_names_what_it_asks_for(query: str, subject: str) -> None:
    assert subject in asked_facts(query)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?",
        "How do I find a job?",
        "How can we live longer?",
        "What is the age of the universe?",
        "Write a letter to my wife.",
        "Why is my partner angry?",
        "Where does Ann live?",
        "What is my favourite song?",
        "what about my home " * 40,
    ],
)
def test_other_questions_ask_for_none(query: str) -> None:
    assert asked_facts(query) == frozenset()
