"""Dates and questions for the assistant in other languages than English."""

import pytest

from cloister.domain.recall.named_dates import NamedDate
from cloister.domain.recall.other_languages import asks_assistant, named_dates
from support.samples.english_sentences import ENGLISH_SENTENCES


@pytest.mark.parametrize(
    ("query", "date"),
    [
        ("Was war am 19. August 2024?", (2024, 8, 19)),
        ("im August", (None, 8, None)),
        ("Ende März 2023", (2023, 3, None)),
        ("el 24 de mayo de 2023", (2023, 5, 24)),
        ("en junio", (None, 6, None)),
        ("le 3 février", (None, 2, 3)),
        ("il 12 gennaio 2024", (2024, 1, 12)),
        ("em 8 de janeiro", (None, 1, 8)),
        ("op 5 mei 2022", (2022, 5, 5)),
        ("2024年5月8日", (2024, 5, 8)),
        ("十一月三日", (None, 11, 3)),
        ("五月二十一号", (None, 5, 21)),
        ("2023年のこと", (2023, None, None)),
        ("31. Februar", (None, 2, None)),
    ],
)
def test_dates_are_parsed(query: str, date: tuple[int | None, int | None, int | None]) -> None:
    year, month, day = date
    assert named_dates(query) == (NamedDate(year=year, month=month, day=day),)


@pytest.mark.parametrize(
    "query",
    [*ENGLISH_SENTENCES, "an august body", "I like mayo", "三个月", "Rio de Janeiro", "Mars", "月亮", "in April"],
)
def test_nothing_is_a_date_or_a_question_for_the_assistant_that_is_none(query: str) -> None:
    assert named_dates(query) == ()
    assert not asks_assistant(query)


@pytest.mark.parametrize(
    "query",
    [
        "Welches Futter hast du mir für den Hund empfohlen?",
        "Was war noch mal dein Vorschlag?",
        "Das Buch, das du mir genannt hast",
        "¿Qué libro me recomendaste?",
        "¿Cuáles eran tus consejos?",
        "Qu'est-ce que tu m'as conseillé ?",
        "Quale ristorante mi hai consigliato?",
        "O que você recomendou?",
        "Welk boek heb je me aangeraden?",
        "你推荐过哪本书？",
        "你的建议是什么？",
        "どの本をすすめてくれましたか？",
        "前に教えてもらった店はどこ？",
    ],
)
def test_a_question_for_what_the_assistant_said_is_recognised(query: str) -> None:
    assert asks_assistant(query)


@pytest.mark.parametrize(
    "query",
    [
        "Kannst du mir ein Buch empfehlen?",
        "Was habe ich dir über Bruno gesagt, als du gefragt hast?",
        "¿Puedes recomendarme un libro?",
        "¿Qué te dije sobre mi hermana cuando me recomendaste el libro?",
        "Peux-tu me conseiller un film ?",
        "你能推荐一本书吗？",
        "本を教えてくれますか？",
        "Wo wohne ich?",
    ],
)
def test_a_request_for_something_new_is_not_one_for_the_assistants_words(query: str) -> None:
    assert not asks_assistant(query)
