"""Files of memory tools and entries of key-value stores when their project is deleted, shared or divided, and how they are counted:
nothing is lost or overwritten, and nothing crosses."""

import pytest

from cloister.domain.entries.namespace import MAX_NAMESPACE
from cloister.domain.entries.operations import get_entry, put_entry, search_entries
from cloister.domain.errors import QuotaExceeded, TooLarge
from cloister.domain.identifiers import format_project_id
from cloister.domain.memory import quoted
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house
from support.setups.stored_contents import (
    NOTES,
    file_text,
    listed_files,
    marks,
    put_mark,
    run_entries,
    run_file,
    store_file,
)

MINUTE = 60_000_000


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def test_org_5_files_of_a_deleted_project_go_with_their_sessions(house: MemorySetup) -> None:
    """ORG-5: as memories do. Each session finds its own; the counts say how many; another project's and tenant's stay."""
    garden, cellar = house.project("Garden", "private"), house.project("Cellar", "private")
    tenant, _ = house.services.projects.create_tenant("Neighbours")
    theirs = MemorySetup(services=house.services, reach=Reach(tenant=tenant), clock=house.clock)
    for name, project, user in (("a", garden, "ann"), ("b", garden, "bob"), ("n", garden, None), ("c", cellar, "ann")):
        house.session(name, project, user)
        store_file(house, name, "deep/notes.txt", f"Of {name}.")
    theirs.session("a", None, "ann")
    store_file(theirs, "a", "deep/notes.txt", "Of a neighbour.")

    counts = house.services.projects.delete_project(house.reach, garden)

    assert (counts.sessions, counts.files, counts.entries) == (3, 3, 0)
    assert [file_text(house, name, "deep/notes.txt") for name in "abnc"] == ["Of a.", "Of b.", "Of n.", "Of c."]
    assert file_text(theirs, "a", "deep/notes.txt") == "Of a neighbour."
    assert house.services.projects.usage(house.reach).files == 4


def test_org_5_files_whose_name_is_taken_go_into_a_directory(house: MemorySetup) -> None:
    """ORG-5: of a session that had files in no project before. The whole tree stays together; common directories are joined."""
    garden, cellar = house.project("Garden", "private"), house.project("Cellar", "private")
    house.session("s", None, "ann")
    store_file(house, "s", "notes.txt", "Before.")
    store_file(house, "s", "deep/old.txt", "Before.")
    for project, mark in ((garden, "Garden."), (cellar, "Cellar.")):
        house.move("s", project)
        store_file(house, "s", "deep/new.txt", mark)
        store_file(house, "s", "notes.txt", mark)
    run_file(house, "s", command="delete", path="/memories/notes.txt")

    for project in (cellar, garden):
        house.services.projects.delete_project(house.reach, project)

    name = format_project_id(garden)
    assert listed_files(house, "s") == {
        "notes.txt",
        "deep/",
        "deep/old.txt",
        "deep/new.txt",
        f"{name}/",
        f"{name}/deep/",
        f"{name}/notes.txt",
    }
    assert [file_text(house, "s", path) for path in ("notes.txt", "deep/new.txt")] == ["Before.", "Cellar."]
    assert [file_text(house, "s", f"{name}/{path}") for path in ("notes.txt", "deep/new.txt")] == ["Garden.", "Garden."]


def test_org_5_files_that_a_session_left_in_a_project_are_found_when_it_is_in_none(house: MemorySetup) -> None:
    """ORG-5, ISO-12: the session is in another project when the first one is deleted; there it does not see them."""
    garden, cellar = house.project("Garden", "private"), house.project("Cellar", "private")
    house.session("s", garden, "ann")
    store_file(house, "s", "notes.txt", "Garden.")
    house.move("s", cellar)
    assert house.services.projects.delete_project(house.reach, garden).files == 1
    assert listed_files(house, "s") == set()
    house.move("s", None)
    assert file_text(house, "s", "notes.txt") == "Garden."


