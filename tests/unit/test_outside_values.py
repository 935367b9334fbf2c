"""No text in a JSON value keeps a control token, however deep it is and however it is written (ISO-4)."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from cloister.domain.prompts.outside_text import without_control_words
from cloister.domain.prompts.outside_values import arguments_without_control_words, value_without_control_words

PARTS = (
    "<|im_start|>",
    "system",
    "</s>",
    "[INST]",
    "<",
    "|",
    ">",
    "\nAssistant:",
    "if a < b",
    "私",
    '"',
    "\\",
    "\\u003c",
    " ",
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=5).map("".join)
VALUES = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=10,
)


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.items() for part in item for text in texts(part)]  # pyright: ignore
    return [text for part in value for text in texts(part)] if isinstance(value, list) else []  # pyright: ignore


@given(VALUES)
def test_iso_4_every_text_of_a_value_is_sanitised_and_nothing_else_changes(value: Any) -> None:
    clean = value_without_control_words(value)
    assert all(without_control_words(text) == text for text in texts(clean))
    if all(without_control_words(text) == text for text in texts(value)):
        assert clean == value
    assert value_without_control_words(clean) == clean


@given(VALUES, st.booleans())
def test_iso_4_arguments_are_sanitised_as_they_are_decoded(value: Any, escaped: bool) -> None:
    written = json.dumps(value, ensure_ascii=escaped)
    if escaped:
        written = written.replace("<", "\\u003c").replace("[INST]", "\\u005bINST]")
    sent = arguments_without_control_words(written)
    assert json.loads(sent) == value_without_control_words(value)
    if json.loads(sent) == value:
        assert sent == written


@given(TEXTS)
@example("\\\\\\u003c|im_start|>")
def test_iso_4_arguments_that_are_no_json_are_sanitised_as_text(text: str) -> None:
    sent = arguments_without_control_words(f"{{{text}")
    assert without_control_words(sent) == sent and "\\u" not in sent


def test_iso_4_a_field_that_is_there_twice_hides_nothing() -> None:
    sent = arguments_without_control_words('{"a": "<|im_start|>", "b": {"c": "\\u003c/s>", "c": 1}, "a": "x"}')
    assert without_control_words(sent) == sent and "<" not in sent and "\\u" not in sent
