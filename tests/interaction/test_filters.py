"""Filters and categories, through every way in (MEM-14)."""

from typing import Any

import pytest

from cloister import Cloister, InvalidRequest
from support.clients.entry_points import PROGRAMS, every_way, only

QUESTION = "Which lamp does the kitchen need?"


def tell(memory: Cloister) -> None:
    memory.create_session("tells", user_id="ada")
    memory.create_session("asks", user_id="ada")
    memory.record("tells", "user", "The kitchen needs a green lamp.", categories=["home", "lamps"])
    memory.record("tells", "user", "The office needs a blue lamp.", author="Ada", categories=["work"])
    memory.record("tells", "assistant", "A lamp for the kitchen is noted.")


@every_way
def test_mem_14_what_is_labelled_is_found_by_its_label(memory: Cloister) -> None:
    tell(memory)
    assert [message.categories for message in memory.messages("tells")] == [("home", "lamps"), ("work",), ()]

    def searched(filter: dict[str, Any]) -> set[str]:
        return {hit.content for hit in memory.search(QUESTION, user_id="ada", min_relevance=0, filter=filter)}

    assert searched({"category": "work"}) == {"The office needs a blue lamp."}
    assert searched({"or": [{"category": "lamps"}, {"author": "Ada"}]}) == {
        "The kitchen needs a green lamp.",
        "The office needs a blue lamp.",
    }
    assert searched({"session_id": "nowhere"}) == set()
    context = memory.context("asks", QUESTION, min_relevance=0, filter={"not": {"role": "user"}})
    assert [item.content for item in context.relevant_history] == ["A lamp for the kitchen is noted."]


@every_way
def test_mem_14_lists_take_filters_and_their_cursors_belong_to_them(memory: Cloister) -> None:
    tell(memory)
    memory.add_memories("tells", ["Ada likes lamps.", "Ada likes lanterns."])
    page = memory.messages("tells", filter={"role": "user"}, limit=1)
    assert [message.content for message in page] == ["The kitchen needs a green lamp."]
    rest = memory.messages("tells", filter={"role": "user"}, cursor=page.next_cursor)
    assert [message.content for message in rest] == ["The office needs a blue lamp."]
    assert rest.next_cursor is None
    kept = memory.memories("tells", filter={"kind": "memory", "session_id": "tells"})
    assert [stored.content for stored in kept] == ["Ada likes lamps.", "Ada likes lanterns."]
    assert memory.memories("tells", filter={"role": "user"}) == []
    assert len(memory.user_memories("ada", filter={"user_id": "ada"})) == 2
    assert memory.user_memories("ada", filter={"user_id": "bo"}) == []


@only(PROGRAMS)
def test_mem_14_a_cursor_of_another_filter_is_refused(memory: Cloister) -> None:
    tell(memory)
    page = memory.messages("tells", filter={"role": "user"}, limit=1)
    for filter in (None, {"role": "assistant"}):
        with pytest.raises(InvalidRequest, match="cursor"):
            memory.messages("tells", filter=filter, cursor=page.next_cursor)


@every_way
@pytest.mark.parametrize(
    ("filter", "field"),
    [
        ({"rolle": "user"}, "filter.rolle"),
        ({"and": [{"role": "user"}, {"kind": "thing"}]}, r"filter.and\[1\].kind"),
        ({}, "filter"),
    ],
)
def test_mem_14_a_wrong_filter_is_refused_by_its_path(memory: Cloister, filter: dict[str, Any], field: str) -> None:
    tell(memory)
    for asking in (
        lambda: memory.search(QUESTION, user_id="ada", filter=filter),
        lambda: memory.context("asks", QUESTION, filter=filter),
        lambda: memory.messages("tells", filter=filter),
        lambda: memory.memories("tells", filter=filter),
    ):
        with pytest.raises(InvalidRequest, match=field):
            asking()


@only(PROGRAMS)
def test_mem_14_metadata_and_times_of_messages_can_be_asked_for(memory: Cloister) -> None:
    memory.create_session("tells")
    drafts = [
        {"role": "user", "content": "An old lamp.", "created_at": "2020-01-01T00:00:00Z", "metadata": {"n": 1}},
        {"role": "user", "content": "A new lamp.", "created_at": "2026-01-01T00:00:00Z", "categories": ["lamps"]},
    ]
    recorded = memory.record_batch("tells", drafts)
    assert [message.categories for message in recorded] == [(), ("lamps",)]
    for filter, found in (
        ({"created_after": "2020-01-01T00:00:00Z"}, ["A new lamp."]),
        ({"created_before": "2020-01-01T00:00:01Z"}, ["An old lamp."]),
        ({"metadata": {"n": 1.0}}, ["An old lamp."]),
        ({"metadata": {"n": True}}, []),
    ):
        assert [message.content for message in memory.messages("tells", filter=filter)] == found


@only(PROGRAMS)
@pytest.mark.parametrize("categories", [["x" * 65], [f"label {number}" for number in range(17)], ["a\nb"], [""]])
def test_mem_14_categories_are_bounded(memory: Cloister, categories: list[str]) -> None:
    memory.create_session("tells")
    with pytest.raises(Exception, match="categories"):
        memory.record("tells", "user", "A lamp.", categories=categories)
    assert memory.messages("tells") == []


@only(PROGRAMS)
def test_mem_14_a_repeated_request_with_other_categories_is_another_request(memory: Cloister) -> None:
    memory.create_session("tells")
    first = memory.record("tells", "user", "A lamp.", categories=["home"], idempotency_key="once")
    assert memory.record("tells", "user", "A lamp.", categories=["home"], idempotency_key="once") == first
    with pytest.raises(InvalidRequest):
        memory.record("tells", "user", "A lamp.", categories=["work"], idempotency_key="once")
