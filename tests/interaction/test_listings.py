"""What is remembered in a project, and what changed there, through every way in."""

import pytest

from cloister import Cloister, InvalidRequest, NotFound
from support.clients.entry_points import every_way


@every_way
def test_the_memories_and_the_timeline_of_a_project_are_listed_page_by_page(memory: Cloister) -> None:
    garden = memory.create_project("Garden").project_id
    for user in ("ann", "bob"):
        memory.create_session(f"of {user}", project_id=garden, user_id=user)
        memory.add_memories(f"of {user}", [f"{user} waters the roses.", f"{user} has a dog."])
    first = memory.project_memories(garden, user_id="ann", limit=1)
    assert [stored.content for stored in first] == ["ann has a dog."]
    rest = memory.project_memories(garden, user_id="ann", limit=1, cursor=first.next_cursor)
    assert [stored.content for stored in rest] == ["ann waters the roses."]
    assert rest.next_cursor is None
    assert list(memory.project_memories(garden)) == []
    assert len(memory.project_memories(garden, users="all")) == 4
    found = memory.project_memories(garden, users="all", query="ROSES waters")
    assert [stored.session_id for stored in found] == ["of bob", "of ann"]
    memory.correct_memory(first[0].id, content="ann has a cat.", pinned=True)
    assert [stored.content for stored in memory.project_memories(garden, user_id="ann", pinned=True)] == [
        "ann has a cat."
    ]
    newest = memory.project_timeline(garden, user_id="ann", limit=1)
    assert [(entry.kind, entry.before, entry.after) for entry in newest] == [
        ("corrected", "ann has a dog.", "ann has a cat.")
    ]
    older = memory.project_timeline(garden, user_id="ann", cursor=newest.next_cursor)
    assert [(entry.kind, entry.after) for entry in older] == [
        ("learnt", "ann has a dog."),
        ("learnt", "ann waters the roses."),
    ]
    assert len(memory.project_timeline(garden, users="all")) == 5
    assert [entry.memory.user_id for entry in memory.user_timeline("bob")] == ["bob", "bob"]
    assert list(memory.project_memories(None)) == []


@every_way
def test_what_no_list_knows_is_refused(memory: Cloister) -> None:
    garden = memory.create_project("Garden").project_id
    with pytest.raises(NotFound):
        memory.project_memories("proj_0000000000000001")
    with pytest.raises(NotFound):
        memory.project_timeline("proj_0000000000000001")
    with pytest.raises(InvalidRequest, match="users"):
        memory.project_memories(garden, user_id="ann", users="all")
    with pytest.raises(InvalidRequest, match="status"):
        memory.project_memories(garden, status="gone")  # pyright: ignore[reportArgumentType]
