"""What text may enter. Every refusal names its field, and what is accepted comes back unchanged."""

import json
import math
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.errors import CloisterError, InvalidRequest, TooLarge
from cloister.domain.text import (
    MAX_CONTENT,
    MAX_METADATA,
    MAX_NAME,
    MAX_TAGS,
    RESERVED_TAGS,
    checked_content,
    checked_limit,
    checked_metadata,
    checked_name,
    checked_tags,
)

Check = Callable[[str], object]
CONTENT: Check = lambda text: checked_content(text, "content")  # noqa: E731
NAME: Check = lambda text: checked_name(text, "title")  # noqa: E731
TAG: Check = lambda text: checked_tags([text])  # noqa: E731
CHECKS = [pytest.param(CONTENT, "content", id="content"), pytest.param(NAME, "title", id="name")]
CHECKS.append(pytest.param(TAG, "tags", id="tag"))


def refused(check: Check, text: str, kind: type[CloisterError] = InvalidRequest) -> Any:
    with pytest.raises(kind) as caught:
        check(text)
    return cast(Any, caught.value)


@pytest.mark.parametrize(("check", "field"), CHECKS)
@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u2003\u00a0", "\u3000"])
def test_text_without_a_visible_character_is_refused(check: Check, field: str, text: str) -> None:
    assert refused(check, text).field == field


@pytest.mark.parametrize(("check", "field"), CHECKS)
@pytest.mark.parametrize("text", ["\x00", "a\x00b", "after the end\x00"])
def test_a_nul_is_refused(check: Check, field: str, text: str) -> None:
    assert refused(check, text).field == field


@pytest.mark.parametrize(("check", "field"), CHECKS)
@pytest.mark.parametrize("text", ["\ud800", "half \udc00 a pair", "\udfff\ud800"])
def test_a_lone_surrogate_is_refused(check: Check, field: str, text: str) -> None:
    assert refused(check, text).field == field


@pytest.mark.parametrize(
    ("check", "field", "limit"),
    [
        pytest.param(CONTENT, "content", MAX_CONTENT, id="content"),
        pytest.param(NAME, "title", MAX_NAME, id="name"),
        pytest.param(TAG, "tags", MAX_NAME, id="tag"),
    ],
)
def test_text_may_be_as_long_as_the_limit_and_no_longer(check: Check, field: str, limit: int) -> None:
    check("é" * limit)
    assert refused(check, "é" * (limit + 1), TooLarge).field == field
    assert refused(check, " " * (limit + 1), TooLarge).field == field


@pytest.mark.parametrize("check", [NAME, TAG], ids=["name", "tag"])
@pytest.mark.parametrize("mark", ["\n", "\r", "\t", "\x1b", "\x07", "\x7f", "\x85", "\u2028", "\u2029"])
def test_a_name_is_one_line_without_control_characters(check: Check, mark: str) -> None:
    for text in (f"a{mark}b", f"{mark}a", f"a{mark}"):
        refused(check, text)


@pytest.mark.parametrize("mark", ["\u202a", "\u202b", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068"])
def test_a_name_cannot_turn_the_direction_of_the_text_around_it(mark: str) -> None:
    """A title that overrides direction could make a list of sessions read as something else."""
    refused(NAME, f"invoice{mark}fdp.exe")


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم",
        "👨‍👩‍👧",
        "東京　旅行",
        "100\u00a0km",
        "naïve café",
        "क्‍ष",
        "co\u00adoperate",
        "a" * MAX_NAME,
        "x y",
        "😶‍🌫️",
    ],
    ids=ascii,
)
def test_names_of_every_script_are_accepted_as_they_are(text: str) -> None:
    """Joiners and wide spaces are part of writing Persian, Hindi, Japanese and emoji, not control characters."""
    assert checked_name(text, "title") == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=300))
def test_all_other_content_comes_back_as_it_was(text: str) -> None:
    if text.isspace():
        refused(CONTENT, text)
    else:
        assert checked_content(text) == text