def test_a_path_that_became_too_long_can_be_read_and_renamed(house: MemorySetup) -> None:
    """ORG-5: nothing is lost because it was moved into a directory."""
    garden = house.project("Garden", "private")
    long = "/".join(["d" * 200, "e" * 200, "f" * 110])
    house.session("s", None, "ann")
    for project in (None, garden):
        house.move("s", project)
        store_file(house, "s", long, "Long.")
    house.services.projects.delete_project(house.reach, garden)
    moved = f"{format_project_id(garden)}/{long}"
    assert file_text(house, "s", moved) == "Long."
    renamed = run_file(house, "s", command="rename", old_path=f"/memories/{moved}", new_path="/memories/short.txt")
    assert not renamed.is_error and file_text(house, "s", "short.txt") == "Long."
    assert run_file(house, "s", command="create", path=f"/memories/{moved}", file_text="").is_error


def test_org_5_entries_of_a_deleted_project_go_to_the_same_users_in_no_project(house: MemorySetup) -> None:
    """ORG-5, ISO-4: those of another user, project and tenant stay where they are. An expired one is not moved."""
    garden, cellar = house.project("Garden", "private"), house.project("Cellar", "shared")
    tenant, _ = house.services.projects.create_tenant("Neighbours")
    theirs = MemorySetup(services=house.services, reach=Reach(tenant=tenant), clock=house.clock)
    for user in (None, "ann", "bob"):
        put_mark(house, garden, user, "k", f"garden {user}")
        put_mark(house, cellar, user, "k", f"cellar {user}")
    put_mark(theirs, None, "ann", "k", "theirs")
    put_mark(house, garden, "ann", "gone", "gone", ttl=1)
    put_mark(house, garden, "ann", "lives", "lives", ttl=10)
    house.clock.moment += 2 * MINUTE

    counts = house.services.projects.delete_project(house.reach, garden)

    assert counts.entries == 4
    for user in (None, "bob"):
        assert marks(house, None, user) == {(*NOTES, "k"): f"garden {user}"}
        assert marks(house, cellar, user) == {(*NOTES, "k"): f"cellar {user}"}
    assert marks(house, None, "ann") == {(*NOTES, "k"): "garden ann", (*NOTES, "lives"): "lives"}
    assert marks(theirs, None, "ann") == {(*NOTES, "k"): "theirs"}
    (found,) = run_entries(house, None, "ann", search_entries((), query="lives"))
    assert {entry.key for entry in found} == {"k", "lives"}, "their vectors moved too"


def test_org_5_an_entry_whose_address_is_taken_gets_another_namespace(house: MemorySetup) -> None:
    """ORG-5: nothing is overwritten, for any user, also where that namespace is in use; a long one can still be read."""
    garden = house.project("Garden", "private")
    name = format_project_id(garden)
    long = ("n" * (MAX_NAMESPACE - 1),)
    for project, mark in ((None, "before"), (garden, "garden")):
        put_mark(house, project, "ann", "k", mark)
        run_entries(house, project, "ann", put_entry(long, "k", {"mark": mark}))
    put_mark(house, garden, "ann", "free", "garden")
    put_mark(house, garden, "bob", "k", "of bob")
    run_entries(house, garden, "bob", put_entry((name, "mine"), "k", {"mark": "of bob"}))

    assert house.services.projects.delete_project(house.reach, garden).entries == 5

    label = f"{name}-2"
    assert marks(house, None, "ann") == {
        (*NOTES, "k"): "before",
        (*NOTES, "free"): "garden",
        (*long, "k"): "before",
        (label, *NOTES, "k"): "garden",
        (label, *long, "k"): "garden",
    }
    assert marks(house, None, "bob") == {(*NOTES, "k"): "of bob", (name, "mine", "k"): "of bob"}
    assert run_entries(house, None, "ann", get_entry((label, *long), "k"))[0].value == {"mark": "garden"}
    with pytest.raises(TooLarge):
        put_entry((label, *long), "k", {})


@pytest.mark.parametrize("user", ["ann", None])
def test_iso_10_sharing_and_dividing_a_project_keeps_files_and_entries(house: MemorySetup, user: str | None) -> None:
    """ISO-10: each session reads its own files and no other's, each user their own entries, before, between and after; also those
    of a session that was elsewhere meanwhile."""
    garden = house.project("Garden", "private")
    for name, whose in (("a", user), ("away", user), ("b", "bob")):
        house.session(name, garden, whose)
        store_file(house, name, "notes.txt", f"Of {name}.")
        put_mark(house, garden, whose, name, name)
    house.move("away", None)
    before = {whose: marks(house, garden, whose) for whose in ("ann", "bob", None)}
    for visibility in ("shared", "private", "shared", "private"):
        house.services.projects.change_project(house.reach, garden, member_visibility=visibility)
        for name in ("a", "b"):
            assert listed_files(house, name) == {
                "notes.txt",
                *({"more.txt"} if file_text(house, name, "more.txt") else ()),
            }
            assert file_text(house, name, "notes.txt") == f"Of {name}."
        assert listed_files(house, "away") == set(), "it is in no project"
        assert {whose: marks(house, garden, whose) for whose in before} == before
        if visibility == "shared" and file_text(house, "a", "more.txt") is None:
            store_file(house, "a", "more.txt", "Said in the shared project.")
    house.move("away", garden)
    assert [file_text(house, name, "notes.txt") for name in ("a", "away", "b")] == ["Of a.", "Of away.", "Of b."]
    assert file_text(house, "a", "more.txt") == "Said in the shared project."


