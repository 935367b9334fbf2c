"""Paths and filters of entries, compared with LangGraph's own reading of them, and namespaces (DOOR-4)."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import get_text_at_path
from langgraph.store.memory import InMemoryStore

from cloister.domain.entries.namespace import decoded, encoded, range_of
from cloister.domain.entries.operations import put_entry, search_entries
from cloister.domain.entries.paths import LONGEST_PATH, MOST_TEXTS, texts_at
from cloister.domain.entries.value_filter import checked_value_filter, passes
from cloister.domain.errors import CloisterError, InvalidRequest

NAMES = st.sampled_from(["a", "b", "c"])
LEAVES = st.none() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["x", "y"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=12
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)
STEPS = st.sampled_from(["a", ".b", ".c", "[0]", "[-1]", "[*]", ".*", "[9]", ".a.b"])
PATHS = st.just("$") | st.lists(STEPS, min_size=1, max_size=4).map("".join) | st.just("{a,b}") | st.just("{a, c.b}")


@settings(max_examples=300, deadline=None)
@given(value=OBJECTS, path=PATHS)
def test_a_path_leads_to_the_texts_that_langgraph_finds(value: dict[str, Any], path: str) -> None:
    theirs = [text for text in get_text_at_path(value, path) if text.strip()]
    assert texts_at(json.dumps(value), [path]) == list(dict.fromkeys(theirs))


CONDITIONS = (
    VALUES
    | st.dictionaries(st.sampled_from(["$eq", "$ne"]), LEAVES, min_size=1)
    | st.dictionaries(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), st.integers(-3, 3), min_size=1)
)


@settings(max_examples=300, deadline=None)
@given(value=OBJECTS, wanted=st.dictionaries(NAMES, CONDITIONS, max_size=2))
def test_a_filter_lets_pass_what_langgraphs_memory_store_finds(value: dict[str, Any], wanted: dict[str, Any]) -> None:
    store = InMemoryStore()
    store.put(("n",), "k", value)
    try:
        theirs = bool(store.search(("n",), filter=wanted))
    except (TypeError, ValueError):
        return  # it compares what has no order; ours does not match
    assert passes(value, checked_value_filter(wanted)) == theirs


def test_a_dotted_key_is_a_key_first_and_a_path_otherwise() -> None:
    assert passes({"a.b": 1, "a": {"b": 2}}, {"a.b": 1})
    assert passes({"a": {"b": 2}}, {"a.b": {"$gt": 1}})
    assert not passes({"a": [1]}, {"a.b": 1})
    assert not passes({"a": True}, {"a": 1}), "true is not 1 in JSON"
    assert not passes({"a": "2"}, {"a": {"$gt": 1}}), "a text and a number have no order"


@pytest.mark.parametrize(
    "hostile",
    ["[" * LONGEST_PATH, "{" * LONGEST_PATH, "." * LONGEST_PATH, "*." * 127, "[99999999999999999999]", "a[-]"],
)
def test_iso_13_a_path_of_any_form_leads_somewhere_or_nowhere(hostile: str) -> None:
    value = json.dumps({"a": [[["x"] * 50] * 50] * 50, "b": "y" * 100_000})
    assert len(texts_at(value, [hostile, "a[*][*][*]"])) <= MOST_TEXTS


@pytest.mark.parametrize(
    "paths", [["$"] * 32, ["{" + "a," * 120 + "a}"] * 32, ["a" + ".a" * depth for depth in range(31)]]
)
def test_iso_13_texts_are_not_much_longer_than_their_value(paths: list[str]) -> None:
    value: Any = "y" * 2_000
    for _ in range(31):
        value = {"a": value}
    encoded = json.dumps(value)
    assert sum(map(len, texts_at(encoded, paths))) <= 4 * len(encoded)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "hostile", [nested(33), nested(5_000), {"a": float("nan")}, {"a": "\ud800"}, {1: 2}, {"a": {1}}]
)
def test_iso_13_what_is_too_deep_or_no_json_is_refused(hostile: Any) -> None:
    with pytest.raises(InvalidRequest):
        put_entry(["n"], "k", hostile)


@pytest.mark.parametrize("hostile", [nested(40), {"a": [0] * 101}, {"a": {"$gt": 1, "b": 2}}, {"$and": []}, {1: 2}])
def test_iso_13_a_filter_is_bounded(hostile: Any) -> None:
    with pytest.raises(CloisterError):
        search_entries((), filter=hostile)


LABELS = st.lists(st.text(st.characters(exclude_characters=".\x00", exclude_categories=["Cs"]), min_size=1), max_size=4)


@settings(max_examples=300, deadline=None)
@given(first=LABELS, second=LABELS)
def test_iso_4_a_range_of_namespaces_has_those_with_the_same_first_labels_and_no_others(
    first: list[str], second: list[str]
) -> None:
    namespace, prefix = tuple(first), tuple(second)
    assert decoded(encoded(namespace)) == namespace
    begin, end = range_of(prefix)
    for each in (namespace, prefix + namespace):
        if each:
            assert (begin <= encoded(each) < end) == (each[: len(prefix)] == prefix)
