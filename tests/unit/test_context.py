"""Assembling a context: the two parts never overlap (CTX-1), come from chosen sources (CTX-2), and fit a budget (CTX-5)."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.context import (
    HIGHEST_LIMIT,
    Context,
    Derived,
    Item,
    Source,
    checked_limits,
    default_sources,
    parse_sources,
    with_limits,
)
from cloister.domain.conversation import Message
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId, SessionId, message_id
from cloister.domain.project_settings import checked_settings, context_sources
from cloister.domain.recall.assembly import TOKENS_AROUND_A_MESSAGE, Room, assemble

HERE = SessionId(5)
ELSEWHERE = SessionId(9)


def message(sequence: int, *, session: SessionId = HERE, tokens: int = 6, created_at: int = 0) -> Message:
    """With the tokens around it a message of 6 costs 10."""
    identity = message_id(session, sequence)
    return Message(
        id=identity,
        session=session,
        role="user",
        content=f"message {sequence}",
        author=None,
        status="completed",
        episode=identity,
        is_memory_checked=False,
        tokens=tokens,
        metadata={},
        created_at=created_at,
    )


def related(sequence: int, *, tokens: int = 6, created_at: int = 0, session: SessionId = ELSEWHERE) -> Item:
    found = message(sequence, session=session, tokens=tokens, created_at=created_at)
    return Item(message=found, session="elsewhere", source="semantic", score=1 / sequence)


def put_together(
    said: Sequence[Message] = (),
    history: Sequence[Item] = (),
    budget: int | None = None,
    derived: Derived | None = None,
) -> Context:
    return assemble(
        session="here", project=None, said=said, related=history, derived=derived or Derived(), room=Room(budget=budget)
    )


def left_out(conversation: int, history: int, *derived: int) -> dict[str, int]:
    memories, entities, observations = derived or (0, 0, 0)
    return {
        "current_conversation": conversation,
        "relevant_history": history,
        "memories": memories,
        "entities": entities,
        "observations": observations,
        "weak": 0,
        "duplicate": 0,
        "limit": 0,
        "budget": conversation + history + memories + entities + observations,
    }


def sequences(items: Sequence[Item]) -> list[int]:
    return [item.message.id & 0xFFFF for item in items]


def test_the_conversation_comes_in_the_order_it_was_said_whatever_order_it_was_read_in() -> None:
    """CTX-1."""
    context = put_together([message(3), message(1), message(2), message(1)])
    assert sequences(context.current_conversation) == [1, 2, 3]
    assert {item.source for item in context.current_conversation} == {"session"}
    assert {item.session for item in context.current_conversation} == {"here"}


def test_the_order_is_the_sequence_even_when_the_clock_went_backwards() -> None:
    """CTX-1."""
    said = [message(1, created_at=30), message(2, created_at=20), message(3, created_at=10)]
    context = put_together(said)
    assert sequences(context.current_conversation) == [1, 2, 3]
    assert sequences(context.chat_history) == [1, 2, 3]


def test_what_is_related_stays_best_first_and_comes_once() -> None:
    """CTX-1."""
    context = put_together([], [related(2), related(1), related(2), related(3)])
    assert sequences(context.relevant_history) == [2, 1, 3]


def test_what_is_in_the_conversation_is_not_related_to_it() -> None:
    """CTX-1: the two parts never overlap, also where the budget left a part of the conversation out (CTX-5)."""
    said = [message(1), message(2)]
    own = [related(1, session=HERE), related(2, session=HERE), related(7)]
    assert sequences(put_together(said, own).relevant_history) == [7]
    cut = put_together(said, own, budget=10)
    assert sequences(cut.current_conversation) == [2]
    assert sequences(cut.relevant_history) == []
    assert cut.omitted == left_out(1, 1)


def test_chat_history_is_both_with_the_related_oldest_first_and_the_conversation_last() -> None:
    """CTX-1."""
    said = [message(1, created_at=5), message(2, created_at=6)]
    history = [related(8, created_at=50), related(9, created_at=1)]
    context = put_together(said, history)
    assert sequences(context.chat_history) == [9, 8, 1, 2]
    assert {item.message.id for item in context.chat_history} == {
        item.message.id for item in (*context.current_conversation, *context.relevant_history)
    }


def test_the_conversation_comes_before_what_is_related_in_the_budget() -> None:
    """CTX-5."""
    context = put_together([message(1), message(2)], [related(8)], budget=20)
    assert sequences(context.current_conversation) == [1, 2]
    assert context.relevant_history == ()
    assert context.tokens == 20
    assert context.omitted == left_out(0, 1)


def test_what_stays_of_the_conversation_is_an_unbroken_end() -> None:
    """CTX-5: an old short message is not kept where a newer long one did not fit."""
    context = put_together([message(1, tokens=1), message(2, tokens=100), message(3)], budget=50)
    assert sequences(context.current_conversation) == [3]
    assert context.omitted["current_conversation"] == 2


def test_what_is_related_and_too_long_is_passed_over() -> None:
    """CTX-5."""
    context = put_together([message(1)], [related(7, tokens=100), related(8), related(9)], budget=25)
    assert sequences(context.relevant_history) == [8]
    assert context.omitted == left_out(0, 2)


def test_the_room_a_long_newest_message_leaves_goes_to_what_is_related() -> None:
    """CTX-5: the context still fits, and says that the whole conversation was left out."""
    context = put_together([message(1, tokens=100)], [related(7)], budget=50)
    assert context.current_conversation == ()
    assert sequences(context.relevant_history) == [7]
    assert context.omitted == left_out(1, 0)


def test_a_budget_of_nothing_leaves_everything_out() -> None:
    context = put_together([message(1, tokens=0)], [related(7, tokens=0)], budget=0)
    assert context.tokens == 0
    assert context.omitted == left_out(1, 1)


def test_nothing_is_left_out_without_a_budget() -> None:
    context = put_together([message(n, tokens=10**6) for n in range(1, 40)], [related(n) for n in range(1, 40)])
    assert context.omitted == left_out(0, 0)


COSTS = st.integers(0, 60)
SAID = st.lists(COSTS, max_size=12).map(lambda costs: [message(n, tokens=c) for n, c in enumerate(costs, 1)])
RELATED = st.lists(st.tuples(st.integers(1, 15), COSTS, st.sampled_from([HERE, ELSEWHERE])), max_size=15).map(
    lambda drawn: [related(n, tokens=c, session=where) for n, c, where in drawn]
)


def cost(items: Sequence[Item]) -> int:
    return sum(item.message.tokens + TOKENS_AROUND_A_MESSAGE for item in items)


@given(SAID, RELATED, st.none() | st.integers(0, 500))
def test_every_context_fits_its_budget_and_accounts_for_all_it_was_given(
    said: list[Message], history: list[Item], budget: int | None
) -> None:
    """CTX-1, CTX-5."""
    context = put_together(said, history, budget)
    current, relevant = context.current_conversation, context.relevant_history
    current_ids = [item.message.id for item in current]
    relevant_ids = [item.message.id for item in relevant]
    said_ids = [each.id for each in said]
    offered = list(dict.fromkeys(item.message.id for item in history if item.message.id not in said_ids))

    assert budget is None or context.tokens <= budget
    assert context.tokens == cost(current) + cost(relevant)
    assert not set(current_ids) & set(relevant_ids)
    assert current_ids == said_ids[len(said_ids) - len(current_ids) :]
    assert relevant_ids == [identity for identity in offered if identity in relevant_ids]
    assert context.omitted == left_out(len(said) - len(current), len(offered) - len(relevant))
    assert sorted(item.message.id for item in context.chat_history) == sorted(current_ids + relevant_ids)


@given(SAID, RELATED, st.integers(0, 500))
def test_no_more_of_the_conversation_would_have_fitted(said: list[Message], history: list[Item], budget: int) -> None:
    """CTX-5: current conversation first, as much of its end as there is room for."""
    context = put_together(said, history, budget)
    left_out = len(said) - len(context.current_conversation)
    if left_out:
        following = said[left_out - 1].tokens + TOKENS_AROUND_A_MESSAGE
        assert cost(context.current_conversation) + following > budget


@given(SAID, RELATED, st.integers(0, 500))
def test_what_was_passed_over_did_not_fit_when_its_turn_came(
    said: list[Message], history: list[Item], budget: int
) -> None:
    """CTX-5."""
    context = put_together(said, history, budget)
    spoken = {each.id for each in said}
    chosen = {item.message.id for item in context.relevant_history}
    room = budget - cost(context.current_conversation)
    once = {item.message.id: item for item in reversed(history) if item.message.id not in spoken}
    in_order = [item for item in dict.fromkeys(item.message.id for item in history) if item in once]

    def packing_order(identity: MessageId) -> float:
        """Length counts a little (CTX-8)."""
        item = once[identity]
        return -(item.score or 0) / (item.message.tokens + TOKENS_AROUND_A_MESSAGE) ** 0.02

    for identity in sorted(in_order, key=packing_order):
        price = once[identity].message.tokens + TOKENS_AROUND_A_MESSAGE
        assert (identity in chosen) == (price <= room)
        room -= price if identity in chosen else 0


def test_the_default_sources_are_twenty_recent_and_ten_semantic_of_each_role() -> None:
    """CTX-2."""
    assert {(s.role, s.method, s.limit, s.conversation_scope) for s in default_sources()} == {
        ("user", "recent", 20, "current"),
        ("assistant", "recent", 20, "current"),
        ("user", "semantic", 10, "pool"),
        ("assistant", "semantic", 10, "pool"),
    }


def test_a_request_can_change_the_limit_of_each_method() -> None:
    """CTX-2."""
    changed = with_limits(default_sources(), checked_limits(3, None))
    assert [source.limit for source in changed] == [3, 3, 10, 10]
    assert [source.limit for source in with_limits(default_sources(), checked_limits(None, 0))] == [20, 20, 0, 0]
    assert with_limits(default_sources(), checked_limits(None, None)) == default_sources()


@pytest.mark.parametrize("limit", [-1, HIGHEST_LIMIT + 1, 10**30])
def test_a_limit_out_of_bounds_is_refused_by_its_name(limit: int) -> None:
    """CTX-2."""
    for given_limits, field in (((limit, None), "recent_limit"), ((None, limit), "semantic_limit")):
        with pytest.raises(InvalidRequest) as caught:
            checked_limits(*given_limits)
        assert caught.value.field == field


def test_sources_can_be_given_with_what_is_left_out_as_the_method_suggests() -> None:
    """CTX-2."""
    given_sources = [{"role": "system", "method": "recent"}, {"role": "user", "method": "semantic", "limit": 0}]
    assert parse_sources(given_sources, "sources") == (
        Source(role="system", method="recent", limit=20, conversation_scope="current"),
        Source(role="user", method="semantic", limit=0, conversation_scope="pool"),
    )


GOOD: dict[str, object] = {"role": "user", "method": "recent", "limit": 1, "conversation_scope": "current"}


@pytest.mark.parametrize(
    ("given_sources", "field"),
    [
        ("recent", "sources"),
        ({"role": "user"}, "sources"),
        (5, "sources"),
        (None, "sources"),
        ([GOOD] * 17, "sources"),
        (["recent"], "sources[0]"),
        ([GOOD, None], "sources[1]"),
        ([{**GOOD, "role": "root"}], "sources[0].role"),
        ([{**GOOD, "role": None}], "sources[0].role"),
        ([{**GOOD, "role": ["user"]}], "sources[0].role"),
        ([{**GOOD, "method": "all"}], "sources[0].method"),
        ([{**GOOD, "conversation_scope": "tenant"}], "sources[0].conversation_scope"),
        ([{**GOOD, "conversation_scope": "everything"}], "sources[0].conversation_scope"),
        ([{**GOOD, "limit": -1}], "sources[0].limit"),
        ([{**GOOD, "limit": 10**30}], "sources[0].limit"),
        ([{**GOOD, "limit": True}], "sources[0].limit"),
        ([{**GOOD, "limit": 1.5}], "sources[0].limit"),
        ([{**GOOD, "limit": "5"}], "sources[0].limit"),
        ([{**GOOD, "tenant_id": 7}], "sources[0].tenant_id"),
        ([{**GOOD, 7: "x", "project": "y"}], "sources[0].7"),
    ],
)
def test_a_source_that_is_none_is_refused_and_there_is_no_way_to_name_another_scope(
    given_sources: Any, field: str
) -> None:
    """CTX-2, ISO-4: a source reaches this session or its pool; there is no word for more."""
    with pytest.raises(InvalidRequest) as caught:
        parse_sources(given_sources, "sources")
    assert caught.value.field == field


def test_a_projects_sources_are_checked_when_they_are_set() -> None:
    """CTX-2."""
    assert context_sources(checked_settings({"context_sources": [GOOD]})) == parse_sources([GOOD], "sources")
    assert context_sources(checked_settings({})) is None
    with pytest.raises(InvalidRequest) as caught:
        checked_settings({"context_sources": [{**GOOD, "limit": -1}]})
    assert caught.value.field == "settings.context_sources[0].limit"


@pytest.mark.parametrize("name", ["isolated", "member_visibility", "tenant_id", ""])
def test_a_project_has_no_setting_that_could_open_its_walls(name: str) -> None:
    """ISO-2."""
    with pytest.raises(InvalidRequest) as caught:
        checked_settings({name: False})
    assert caught.value.field == f"settings.{name}"
