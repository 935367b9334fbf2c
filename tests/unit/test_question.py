"""What a query asks for."""

from datetime import date

import pytest

from cloister.domain.recall.named_dates import NamedDate
from cloister.domain.recall.passage import date_phrase, passage, speaker_name
from cloister.domain.recall.question import Question, Wanted
from cloister.domain.recall.question import parse_question as parse_question_at

# Tuesday, 17 November 2026, at noon.
ASKED_AT = 1_794_916_800_000_000


def parse_question(query: str) -> Question:
    return parse_question_at(query, ASKED_AT)


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
        "In our previous conversation, which city did you suggest?",
        "Remind me which hotel you had recommended in our last chat.",
        "What have you told me about tides?",
    ],
)
def test_asking_for_the_assistants_words_is_noticed(query: str) -> None:
    assert parse_question(query).wanted is Wanted.ASSISTANT


@pytest.mark.parametrize(
    "query",
    [
        "Can you suggest a hotel?",
        "Could you recommend a book for my mother?",
        "Do you know where I parked?",
        "Would you list my allergies?",
        "Which town had I told you about when you recommended the ferry?",
    ],
)
def test_asking_for_something_new_wants_the_users_words(query: str) -> None:
    """CTX-9."""
    assert parse_question(query).wanted is Wanted.USER


def test_speaking_of_our_conversation_wants_either_speaker() -> None:
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


def days(*spans: tuple[str, str]) -> list[tuple[int, int]]:
    first = date(1970, 1, 1)
    return [((date.fromisoformat(a) - first).days, (date.fromisoformat(b) - first).days) for a, b in spans]


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What did I eat yesterday?", "2026-11-16", "2026-11-16"),
        ("the day before yesterday", "2026-11-15", "2026-11-15"),
        ("Whom did I meet last night?", "2026-11-16", "2026-11-16"),
        ("what I said this morning", "2026-11-17", "2026-11-17"),
        ("two weeks ago", "2026-10-31", "2026-11-06"),
        ("a couple of months ago", "2026-09-04", "2026-10-02"),
        ("3 days ago", "2026-11-14", "2026-11-14"),
        ("last Tuesday", "2026-11-10", "2026-11-10"),
        ("on Monday", "2026-11-16", "2026-11-16"),
        ("last weekend", "2026-11-13", "2026-11-15"),
        ("this week", "2026-11-16", "2026-11-22"),
        ("last week", "2026-11-09", "2026-11-15"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("the past month", "2026-10-18", "2026-11-17"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("in the last 3 days", "2026-11-14", "2026-11-17"),
        ("last summer", "2026-06-01", "2026-08-31"),
        ("last winter", "2025-12-01", "2026-02-28"),
        ("before Christmas", "2025-11-13", "2025-12-24"),
        ("after New  Year's", "2026-01-02", "2026-02-12"),
        ("at Halloween", "2026-10-26", "2026-11-05"),
        ("What have I eaten since Sunday?", "2026-11-15", "2026-11-17"),
        ("since last Tuesday", "2026-11-10", "2026-11-17"),
        ("since last week", "2026-11-09", "2026-11-17"),
        ("since yesterday", "2026-11-16", "2026-11-17"),
        ("since two weeks ago", "2026-10-31", "2026-11-17"),
        ("since last summer", "2026-06-01", "2026-11-17"),
        ("since Christmas", "2025-12-25", "2026-11-17"),
        ("since last Halloween", "2026-10-31", "2026-11-17"),
        ("before last Christmas", "2025-11-13", "2025-12-24"),
        ("the week before last", "2026-11-02", "2026-11-08"),
        ("the weekend before last", "2026-11-06", "2026-11-08"),
        ("the month before last", "2026-09-01", "2026-09-30"),
        ("the year before last", "2024-01-01", "2024-12-31"),
        ("this summer", "2026-06-01", "2026-08-31"),
        ("this autumn", "2026-09-01", "2026-11-30"),
        ("this winter", "2025-12-01", "2026-02-28"),
    ],
)
def test_relative_dates_are_counted_from_the_moment_of_asking(query: str, first: str, last: str) -> None:
    """CTX-9."""
    assert list(parse_question(query).spans) == days((first, last))


@pytest.mark.parametrize("asked_at", [-62_135_596_800_000_000, 253_402_300_799_999_999, 0])
def test_the_earliest_and_latest_moments_can_ask_too(asked_at: int) -> None:
    for query in (
        "999 years ago",
        "last winter",
        "before Christmas",
        "last month",
        "last weekend",
        "past 999 weeks",
        "since this winter",
        "the month before last",
        "the year before last",
        "since last Christmas",
    ):
        parse_question_at(query, asked_at)


@pytest.mark.parametrize(
    "query", ["my last job", "this is it", "the weekday", "on time", "ago", "weeks", "since then", "ever since"]
)
def test_words_that_only_look_like_relative_dates_name_none(query: str) -> None:
    assert parse_question(query).spans == ()


def test_recency_counts_only_where_it_is_asked_for() -> None:
    """CTX-9."""
    assert parse_question("What have I been reading lately?").wants_recent
    assert parse_question("Where were we last time?").wants_recent
    assert not parse_question("What do I read?").wants_recent
