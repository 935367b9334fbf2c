"""Filters: their JSON language is checked and bounded, and the evaluators mean the same (MEM-14)."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.errors import InvalidRequest
from cloister.domain.recall.filter import (
    And,
    Condition,
    Entry,
    Filter,
    FilteredRow,
    Not,
    Or,
    asks_for,
    created_range,
    matches,
    may_match_unlabelled,
    possible,
    same_json,
    selected,
)
from cloister.domain.recall.filter_language import (
    DEEPEST,
    LONGEST_TEXT,
    MOST_CONDITIONS,
    filter_identity,
    parse_filter,
    parse_filter_text,
)
from cloister.domain.timestamps import parse_iso
from support.samples.filters import AUTHORS, CATEGORIES, ENTRIES, FILTERS, SESSIONS, TIMES, USERS

ROWS = st.builds(
    FilteredRow,
    kind=st.sampled_from(("message", "memory", "entity")),
    created_at=st.sampled_from(TIMES).flatmap(
        lambda time: st.sampled_from([parse_iso(time, "time") + shift for shift in (-1, 0, 1)])
    ),
    session=st.sampled_from(SESSIONS),
    user=st.one_of(st.none(), st.sampled_from(USERS)),
    role=st.one_of(st.none(), st.sampled_from(("user", "assistant"))),
    author=st.one_of(st.none(), st.sampled_from(AUTHORS)),
    categories=st.lists(st.sampled_from(CATEGORIES), max_size=2),
    metadata=ENTRIES,
)


def plainly(wanted: dict[str, Any], row: FilteredRow) -> bool:
    """What a filter means, read from its JSON, without the tree."""
    return all(_fulfils(key, value, row) for key, value in wanted.items())


def _fulfils(key: str, value: Any, row: FilteredRow) -> bool:
    match key:
        case "and":
            return all(plainly(part, row) for part in value)
        case "or":
            return any(plainly(part, row) for part in value)
        case "not":
            return not plainly(value, row)
        case "created_after":
            return row.created_at > parse_iso(value, key)
        case "created_before":
            return row.created_at < parse_iso(value, key)
        case "category":
            return value in row.categories
        case "metadata":
            own = {name: canonical(entry) for name, entry in row.metadata.items()}
            return all(own.get(name) == canonical(entry) for name, entry in value.items())
        case "kind":
            return row.kind == {"episode": "message"}.get(value, value)
        case _:
            return getattr(row, key.removesuffix("_id")) == value


def canonical(value: object) -> str:
    """JSON in one form: whole floats as integers, names in order."""
    return json.dumps(1 if type(value) is float and value == 1 else value, sort_keys=True)


@given(FILTERS, st.lists(ROWS, max_size=6))
def test_mem_14_every_evaluator_means_what_the_json_says(wanted: dict[str, Any], rows: list[FilteredRow]) -> None:
    tree = parse_filter(wanted)
    expected = [plainly(wanted, row) for row in rows]
    assert [matches(tree, row) for row in rows] == expected
    masks = selected(tree, lambda condition: np.array([matches(condition, row) for row in rows], np.bool_))
    assert masks.tolist() == expected


@given(FILTERS, ROWS)
def test_mem_14_no_row_that_matches_is_left_unread(wanted: dict[str, Any], row: FilteredRow) -> None:
    """The bounds by which queries leave out rows are never too narrow."""
    tree = parse_filter(wanted)

    def of_session(condition: Condition) -> bool | None:
        return matches(condition, row) if condition.field in ("session_id", "user_id") else None

    assert possible(tree, lambda condition: matches(condition, row)) is matches(tree, row)
    if matches(tree, row):
        first, last = created_range(tree)
        assert first <= row.created_at <= last
        assert possible(tree, of_session) is not False
        assert may_match_unlabelled(tree) or row.categories or row.metadata


@given(FILTERS)
def test_mem_14_a_filter_is_the_same_as_json_text(wanted: dict[str, Any]) -> None:
    parsed = parse_filter(wanted)
    assert parse_filter_text(json.dumps(wanted)) == parsed
    assert filter_identity(parse_filter_text(json.dumps(wanted))) == filter_identity(parsed) != filter_identity(None)
    assert hash(parsed) == hash(parse_filter(wanted))


def test_mem_14_several_conditions_of_one_object_must_all_be_true() -> None:
    assert parse_filter({"role": "user", "metadata": {"a": 1, "b": None}}) == And(
        (
            Condition("role", "user"),
            Condition("metadata", Entry("a", 1, "1")),
            Condition("metadata", Entry("b", None, "null")),
        )
    )
    assert parse_filter({"or": [{"role": "user"}, {"not": {"category": "x"}}]}) == Or(
        (Condition("role", "user"), Not(Condition("category", "x")))
    )


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [
        ({"created_after": TIMES[0], "created_before": TIMES[1]}, 1, 86_400_000_000 - 1),
        ({"not": {"created_after": TIMES[0]}}, None, 0),
        ({"not": {"or": [{"created_before": TIMES[0]}, {"created_after": TIMES[1]}]}}, 0, 86_400_000_000),
        ({"or": [{"created_before": TIMES[0]}, {"role": "user"}]}, None, None),
    ],
)
def test_mem_14_the_times_of_a_filter_are_known_before_rows_are_read(
    wanted: dict[str, Any], first: int | None, last: int | None
) -> None:
    start = parse_iso(TIMES[0], "time")
    found = created_range(parse_filter(wanted))
    assert (first is None or found[0] == start + first) and (last is None or found[1] == start + last)
    assert (found[0] < 0) is (first is None) and (found[1] > 1 << 60) is (last is None)


def test_mem_14_a_filter_that_no_time_fits_reads_no_rows() -> None:
    first, last = created_range(parse_filter({"created_after": TIMES[1], "created_before": TIMES[0]}))
    assert first > last


def nested(depth: int) -> dict[str, Any]:
    return {"role": "user"} if depth == 1 else {"not": nested(depth - 1)}


WRONG: list[tuple[Any, str, str]] = [
    ([], "filter", "object of conditions"),
    ("role", "filter", "object of conditions"),
    ({}, "filter", "at least one condition"),
    ({"rolle": "user"}, "filter.rolle", "is not known to filters, which know created_after"),
    ({"or": [{"role": "user"}, {"title": "x"}]}, "filter.or[1].title", "is not known"),
    ({"not": {"and": [{"role": "king"}]}}, "filter.not.and[0].role", "must be one of user"),
    ({"role": None}, "filter.role", "must be one of"),
    ({"role": ["user"]}, "filter.role", "must be one of"),
    ({"kind": "memories"}, "filter.kind", "must be one of message"),
    ({"kind": {}}, "filter.kind", "must be one of message"),
    ({"created_after": "yesterday"}, "filter.created_after", "is not a time"),
    ({"created_before": 17}, "filter.created_before", "must be a time"),
    ({"session_id": 17}, "filter.session_id", "must be text"),
    ({"session_id": "a\nb"}, "filter.session_id", "one line"),
    ({"user_id": "\x00"}, "filter.user_id", "NUL"),
    ({"user_id": "x" * 256}, "filter.user_id", "limit is 255"),
    ({"author": "\ud800"}, "filter.author", "surrogate"),
    ({"category": "x" * 65}, "filter.category", "limit is 64"),
    ({"category": ""}, "filter.category", "empty"),
    ({"metadata": {}}, "filter.metadata", "at least one entry"),
    ({"metadata": "source"}, "filter.metadata", "at least one entry"),
    ({"metadata": {"a": float("nan")}}, "filter.metadata", "JSON"),
    ({"metadata": {"a": "x" * 20_000}}, "filter.metadata", "limit is 16,384"),
    ({"metadata": {1: "x"}}, "filter.metadata", "not a string"),
    ({"and": []}, "filter.and", "list of at least one"),
    ({"or": {"role": "user"}}, "filter.or", "list of at least one"),
    ({"or": "role"}, "filter.or", "list of at least one"),
    ({"not": [{"role": "user"}]}, "filter.not", "object of conditions"),
    (nested(DEEPEST + 1), "filter" + DEEPEST * ".not", f"more than {DEEPEST} deep"),
    ({"or": [{"role": "user"}] * (MOST_CONDITIONS + 1)}, "filter.or", "at most 50"),
    ({"metadata": {str(key): 1 for key in range(MOST_CONDITIONS + 1)}}, "filter.metadata", "at most 50"),
    ({"and": [{"or": [{"role": "user"}] * 26}, {"or": [{"role": "user"}] * 25}]}, "filter.and[1].or[24].role", "50"),
]


@pytest.mark.parametrize(("wanted", "field", "problem"), WRONG)
def test_mem_14_a_wrong_filter_is_refused_with_the_path_of_its_field(wanted: Any, field: str, problem: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_filter(wanted)
    assert refused.value.field == field
    assert problem in refused.value.problem


def test_mem_14_the_largest_filters_are_taken() -> None:
    parse_filter(nested(DEEPEST))
    parse_filter({"or": [{"role": "user"}] * MOST_CONDITIONS})


@pytest.mark.parametrize(
    "text",
    [
        "role",
        "{",
        "[" * 100_000,
        '{"role": "user", "role": "assistant"}',
        '{"metadata": {"a": NaN}}',
        '{"metadata": {"a": ' + "9" * 5_000 + "}}",
        " " * (LONGEST_TEXT + 1),
        '{"\ud800": 1}',
    ],
)
def test_mem_14_what_is_no_json_object_of_a_filter_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"^filter"):
        parse_filter_text(text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, False, False),
        ([1, [True]], [1.0, [True]], True),
        ([1, [True]], [1, [1]], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ("1", 1, False),
        (2**63 + 1, float(2**63 + 1), False),
    ],
)
def test_mem_14_metadata_is_equal_as_json(one: object, other: object, same: bool) -> None:
    assert same_json(one, other) is same and same_json(other, one) is same


def test_mem_14_a_filter_says_which_fields_it_asks_for() -> None:
    wanted: Filter = parse_filter({"not": {"or": [{"role": "user"}, {"metadata": {"a": 1}}]}})
    assert asks_for(wanted, "metadata", "category") and not asks_for(wanted, "session_id", "user_id")
