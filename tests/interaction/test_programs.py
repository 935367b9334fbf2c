"""Conversations that only programs hold: no command names idempotency keys, sources, settings or metadata."""

import pytest

from cloister import Cloister, Conflict, ContextItem, IdempotencyMismatch, InvalidRequest
from support.clients.entry_points import PROGRAMS, only

pytestmark = only(PROGRAMS)


def contents(items: tuple[ContextItem, ...]) -> list[str]:
    return [item.content for item in items]


def test_limits_and_sources_can_be_set_by_request_and_by_project(memory: Cloister) -> None:
    """CTX-2"""
    project = memory.create_project("Sources").project_id
    memory.create_session("s", project_id=project)
    memory.create_session("t", project_id=project)
    for number in range(30):
        memory.record("s", "user", f"Fact {number} about rivers.")
        memory.record("s", "assistant", f"Reply {number} about rivers.")
    assert len(memory.context("s", recent_limit=3).current_conversation) == 6
    assert len(memory.context("t", "rivers", semantic_limit=2).relevant_history) == 4
    only_users = [{"role": "user", "method": "semantic", "limit": 5}]
    assert {item.role for item in memory.context("t", "rivers", sources=only_users).relevant_history} == {"user"}
    memory.update_project(project, settings={"context_sources": only_users})
    assert len(memory.context("t", "rivers").relevant_history) == 5
    within = [{"role": "user", "method": "semantic", "limit": 50, "conversation_scope": "current"}]
    assert memory.context("t", "rivers", sources=within).relevant_history == ()
    latest = [{"role": "assistant", "method": "recent", "limit": 2, "conversation_scope": "pool"}]
    assert contents(memory.context("t", "rivers", sources=latest).relevant_history) == [
        "Reply 29 about rivers.",
        "Reply 28 about rivers.",
    ]
    with pytest.raises(InvalidRequest, match=r"sources\[0\].role"):
        memory.context("t", sources=[{"role": "nobody", "method": "recent"}])


def test_the_same_idempotency_key_records_once_and_answers_alike(memory: Cloister) -> None:
    memory.create_session("s")
    first = memory.record("s", "user", "Once only.", idempotency_key="k")
    again = memory.record("s", "user", "Once only.", idempotency_key="k")
    assert again == first
    assert memory.session("s").message_count == 1
    with pytest.raises(IdempotencyMismatch):
        memory.record("s", "user", "Something else.", idempotency_key="k")
    assert memory.session("s").message_count == 1


def test_a_repeated_key_after_the_message_was_forgotten_brings_nothing_back(memory: Cloister) -> None:
    memory.create_session("s")
    first = memory.record("s", "user", "A secret word.", idempotency_key="k")
    memory.forget_message(first.id)
    with pytest.raises(Conflict):
        memory.record("s", "user", "A secret word.", idempotency_key="k")
    assert memory.messages("s") == []
    assert memory.record("s", "user", "A secret word.", idempotency_key="another").id != first.id


def test_a_repeated_key_after_the_session_was_made_anew_stores_what_it_says(memory: Cloister) -> None:
    memory.create_session("s")
    memory.record("s", "user", "Once only.", idempotency_key="k")
    memory.delete_session("s")
    memory.create_session("s")
    again = memory.record("s", "user", "Once only.", idempotency_key="k")
    assert [message.id for message in memory.messages("s")] == [again.id]


def test_an_idempotency_key_means_something_in_its_own_session_only(memory: Cloister) -> None:
    memory.create_session("one")
    memory.create_session("two")
    first = memory.record("one", "user", "Hello.", idempotency_key="turn-1")
    second = memory.record("two", "user", "Hello.", idempotency_key="turn-1")
    assert first.id != second.id


def test_a_batch_is_kept_whole_with_all_that_was_said_of_it_or_not_at_all(memory: Cloister) -> None:
    memory.create_session("s", metadata={"mood": ["calm", None, 1.5]})
    said = [
        {"role": "user", "content": "When?", "author": "Ann", "created_at": "2020-02-29T12:00:00Z"},
        {"role": "tool", "content": "{}", "metadata": {"call": {"id": 7}}},
    ]
    recorded = memory.record_batch("s", said)
    assert memory.messages("s") == recorded
    assert recorded[0].created_at == "2020-02-29T12:00:00Z"
    assert recorded[1].metadata == {"call": {"id": 7}}
    with pytest.raises(InvalidRequest, match="content"):
        memory.record_batch("s", [*said, {"role": "user", "content": ""}])
    with pytest.raises(InvalidRequest, match=r"messages\[0\].tenant_id"):
        memory.record_batch("s", [{"role": "user", "content": "x", "tenant_id": 1}])
    assert memory.session("s").message_count == 2
    assert memory.session("s").metadata == {"mood": ["calm", None, 1.5]}


def test_a_session_and_a_project_change_in_what_is_given_only(memory: Cloister) -> None:
    project = memory.create_project("Old", member_visibility="private")
    memory.create_session("s", project_id=project.project_id, title="First", tags=["a"])
    changed = memory.update_session("s", title="Second", metadata={"k": "v"})
    assert (changed.title, changed.tags, changed.metadata) == ("Second", ("a",), {"k": "v"})
    assert changed.project_id == project.project_id
    assert memory.update_session("s", tags=["b", "c"]).tags == ("b", "c")
    renamed = memory.update_project(project.project_id, name="New", settings={"pending_message_count": 6})
    assert (renamed.name, renamed.is_default, renamed.member_visibility) == ("New", False, "private")
    assert memory.update_project(project.project_id, is_default=True).settings == {"pending_message_count": 6}
    assert [found.name for found in memory.projects() if found.is_default] == ["New"]
