"""Excerpts of long messages (CTX-8)."""

from cloister.domain.recall.excerpt import best_passage
from cloister.index.terms import term_list

LONGEST = 480
FILLER = "The committee met again and talked about nothing in particular for a while. "


def passage(text: str, asked: str) -> str:
    return best_passage(text, term_list(asked), term_list, LONGEST)


def test_a_short_message_is_its_own_passage() -> None:
    assert passage("Short.", "anything") == "Short."


def test_the_passage_has_the_sentence_that_answers() -> None:
    text = FILLER * 20 + "The gate code is 4417. " + FILLER * 20
    found = passage(text, "What is the gate code?")
    assert "The gate code is 4417." in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert len(found) <= LONGEST + 2


def test_without_a_word_of_the_question_it_is_the_beginning() -> None:
    assert passage("Begin here. " + FILLER * 20, "zebra").startswith("Begin here.")


def test_text_without_sentences_is_cut() -> None:
    for text in ("x" * 5_000, "." * 5_000, "\n" * 5_000 + "x", "a." * 2_500):
        assert len(passage(text, "x")) <= LONGEST + 2
