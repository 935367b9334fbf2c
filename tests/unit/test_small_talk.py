"""Small talk recalls nothing (CTX-6)."""

from pathlib import Path

import pytest

from cloister.domain.recall.small_talk import is_small_talk

LINES = Path(__file__).parents[2] / "benchmarks" / "silence"


@pytest.mark.parametrize("line", (LINES / "small_talk.txt").read_text("utf-8").splitlines())
def test_greetings_thanks_and_acknowledgements_are_small_talk(line: str) -> None:
    assert is_small_talk(line)


@pytest.mark.parametrize(
    "line",
    [
        "That was very kind of you",
        "Have a nice week",
        "You are so funny",
        "How has your week been?",
        "Do you ever get lonely?",
        "Are you having fun?",
        "Good talking to you again",
        "How are you this morning, my friend?",
    ],
)
def test_remarks_and_questions_how_the_assistant_is_are_small_talk(line: str) -> None:
    assert is_small_talk(line)


@pytest.mark.parametrize("line", ["Hi Melanie!", "Thanks, Ana", "  HELLO  ", "Thank you ❤️", "👍", "?!", "…"])
def test_names_emoji_and_punctuation_change_nothing(line: str) -> None:
    assert is_small_talk(line)


@pytest.mark.parametrize(
    "line",
    [
        "What did I do today?",
        "Hi, what is my dog's name?",
        "Thanks, and where do I live?",
        "Good morning routine",
        "What is my name?",
        "Tell me more about Rex",
        "yes the red one",
        "Who am I?",
        "please help me find the gate code",
        "Wie heißt mein Hund?",
        "你好，我的狗叫什么？",
        "What was your excellent suggestion?",
        "What was my great idea?",
        "Is it my birthday?",
        "How was my day?",
        "How is work?",
        "Do you remember me?",
        "Do you know my name?",
        "Are you sure about the code?",
        "test",
        "cancel",
        "great weekend trip",
        "I love sushi",
        "new job",
        "a" * 10_000,
        "hello " * 1_000,
    ],
)
def test_whatever_asks_for_something_is_no_small_talk(line: str) -> None:
    assert not is_small_talk(line)


@pytest.mark.parametrize("line", (LINES / "off_topic.txt").read_text("utf-8").splitlines())
def test_other_requests_are_no_small_talk(line: str) -> None:
    assert not is_small_talk(line)
