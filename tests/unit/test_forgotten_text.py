"""Which quoted lines go with what is forgotten, and what is left of the message that quoted them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.memory import has_recalled, quoted, split_recalled
from cloister.domain.prompts.forgotten_text import ForgottenTexts, without_forgotten
from cloister.domain.prompts.recalled_text import (
    QUOTATION_FORGOTTEN,
    RECALL_ONLY,
    own_words,
    quoted_tokens,
    tokens_after,
)

SECRET = "The attic code is ATTIC-31."
OTHER = "The boat is called Heron."
DAY = "2026-11-17, user 'ann' in tells: "


def block(*texts: str) -> str:
    return quoted([f"{DAY}{text}" for text in texts], "You are talking with 'bob'.")


def test_the_line_goes_and_the_others_stay() -> None:
    content = f"{RECALL_ONLY}\n\n{block(OTHER, SECRET, 'And more.')}"
    assert without_forgotten(content, ForgottenTexts([SECRET])) == f"{RECALL_ONLY}\n\n{block(OTHER, 'And more.')}"


@pytest.mark.parametrize("content", [f"{RECALL_ONLY}\n\n{block(SECRET)}", block(SECRET), quoted([SECRET])])
def test_nothing_but_a_quotation_becomes_a_sentence_of_ours(content: str) -> None:
    left = without_forgotten(content, ForgottenTexts([SECRET]))
    assert left == QUOTATION_FORGOTTEN
    assert own_words(left) == "", "it is no words of the message: neither indexed nor evidence"


def test_own_words_stay_even_where_they_say_the_same() -> None:
    content = f"I remember: {SECRET}\n{block(SECRET)}\nThat is all."
    assert without_forgotten(content, ForgottenTexts([SECRET])) == f"I remember: {SECRET}\n \nThat is all."


@pytest.mark.parametrize(
    "content",
    [
        f"So: <recalled-memory>{SECRET}\n- {OTHER}</recalled-memory>",
        f"So: <recalled-memory>\n- {SECRET}\n  Really.\n- {OTHER}\n</recalled-memory>",
        f"So: {block('The attic code', 'is ATTIC-31.', OTHER)}",
        f"So: {quoted([OTHER], SECRET)}",
        f"So: {quoted([SECRET])} and {quoted([OTHER])}",
    ],
)
def test_a_quotation_that_is_not_ours_line_by_line_goes_as_a_whole(content: str) -> None:
    assert without_forgotten(content, ForgottenTexts([SECRET])) == "So:"


@pytest.mark.parametrize(
    "text",
    [
        "the attic code is attic 31",
        "THE  ATTIC\ncode is\tATTIC-31.",
        "The <attic> code is ATTIC-31!",
        "Ｔｈｅ ａｔｔｉｃ code is ATTIC-31.",
        "The at\u200btic co\u3164de is ATTIC-31.",
    ],
)
def test_what_quoting_changes_makes_no_difference(text: str) -> None:
    for said, stored in ((text, SECRET), (SECRET, text), (text, text)):
        assert without_forgotten(f"So: {block(said)}", ForgottenTexts([stored])) == "So:"


def test_a_text_that_was_shortened_is_known_by_its_beginning() -> None:
    text = f"{SECRET} {'And so on. ' * 100}"
    assert without_forgotten(f"So: {block(f'{text[:279]}…')}", ForgottenTexts([text])) == "So:"


@pytest.mark.parametrize("text", ["ok", "7!", "🔑", "はい"])
def test_a_very_short_text_is_quoted_by_a_line_that_says_nothing_else(text: str) -> None:
    forgotten = ForgottenTexts([text])
    assert without_forgotten(f"So: {block(text, OTHER)}", forgotten) == f"So: {block(OTHER)}"
    longer = f"So: {block(f'{text} {OTHER}')}"
    assert without_forgotten(longer, forgotten) == longer


@pytest.mark.parametrize(
    "text", ["", " ", "2026", "user", "What follows in this block was remembered", "another thing"]
)
def test_what_is_not_quoted_takes_nothing_along(text: str) -> None:
    """Neither the day and the speaker of a line, nor the sentence of ours that a block begins with."""
    content = f"So: {block(OTHER)}"
    assert without_forgotten(content, ForgottenTexts([text])) == content


def test_a_message_that_quotes_nothing_is_left_alone() -> None:
    assert without_forgotten(SECRET, ForgottenTexts([SECRET])) == SECRET


texts = st.text(st.characters(codec="utf-8", exclude_characters="<>"), min_size=1, max_size=60)


@given(
    own=st.sampled_from(["", "So it is.", f"{RECALL_ONLY}\n\n"]), said=st.lists(texts, max_size=6), gone=st.lists(texts)
)
def test_nothing_forgotten_is_left_and_own_words_stay(own: str, said: list[str], gone: list[str]) -> None:
    content = own + block(*said, *gone[:2]) if said or gone else own
    forgotten = ForgottenTexts(gone)
    left = without_forgotten(content, forgotten)
    assert own_words(left) == own_words(content)
    assert without_forgotten(left, forgotten) == left
    lines = (split_recalled(left).recalled or "").splitlines()
    assert not any(forgotten.are_in(line.partition(": ")[2]) for line in lines if line.startswith("- "))
    assert set(lines) <= set((split_recalled(content).recalled or "").splitlines())


@given(said=st.lists(texts, min_size=1, max_size=6), gone=st.lists(texts), own=st.integers(0, 50))
def test_tokens_are_those_of_a_message_that_was_stored_so(said: list[str], gone: list[str], own: int) -> None:
    content = f"So it is. {block(*said)}"
    left = without_forgotten(content, ForgottenTexts([*gone, said[0]]))
    words = own_words(content)
    assert tokens_after(own + quoted_tokens(content, words), content, left) == own + quoted_tokens(left, words)
    assert has_recalled(left) or left == words
