"""The tools of MCP as they are listed, and the limits of their answers, without a server."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.errors import CloisterError
from cloister.domain.prompts.outside_text import harmless
from cloister.domain.text import CHARACTERS_A_TOKEN
from cloister.interfaces.mcp import calls
from cloister.interfaces.mcp.arguments import checked_arguments
from cloister.interfaces.mcp.limits import ANSWER_TOKENS, excerpt, fitting, last_lines, part_of, title_of, tokens_of
from cloister.interfaces.mcp.tools import TOOLS, Tool

SCOPE_WORDS = {"tenant", "project", "user", "session", "scope", "namespace"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def test_every_listed_tool_is_carried_out() -> None:
    assert vars(calls)["_CALLS"].keys() == TOOLS.keys()


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_no_tool_has_an_argument_for_the_scope(tool: Tool) -> None:
    """DOOR-1: and every argument has a description and a bound."""
    words = {word for name in tool.arguments for word in name.split("_")}
    assert not words & (SCOPE_WORDS - {"user"}) and "user_id" not in tool.arguments
    assert tool.input_schema["additionalProperties"] is False
    for schema in tool.arguments.values():
        assert schema["description"]
        assert {"maxLength", "maximum", "maxItems"} & schema.keys()
    assert len(tool.description) > 40


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
@given(
    arguments=st.dictionaries(st.sampled_from(["query", "limit", "id", "x", "user_id"]) | st.text(), JSON, max_size=4)
)
def test_whatever_is_passed_is_taken_or_refused_in_words(tool: Tool, arguments: dict[str, Any]) -> None:
    """ISO-13: and what is taken has every argument, so that a call cannot miss one."""
    try:
        checked = checked_arguments(tool, arguments)
    except CloisterError as error:
        assert 0 < len(str(error)) < 400
    else:
        assert checked.keys() == tool.arguments.keys()
        assert arguments.keys() <= tool.arguments.keys()


@given(items=st.lists(st.dictionaries(st.just("content"), st.text(max_size=2_000), min_size=1), max_size=60))
def test_an_answer_stays_within_its_tokens(items: list[Mapping[str, Any]]) -> None:
    """DOOR-1: at most 2,000 tokens, and at least one item."""
    shown = fitting(items)
    assert shown == items[: len(shown)] and bool(shown) == bool(items)
    if len(shown) > 1:
        assert len(json.dumps(shown, ensure_ascii=False)) <= ANSWER_TOKENS * CHARACTERS_A_TOKEN


@given(content=st.text(max_size=5_000), query=st.text(max_size=200))
def test_an_excerpt_is_short_and_of_the_content(content: str, query: str) -> None:
    part, is_cut = excerpt(content, query)
    assert len(part) <= 642
    assert part.strip("…") in content if is_cut else part == content


def test_an_excerpt_shows_the_words_that_were_asked_for() -> None:
    content = "x " * 5_000 + "the spare key hangs behind the clock" + " y" * 5_000
    assert "behind the clock" in excerpt(content, "Where is the spare key?")[0]


@given(text=st.text(min_size=1, max_size=30_000))
def test_the_parts_of_a_text_are_the_whole(text: str) -> None:
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part, offset = part_of(text, offset)
        parts.append(part)
    assert "".join(parts) == text


def test_a_title_is_one_short_line() -> None:
    assert title_of("  The first line.\nThe second.") == "The first line."
    assert len(title_of("x" * 500)) == 80


def test_the_last_lines_are_kept_whole_and_a_line_that_is_too_long_is_cut() -> None:
    long = "私" * 5_800
    assert last_lines(["old " * 2_000, "newer", "newest"], 2_000) == ["newer", "newest"]
    assert last_lines(["old", long], 2_000) == ["私" * 1_999]
    assert last_lines([long, "newest"], 2_000) == ["newest"]
    assert tokens_of(harmless("".join(last_lines(["<" * 9_000], 2_000)))) <= 2_000
