"""Memories in time and in people's hands, through every way in (MEM-12, MEM-13)."""

import pytest

from cloister import Cloister, Conflict, InvalidRequest, NotFound, TooLarge
from support.clients.entry_points import every_way

LATER = "2999-01-31T09:30:00Z"
ROME = "The user lives in Rome."


def added(memory: Cloister, *contents: str) -> list[str]:
    memory.create_session("s", user_id="ann")
    return [stored.id for stored in memory.add_memories("s", contents or [ROME]).appended]


@every_way
def test_a_memory_is_corrected_retracted_and_restored(memory: Cloister) -> None:
    """MEM-13"""
    (id,) = added(memory)
    before = memory.get_memory(id)
    assert (before.content, before.status, before.source, before.pinned) == (ROME, "active", "written", False)
    assert (before.valid_from, before.valid_until, before.superseded_by) == (before.created_at, None, None)
    changed = memory.correct_memory(
        id, content="The user lives in Milan.", importance=0.5, expires_at=LATER, pinned=True, categories=["home"]
    )
    assert (changed.content, changed.importance, changed.source) == ("The user lives in Milan.", 0.5, "corrected")
    assert (changed.expires_at, changed.pinned, changed.categories) == (LATER, True, ("home",))
    assert memory.get_memory(id) == changed == memory.memories("s")[0]
    plain = memory.correct_memory(id, importance=None, expires_at=None, pinned=False)
    assert (plain.importance, plain.expires_at, plain.pinned) == (None, None, False)
    assert memory.retract_memory(id).status == "retracted"
    assert memory.context("s", "Where does the user live?").memories == ()
    assert [stored.status for stored in memory.memories("s", status="retracted")] == ["retracted"]
    assert memory.memories("s", status="active") == []
    for expected in (plain, changed, before):
        assert memory.restore_memory(id) == expected
    with pytest.raises(Conflict, match="no change"):
        memory.restore_memory(id)
    history = memory.memory_history(id)
    assert [change.action for change in history] == ["create", "correct", "correct", "retract", *["restore"] * 3]
    assert history[1].before is not None and history[1].before.content == ROME
    assert all(change.undone_at is not None for change in history[1:4])


@every_way
def test_a_history_comes_in_pages(memory: Cloister) -> None:
    """MEM-13"""
    (id,) = added(memory)
    for number in range(4):
        memory.correct_memory(id, content=f"The user has {number} cats.")
    whole = memory.memory_history(id)
    assert len(whole) == 5
    page, seen = memory.memory_history(id, limit=2), list[object]()
    while True:
        seen += page
        if page.next_cursor is None:
            break
        page = memory.memory_history(id, limit=2, cursor=page.next_cursor)
    assert seen == list(whole)


@every_way
def test_what_is_true_is_asked_for_now_and_as_of_a_moment(memory: Cloister) -> None:
    """MEM-12: a memory is true from when it was said."""
    (id,) = added(memory)
    memory.correct_memory(id, pinned=True)
    found = memory.context("s", "Where does the user live?")
    assert [(stored.id, stored.status, stored.pinned) for stored in found.memories] == [(id, "active", True)]
    (hit,) = memory.search("Where does the user live?", session_id="s", kinds=["memories"])
    assert (hit.id, hit.status) == (id, "active")
    for as_of, expected in (("2001-01-31T09:30:00Z", []), (LATER, [id])):
        assert [stored.id for stored in memory.context("s", "Rome", as_of=as_of).memories] == expected
        hits = memory.search("Rome", session_id="s", kinds=["memories"], as_of=as_of)
        assert [hit.id for hit in hits] == expected
    with pytest.raises(InvalidRequest, match="as_of"):
        memory.context("s", "Rome", as_of="yesterday")


@every_way
def test_bad_corrections_are_refused(memory: Cloister) -> None:
    """MEM-13"""
    id, _ = added(memory, ROME, "The user has a dog.")
    for given, error, match in (
        ({"content": "x" * 2_001}, TooLarge, "2,000|2000"),
        ({"content": "the user has a DOG"}, Conflict, "another memory"),
        ({"importance": 7.0}, InvalidRequest, "importance"),
        ({"expires_at": "2001-01-31T09:30:00Z"}, InvalidRequest, "expires_at"),
        ({"expires_at": "soon"}, InvalidRequest, "expires_at"),
        ({"categories": ["c"] * 99}, TooLarge, "categories"),
    ):
        with pytest.raises(error, match=match):
            memory.correct_memory(id, **given)  # pyright: ignore[reportArgumentType]
    assert memory.get_memory(id).content == ROME
    missing = "mem_0000000000000001"
    for act in (
        lambda: memory.get_memory(missing),
        lambda: memory.correct_memory(missing, pinned=True),
        lambda: memory.retract_memory(missing),
        lambda: memory.restore_memory(missing),
        lambda: memory.memory_history(missing),
    ):
        with pytest.raises(NotFound, match=missing):
            act()
