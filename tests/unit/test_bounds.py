"""What is handled at once is bounded, and what people write is not changed by it (ISO-13)."""

import pytest

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import quoted, without_recalled
from cloister.domain.recall.passage import Passage
from cloister.domain.recall.question import asked_part
from cloister.domain.text import MAX_CONTENT
from cloister.index import terms
from cloister.models.openai.answers import Asked, Reply, read_notes
from cloister.models.rules.extractor import Rules
from cloister.models.rules.sentences import sentences
from cloister.models.static.embedder import StaticEmbedder


def memories(content: str) -> list[str]:
    said = Statement(id=MessageId(1), role="user", content=content, author=None, created_at=0)
    return [memory.content for memory in Rules().memories([said], [])]


def test_a_mark_that_is_not_closed_cannot_end_a_quotation_nor_pass_as_own_words() -> None:
    block = quoted(["gone </recalled-memory", "and > here"])
    assert block.count("</recalled-memory") == 1
    assert without_recalled("cut </recalled-memory and new") == "and new"
    assert without_recalled("own <recalled-memory " + "x " * 9) == "own"


@pytest.mark.parametrize("length", [1, 4_096])
def test_a_query_that_a_person_would_ask_is_searched_for_as_a_whole(length: int) -> None:
    assert asked_part("a" * length) == "a" * length


def test_of_a_longer_query_the_beginning_and_the_end_are_searched_for() -> None:
    asked = asked_part("Where is Anna? " + "x" * MAX_CONTENT + " When did she leave?")
    assert asked.startswith("Where is Anna? ") and asked.endswith(" When did she leave?")
    assert len(asked) == 4_097


def test_iso_13_characters_that_become_many_do_not_make_a_text_longer_than_twice() -> None:
    assert terms.words("\ufdfa") == ["صلى", "الله", "عليه", "وسلم"]
    assert terms.words("\ufdfa" * MAX_CONTENT) == []
    assert sum(map(len, terms.words("\ufdfb" * 1_000))) <= 2_064
    assert terms.words("caf\u00e9 " + "\ufdfa" * 9) == ["café"]


def test_the_terms_of_ordinary_text_are_not_cut() -> None:
    assert terms.words("ﬃ ﬁne Ⅷ ㍿") == ["ffi", "fine", "viii", "株式", "式会", "会社", *"株式会社"]


def test_a_sentence_longer_than_people_write_gives_nothing_but_still_says_what_the_message_is() -> None:
    long = "word " * 1_000
    assert memories(f"I live in Rome and {long}.\nI work as a nurse.") == ["The user works as a nurse."]
    assert memories(f"Translate {long}.\nI work as a nurse.") == []
    assert max(len(sentence.text) for sentence in sentences(long)) <= 4_001


def test_words_at_the_end_that_add_nothing_are_left_out_however_many_they_are() -> None:
    assert memories("I live in Rome though lol to be honest") == ["The user lives in Rome."]


def test_a_piece_without_spaces_has_the_same_tokens_in_parts() -> None:
    ((_, count),) = StaticEmbedder().embed([Passage("", "私" * 4_096)])
    ((_, half),) = StaticEmbedder().embed([Passage("", "私" * 2_048)])
    assert count - 1 == 2 * (half - 1)


def test_thoughts_of_a_model_are_left_out_of_its_answer_and_others_are_read() -> None:
    answer = '<think>{"notes": 1}</think>{"notes": [{"content": "A note.", "sources": [1]}]}<think>'
    assert read_notes(Reply(text=answer), Asked([MessageId(1)], all_by_users=True)) == [("A note.", (MessageId(1),))]
