"""Small talk recalls nothing (CTX-6)."""

from pathlib import Path

import pytest

from cloister.domain.recall.small_talk import is_small_talk

LINES = Path(__file__).parents[2] / "benchmarks" / "silence"


def lines(name: str) -> list[str]:
    return (LINES / f"{name}.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("line", lines("small_talk"))
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


@pytest.mark.parametrize(
    "line",
    [
        "What's new with you?",
        "Have you eaten?",
        "You're a star",
        "That was quick, thanks a ton",
        "Hallo, wie geht es dir heute?",
        "Vielen Dank, das hat mir sehr geholfen!",
        "Guten Morgen zusammen",
        "¡Hola! ¿Cómo estás hoy?",
        "Muchas gracias por tu ayuda",
        "Merci, c'est très gentil de votre part",
        "Buongiorno, come stai oggi?",
        "Tudo bem com você?",
        "Heel erg bedankt voor je hulp",
        "谢谢你的帮助",
        "謝謝您",
        "ありがとう、助かりました",
    ],
)
def test_what_is_said_every_day_is_small_talk_in_any_language(line: str) -> None:
    assert is_small_talk(line)


def test_nearly_all_everyday_lines_are_small_talk() -> None:
    """Half of the lines were not looked at while the rules were made."""
    said = lines("small_talk_everyday")
    assert len([line for line in said if not is_small_talk(line)]) <= 0.03 * len(said)


@pytest.mark.parametrize("line", [line for line in lines("look_alikes") if line != "Hey Jude"])
def test_what_only_begins_like_small_talk_is_none(line: str) -> None:
    """A name after a greeting is one of a person: "Hey Jude" is "Hey Anna"."""
    assert not is_small_talk(line)


@pytest.mark.parametrize(
    "line",
    [
        "How is Anna?",
        "Wie geht es Anna?",
        "¿Cómo está Ana?",
        "Comment va Paul ?",
        "Come sta Anna?",
        "Como está Ana?",
        "Hoe gaat het met Anna?",
        "Is it safe?",
        "My best friend",
        "I need coffee",
        "I'm leaving tomorrow",
        "We had a nice dinner",
        "I have to work tomorrow",
        "Linda",
        "Bella",
        "Sol",
        "safe",
        "名前",
    ],
)
def test_other_people_plans_and_single_words_are_no_small_talk(line: str) -> None:
    assert not is_small_talk(line)


@pytest.mark.parametrize("line", lines("off_topic"))
def test_other_requests_are_no_small_talk(line: str) -> None:
    assert not is_small_talk(line)
