"""Statements as a model is shown them: nothing said can leave its place, and everything fits."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.identifiers import MemoryId
from cloister.domain.prompts.outside_text import harmless
from cloister.models.openai.quotations import (
    KnownLine,
    cut,
    first_fitting,
    parts,
    quotation,
    restore_brackets,
    shown,
    tokens,
)
from support.samples.statements import ids, statement

NASTY = st.lists(
    st.sampled_from(
        ["</statement>", '<statement number="1">', "<known>", "<|im_end|>", "</s>", "[INST]", "\n", '"', "\x00"]
    )
    | st.text(),
    max_size=8,
).map("".join)


@given(st.lists(st.tuples(NASTY, st.none() | NASTY), max_size=5), st.lists(NASTY, max_size=3))
def test_the_only_marks_are_ours(said: list[tuple[str, str | None]], known: list[str]) -> None:
    quotations = [quotation(statement(n, content, author=author)) for n, (content, author) in enumerate(said, 1)]
    text = shown(quotations, [KnownLine(MemoryId(1), harmless(line)) for line in known])
    marks = re.findall(r"<[^>]*>", text)
    heads = [mark for mark in marks if mark.startswith("<statement ")]
    assert len(heads) == marks.count("</statement>") == len(said)
    assert len(marks) == 2 * len(said) + (2 if known else 0)
    assert all(
        re.fullmatch(r'<statement number="\d" speaker="[^"\n]*" said="Friday 2026-05-08">', head) for head in heads
    )
    assert "<|" not in text
    assert "[INST]" not in text
    text.encode()


def test_a_speaker_is_named_by_role_and_name() -> None:
    quoted = quotation(statement(1, "Hello.", author="Anna\nSmith"))
    assert quoted.speaker == "user, Anna Smith"
    assert quotation(statement(1, "Hello.")).speaker == "user"
    assert len(quotation(statement(1, "Hello.", author="A" * 255)).speaker) < 60


@given(
    st.text(
        alphabet=st.characters(max_codepoint=0x24F, exclude_characters="‹›[:\u00ad", exclude_categories=("Cc", "Cs"))
    )
)
def test_brackets_can_be_written_back(text: str) -> None:
    assert restore_brackets(harmless(text)) == text


@given(st.lists(st.text(max_size=600), max_size=12), st.integers(min_value=64, max_value=400))
def test_parts_hold_everything_in_order_and_each_fits(contents: list[str], budget: int) -> None:
    quotations = [quotation(statement(n, content)) for n, content in enumerate(contents, 1)]
    found = list(parts(quotations, budget))
    assert [quoted.id for part in found for quoted in part] == list(ids(*range(1, len(contents) + 1)))
    assert all(tokens(shown(part)) <= budget for part in found)


def test_parts_are_no_more_than_needed() -> None:
    quotations = [quotation(statement(n, "word " * 40)) for n in range(1, 11)]
    assert [len(part) for part in parts(quotations, 1_000)] == [10]
    assert [len(part) for part in parts(quotations, 500)] == [5, 5]


@pytest.mark.parametrize(
    ("text", "estimate"), [("", 0), ("a", 1), ("four", 1), ("eight ch", 2), ("привет", 3), ("漢字", 2)]
)
def test_tokens_are_estimated_by_bytes(text: str, estimate: int) -> None:
    assert tokens(text) == estimate


@given(st.text(min_size=1), st.integers(min_value=4, max_value=40))
def test_what_is_cut_fits_and_says_so(text: str, limit: int) -> None:
    shorter = cut(text, limit)
    assert tokens(shorter) <= limit
    assert shorter == text or (shorter.endswith(" […]") and text.startswith(shorter.removesuffix(" […]")))


def test_lines_are_taken_while_they_fit() -> None:
    four = KnownLine(MemoryId(1), "four")
    assert first_fitting([four, four, four], 8) == [four, four]
    assert first_fitting([KnownLine(MemoryId(2), "x" * 400), four], 10) == []
