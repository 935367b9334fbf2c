"""What is remembered in a project, and what changed there, through every way in."""

import pytest

from cloister import Cloister, InvalidRequest, NotFound
from cloister.interfaces.python.listing.shapes import Activity
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


@every_way
def test_iso_4_what_was_stored_is_counted_by_day_in_its_own_part_only(memory: Cloister) -> None:
    garden, kitchen = (memory.create_project(name).project_id for name in ("Garden", "Kitchen"))
    for user in ("ann", "bob"):
        memory.create_session(f"of {user}", project_id=garden, user_id=user)
        memory.record(f"of {user}", "user", "The beans want water.")
        memory.add_memories(f"of {user}", [f"{user} waters the roses.", f"{user} has a dog."])
    memory.create_session("of ann in the kitchen", project_id=kitchen, user_id="ann")
    memory.record("of ann in the kitchen", "user", "The oven is too hot.")

    def counted(found: Activity) -> tuple[int, int]:
        assert found.complete
        return sum(day.messages for day in found.days), sum(day.memories for day in found.days)

    assert counted(memory.project_activity(garden, user_id="ann")) == (1, 2)
    assert counted(memory.project_activity(garden)) == (0, 0)
    assert counted(memory.project_activity(garden, users="all")) == (2, 4)
    assert counted(memory.project_activity(kitchen, users="all")) == (1, 0)
    assert counted(memory.user_activity("ann")) == (2, 2)
    assert counted(memory.user_activity("nobody")) == (0, 0)
    days = memory.project_activity(garden, days=7).days
    assert len(days) == 7
    assert [day.date for day in days] == sorted(day.date for day in days)


@every_way
def test_days_that_cannot_be_counted_are_refused(memory: Cloister) -> None:
    garden = memory.create_project("Garden").project_id
    with pytest.raises(NotFound):
        memory.project_activity("proj_0000000000000001")
    for days in (0, 91):
        with pytest.raises(InvalidRequest, match="days"):
            memory.project_activity(garden, days=days)
        with pytest.raises(InvalidRequest, match="days"):
            memory.user_activity("ann", days=days)