@pytest.mark.parametrize("narrowed", ["divided", "deleted"])
def test_iso_12_a_file_does_not_take_quotations_of_a_shared_pool_along(house: MemorySetup, narrowed: str) -> None:
    """ISO-12: what was recalled where all users' words are is not shown in one user's part; the file's own words are."""
    garden = house.project("Garden", "shared")
    house.session("s", garden, "ann")
    block = quoted(["Bob's PIN is 1234."])
    store_file(house, "s", "mixed.txt", f"Mine.\n{block}\nMine too.")
    store_file(house, "s", "only.txt", block)
    if narrowed == "divided":
        house.services.projects.change_project(house.reach, garden, member_visibility="private")
    else:
        house.services.projects.delete_project(house.reach, garden)
    shown = [run_file(house, "s", command="view", path=f"/memories/{name}.txt").text for name in ("mixed", "only")]
    assert "Mine." in shown[0] and "Mine too." in shown[0]
    assert not any("1234" in each for each in shown)


def test_org_9_files_and_entries_are_among_the_counts(house: MemorySetup) -> None:
    """ORG-9, PRF-5: of clearing and deleting a session, of erasing a user or a tenant, tried first; no directories."""
    garden = house.project("Garden", "private")
    for name, user in (("a", "ann"), ("b", "ann"), ("c", "bob")):
        house.session(name, garden, user)
        store_file(house, name, "deep/one.txt", "One.")
        store_file(house, name, "two.txt", "Two.")
    put_mark(house, garden, "ann", "k", "k")
    put_mark(house, None, "bob", "k", "k")
    usage = house.services.projects.usage(house.reach)
    assert (usage.files, usage.entries) == (6, 2)
    assert house.services.forgetting.contents(house.reach, "a").files == 2
    store_file(house, "a", "again.txt", "Again.")
    assert house.services.forgetting.session(house.reach, "a").files == 1
    tried = house.services.erase_user.erase(house.reach, "ann", dry_run=True)
    assert (tried.files, tried.entries) == (2, 1)
    assert house.services.erase_user.erase(house.reach, "ann") == tried
    preview = house.services.tenants.preview_erasing(house.reach.tenant)
    assert (preview.files, preview.entries) == (2, 1)
    assert house.services.tenants.erase(house.reach.tenant) == preview


def test_org_7_files_have_a_quota(engine: Engine) -> None:
    """ORG-7: 429 before anything is changed; what is there can be read, edited, renamed and deleted. Without a limit of its own,
    there may be as many files as messages."""
    house = settle_house(engine, limits=Limits(files=3))
    house.session("s", None, "ann")
    store_file(house, "s", "deep/one.txt", "One.")
    house.services.projects.set_limits(house.reach, Limits(messages=1))
    assert house.services.projects.usage(house.reach).limits == Limits(messages=1, files=3, entries=1)
    house.services.projects.set_limits(house.reach, Limits(files=1))
    before = engine.dump(house.reach.tenant)
    with pytest.raises(QuotaExceeded, match="files"):
        store_file(house, "s", "new/two.txt", "Two.")
    assert engine.dump(house.reach.tenant) == before
    edited = run_file(house, "s", command="str_replace", path="/memories/deep/one.txt", old_str="One", new_str="1")
    renamed = run_file(house, "s", command="rename", old_path="/memories/deep", new_path="/memories/moved")
    assert not edited.is_error and not renamed.is_error
    run_file(house, "s", command="delete", path="/memories/moved")
    store_file(house, "s", "two.txt", "Two.")
    assert house.services.projects.usage(house.reach).limits.files == 1
