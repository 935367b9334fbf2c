"""What holds of the rules for any text at all: no error, known sources, nothing of the assistant's, time that grows with length."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import MAX_MEMORY, checked_memory, quoted
from cloister.domain.text import MAX_CONTENT
from cloister.models.rules.extractor import Rules
from support.samples.statements import known_memory

RULES = Rules()
VOCABULARY = (
    "I i I'm i'm im My my we We and but so, , . ! ? : ; ( ) - — > ` ``` \" “ ” ' < [ ] live lives in Rome Lisbon a an the nurse "
    "dog sister Anna name is not don't can't never no longer have got love hate moved to work at if would said you it "
    "favourite colour green because who that 42 years old <recalled-memory> </recalled-memory> 私 é 😀 \u200b \u0301"
)
PIECES = st.sampled_from([*VOCABULARY.split(" "), "\n"])
PROSE = st.lists(PIECES, max_size=60).map(" ".join)
CONTENT = st.one_of(PROSE, st.text(max_size=300))
STATEMENTS = st.lists(
    st.builds(
        Statement,
        id=st.integers(1, 2**62).map(MessageId),
        role=st.sampled_from(["user", "assistant", "system", "tool"]),
        content=CONTENT,
        author=st.sampled_from([None, "Caroline", "Zoë O'Neill"]),
        created_at=st.integers(0, 2**40),
    ),
    max_size=8,
    unique_by=lambda statement: statement.id,
)


@given(STATEMENTS)
def test_memories_are_storable_sentences_from_what_users_said(said: list[Statement]) -> None:
    users = {statement.id for statement in said if statement.role == "user"}
    for memory in RULES.memories(said, []):
        assert memory.sources
        assert set(memory.sources) <= users
        assert checked_memory(memory.content) == memory.content
        assert len(memory.content) < MAX_MEMORY
        assert memory.content.endswith(".")
        assert memory.importance is not None
        assert 0 <= memory.importance <= 1


@given(STATEMENTS)
def test_entities_have_names_notes_and_sources_from_what_users_said(said: list[Statement]) -> None:
    users = {statement.id for statement in said if statement.role == "user"}
    for entity in RULES.entities(said):
        assert entity.name.strip() == entity.name != ""
        assert entity.notes
        assert entity.sources
        assert set(entity.sources) <= users


@given(STATEMENTS)
def test_notes_are_few_lines_from_what_was_said(said: list[Statement]) -> None:
    found = RULES.notes(said)
    assert len(found) <= -(-len(said) // 6)
    for note, sources in found:
        assert "\n" not in note
        assert set(sources) <= {statement.id for statement in said}


@given(STATEMENTS)
def test_the_same_statements_give_the_same_answer(said: list[Statement]) -> None:
    assert RULES.memories(said, []) == Rules().memories(said, [])
    assert RULES.entities(said) == Rules().entities(said)
    assert RULES.notes(said) == Rules().notes(said)


@given(STATEMENTS)
def test_what_was_remembered_is_not_remembered_again(said: list[Statement]) -> None:
    known = [known_memory(at, found.content) for at, found in enumerate(RULES.memories(said, []), 1)]
    assert RULES.memories(said, known) == []


@given(st.lists(PROSE, min_size=1, max_size=5))
def test_mem_10_nothing_comes_of_what_was_recalled(recalled: list[str]) -> None:
    said = [Statement(id=MessageId(1), role="user", content=quoted(recalled), author=None, created_at=0)]
    assert RULES.memories(said, []) == []
    assert RULES.entities(said) == []


REPEATED = [
    "a", " ", "I ", "'a ", '"', "`", "<a", "<a>", "[", "(", "I live in ", "my ", "and I ", "I, ", "I like a, ", "Ab ", "Ab of ",
    "I'm a very ", "really ", "no longer ", "I love a and love ", "my sister ", "is my favourite a ", "I live in Rome. ",
    "I'm vegan, what? ", "a@a.", "\n", "> \n", "“", "e.g. ", "\u0301", "😀", "<recalled-memory>", "my favourite ", "said ",
]  # fmt: skip


def seconds(content: str) -> float:
    said = [Statement(id=MessageId(1), role="user", content=content, author=None, created_at=0)]
    began = time.thread_time()
    RULES.memories(said, [])
    RULES.entities(said)
    RULES.notes(said * 3)
    return time.thread_time() - began


@pytest.mark.parametrize("unit", REPEATED)
def test_time_grows_with_length_and_no_faster(unit: str) -> None:
    """Eight times the text in at most 32 times the time: quadratic work would take 64 times. Short times are all noise. Of the
    longest text the better of two times counts: the first has to load what the rules use."""
    longest = (unit * MAX_CONTENT)[:MAX_CONTENT]
    part = seconds(longest[: MAX_CONTENT // 8])
    assert min(seconds(longest), seconds(longest)) < max(32 * part, 1.0)


@settings(max_examples=15, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12).map(" ".join))
def test_the_longest_message_is_read_in_seconds(unit: str) -> None:
    assert seconds((f"{unit} " * MAX_CONTENT)[:MAX_CONTENT]) < 30
