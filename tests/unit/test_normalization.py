"""Normal forms are those of Unicode, but take linear time."""

import unicodedata
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.domain.normalization import normalized

Form = Literal["NFC", "NFKC", "NFD", "NFKD"]
FORMS: list[Form] = ["NFC", "NFKC", "NFD", "NFKD"]
UNITS = [
    "a",
    "é",
    "e\u0301",
    "u\u0308\u0304",
    "カ\u3099",
    "\u1112\u1161\u11ab",
    "ﬃ",
    "Å",
    "한",
    " ",
    "中",
    "ß",
    "\u0344",
]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(UNITS), min_size=1, max_size=8).map("".join), st.integers(0, 7))
def test_the_normal_form_of_a_long_text_is_that_of_unicode(form: Form, unit: str, shift: int) -> None:
    text = "x" * shift + unit * 700
    assert normalized(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
@given(st.text(max_size=200))
def test_the_normal_form_of_a_short_text_is_that_of_unicode(form: Form, text: str) -> None:
    assert normalized(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_more_marks_than_any_script_has_are_all_there(form: Form) -> None:
    text = "a" + "\u0301\u0316" * 6_000
    assert sorted(normalized("NFD", normalized(form, text))) == sorted(unicodedata.normalize("NFD", text))
