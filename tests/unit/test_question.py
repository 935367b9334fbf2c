"""What a query asks for."""

import pytest

from cloister.domain.recall.passage import date_phrase, passage, speaker_name
from cloister.domain.recall.question import NamedDate, Wanted, parse_question


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("What happened on 8 May 2023?", [NamedDate(year=2023, month=5, day=8)]),
        ("What happened on May 8th, 2023?", [NamedDate(year=2023, month=5, day=8)]),
        ("the 3rd of July", [NamedDate(month=7, day=3)]),
        ("in December 2022", [NamedDate(year=2022, month=12)]),
        ("since 2021-11-05", [NamedDate(year=2021, month=11, day=5)]),
        ("Where did we go in 2019?", [NamedDate(year=2019)]),
        ("between June and August", [NamedDate(month=6), NamedDate(month=8)]),
        ("Which trips were in Sept. 2023 or October?", [NamedDate(year=2023, month=9), NamedDate(month=10)]),
        ("on February 31", [NamedDate(month=2)]),
    ],
)
def test_dates_are_read_as_far_as_they_are_given(query: str, dates: list[NamedDate]) -> None:
    assert list(parse_question(query).dates) == dates


@pytest.mark.parametrize(
    "query",
    ["May I ask what you said?", "How far did they march?", "What does April like?", "call 20231", "room 2023b"],
)
def test_words_that_only_look_like_dates_name_none(query: str) -> None:
    assert parse_question(query).dates == ()


@pytest.mark.parametrize(
    "query",
    [
        "What restaurant did you recommend?",
        "Can you remind me what the third item was?",
        "What was your suggestion for dinner?",
        "the book you mentioned",
    ],
)
def test_asking_for_the_assistants_words_is_noticed(query: str) -> None:
    assert parse_question(query).wanted is Wanted.ASSISTANT


def test_speaking_of_our_conversation_wants_either_speaker() -> None:
    assert parse_question("In our previous conversation, which city did you suggest?").wanted is Wanted.ANYONE
    assert parse_question("We talked about a hotel, which one?").wanted is Wanted.ANYONE


def test_any_other_question_wants_the_users_own_words() -> None:
    assert parse_question("What is the name of my dog?").wanted is Wanted.USER
    assert parse_question("").wanted is Wanted.USER


def test_a_passage_carries_its_date_and_the_name_of_its_speaker() -> None:
    assert passage("Hi", "Caroline", 1_683_550_560_000_000).text == "[8 May 2023] Caroline: Hi"
    assert passage("Hi", "assistant", 1_683_550_560_000_000).text == "[8 May 2023] Hi"


def test_role_words_and_blanks_are_no_names() -> None:
    assert [speaker_name(author) for author in (None, " ", "User", "ASSISTANT", " Ana ")] == [None] * 4 + ["Ana"]


def test_days_before_the_epoch_have_names_too() -> None:
    assert date_phrase(-1) == "31 December 1969"