@given(st.text(min_size=0, max_size=300))
def test_a_check_either_returns_the_text_or_refuses_it(text: str) -> None:
    for check in (CONTENT, NAME):
        try:
            assert check(text) == text
        except (InvalidRequest, TooLarge):
            continue
        text.encode()
        assert "\x00" not in text


@pytest.mark.parametrize("prefix", RESERVED_TAGS)
@pytest.mark.parametrize("rest", ["", "x", "another tenant"])
def test_a_client_cannot_forge_an_infrastructure_tag(prefix: str, rest: str) -> None:
    """CTX-3."""
    problem = refused(TAG, prefix + rest)
    assert problem.field == "tags"
    assert prefix in problem.problem


@pytest.mark.parametrize("tag", ["Session:first", " session:first", "sess\u200bion:x", "USER:ann", "project :x"])
def test_a_tag_that_only_looks_like_an_infrastructure_tag_is_refused_too(tag: str) -> None:
    """CTX-3: whoever reads tags without regard to case, spaces or invisible characters must not be fooled."""
    assert refused(TAG, tag).field == "tags"


def test_tags_that_merely_contain_such_a_word_are_fine() -> None:
    assert checked_tags(["users:x", "my session:x", "projects", "session"]) == (
        "users:x",
        "my session:x",
        "projects",
        "session",
    )


def test_tags_keep_their_order_and_come_once() -> None:
    assert checked_tags(["b", "a", "b", "c", "a"]) == ("b", "a", "c")


def test_more_tags_than_the_limit_are_refused() -> None:
    assert len(checked_tags([f"tag {number}" for number in range(MAX_TAGS)])) == MAX_TAGS
    with pytest.raises(TooLarge):
        checked_tags([f"tag {number}" for number in range(MAX_TAGS + 1)])


def test_metadata_is_kept_as_a_json_object() -> None:
    given_metadata = {"source": "mail", "nested": {"deep": [1, 2.5, None, True, "ü"]}, "": "empty key", "nul": "\x00"}
    assert json.loads(checked_metadata(given_metadata)) == given_metadata


def nested(depth: int) -> dict[str, object]:
    inner: dict[str, object] = {}
    for _ in range(depth):
        inner = {"a": inner}
    return inner


def circular() -> dict[str, object]:
    loop: dict[str, object] = {}
    loop["itself"] = loop
    return loop


@pytest.mark.parametrize(
    "metadata",
    [
        {"a": math.nan},
        {"a": math.inf},
        {"a": object()},
        {"a": b"bytes"},
        {"a": {1, 2}},
        {"a": "\ud800"},
        {"\ud800": 1},
        {("a", "tuple"): 1},
        {1: "a", "b": 2},
        {None: "a"},
        {"a": {2: "nested"}},
        {"a": [{True: "in a list"}]},
        [],
        "text",
        17,
        circular(),
        nested(100_000),
    ],
    ids=lambda given_metadata: ascii(given_metadata)[:30] if not isinstance(given_metadata, dict) else "object",
)
def test_metadata_that_is_no_json_object_is_refused(metadata: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        checked_metadata(metadata)
    assert caught.value.field == "metadata"


def test_metadata_over_its_limit_is_refused() -> None:
    room = MAX_METADATA - len('{"a":""}')
    assert len(checked_metadata({"a": "x" * room})) == MAX_METADATA
    with pytest.raises(TooLarge):
        checked_metadata({"a": "x" * (room + 1)})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_all_other_metadata_reads_back_equal(metadata: dict[str, object]) -> None:
    try:
        kept = checked_metadata(metadata)
    except InvalidRequest as error:
        assert "surrogate" in error.problem
        return
    assert json.loads(kept) == metadata


@pytest.mark.parametrize("limit", [-1, 201, -(10**30), 10**30])
def test_a_limit_outside_its_bounds_is_refused(limit: int) -> None:
    with pytest.raises(InvalidRequest) as caught:
        checked_limit(limit, "limit", 200)
    assert caught.value.field == "limit"
    assert "200" in caught.value.problem


@pytest.mark.parametrize("limit", [0, 1, 200])
def test_a_limit_inside_its_bounds_is_kept(limit: int) -> None:
    assert checked_limit(limit, "limit", 200) == limit
