"""Archives hold the files of memory tools and the entries of key-value stores, and bring them back into the right part (ORG-11)."""

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cloister.domain.archive.imported import ImportCounts
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.entries.operations import put_entry, search_entries
from cloister.domain.errors import CloisterError, Forbidden, QuotaExceeded
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import quoted
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.services.archive import import_entries, import_files, import_sessions
from support.databases.engines import Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.setups.archives import archive_of, changed, import_into, kinds_of
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
VECTORS = [[0.1, 0.7], [3.0, 0.3]]
NOTHING = ImportCounts()


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


@pytest.fixture
def other_engine(engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    kind = "postgres" if engine.name == "sqlite" else "sqlite"

    def server() -> PostgresServer:
        return request.getfixturevalue("postgres_server")

    with opened_engine(kind, tmp_path / "other", server) as made:
        yield made


@pytest.fixture
def other(other_engine: Engine) -> MemorySetup:
    """A new tenant in a database of the other engine."""
    return settle_house(other_engine)


def furnish(house: MemorySetup) -> tuple[ProjectId, ProjectId]:
    """The same names in a private garden, a shared cellar and outside, of two users and of nobody; some left behind."""
    garden, cellar = house.project("Garden", "private"), house.project("Cellar", "shared")
    for where, project in (("garden", garden), ("cellar", cellar), ("outside", None)):
        for user in ("ann", "bob", None):
            name = f"{user} in {where}"
            house.session(name, project, user)
            store_file(house, name, "deep/er/notes.txt", f"{name}.\n\tTwo lines of {name}.")
            put_mark(house, project, user, "k", name)
    house.session("moved", garden, "ann")
    store_file(house, "moved", "notes.txt", "Left in the garden.")
    house.move("moved", cellar)
    store_file(house, "moved", "empty.txt", "")
    run_file(house, "moved", command="rename", old_path="/memories/missing", new_path="/memories/bare directory/x")
    for key in ("a", "Z", "é", "\U0001f339", "a b"):
        put_mark(house, garden, "ann", key, key, index=False)
        store_file(house, "ann in garden", f"{key}.txt", key)
    put_mark(house, garden, "ann", "lives", "lives", ttl=90.5)
    run_entries(house, cellar, "ann", put_entry(("own",), "k", {"mark": "own"}, index=False, vectors=VECTORS))
    run_entries(house, cellar, "ann", put_entry(("p",), "k", {"mark": [1, 2.5, None, "\u0000"]}, index=["mark[*]"]))
    return garden, cellar


def test_org_11_files_and_entries_are_byte_equal_after_the_other_engine(
    house: MemorySetup, other_engine: Engine
) -> None:
    """ORG-11: each in its part; importing twice changes nothing; vectors that an application computed come along."""
    garden, cellar = furnish(house)
    lines = archive_of(house)
    other = settle_house(other_engine)
    first = import_into(other, lines)
    assert archive_of(other) == lines
    assert kinds_of(lines) >= {"file", "entry", "entry_vector"}
    assert (first.added.files, first.added.entries, first.skipped) == (16, 17, {})
    before = other_engine.dump()
    second = import_into(other, lines)
    assert other_engine.dump() == before
    assert (second.added, second.unchanged) == (NOTHING, first.added)
    for where, project in (("garden", garden), ("cellar", cellar), ("outside", None)):
        for user in ("ann", "bob", None):
            name = f"{user} in {where}"
            assert file_text(other, name, "deep/er/notes.txt") == f"{name}."
            assert run_entries(other, project, user) == run_entries(house, project, user)
    assert listed_files(other, "moved") == {"empty.txt", "bare directory/"}
    other.move("moved", garden)
    assert listed_files(other, "moved") == {"notes.txt"}
    for query in (
        search_entries((), vector=[0.0, 1.0]),
        search_entries((), query="own"),
        search_entries((), query="1"),
    ):
        assert run_entries(other, cellar, "ann", query) == run_entries(house, cellar, "ann", query)


def test_org_11_importing_files_and_entries_into_their_own_tenant_changes_nothing(
    engine: Engine, house: MemorySetup
) -> None:
    """ORG-11."""
    furnish(house)
    before = engine.dump()
    assert import_into(house, archive_of(house)).added == NOTHING
    assert engine.dump() == before


def stored_texts(lines: list[bytes]) -> str:
    found = [json.loads(line) for line in lines]
    return json.dumps([line for line in found if line["kind"] in ("file", "entry")])


def test_org_11_an_archive_has_nothing_of_other_parts(house: MemorySetup) -> None:
    """ORG-11, ISO-4: of a project, of a user, of a confined key and of a bound one."""
    garden, _ = furnish(house)
    of_garden = stored_texts(archive_of(house, ArchiveTarget(project=garden)))
    for user in ("ann", "bob", None):
        assert of_garden.count(f'"{user} in garden"') == 1 and f"{user} in garden." in of_garden
    assert "cellar" not in of_garden and "outside" not in of_garden
    assert "Left in the garden." not in of_garden, "its session is not in the garden"
    of_ann = stored_texts(archive_of(house, ArchiveTarget(user="ann")))
    assert "bob" not in of_ann and "None in" not in of_ann and "Left in the garden." in of_ann
    assert of_ann.count("notes.txt") == 4
    for narrow, target in (
        (Reach(tenant=house.reach.tenant, confined_to=garden), ArchiveTarget(project=garden)),
        (Reach(tenant=house.reach.tenant, user="ann"), ArchiveTarget(user="ann")),
    ):
        assert archive_of(replace(house, reach=narrow), target) == archive_of(house, target)
    both = replace(house, reach=Reach(tenant=house.reach.tenant, user="ann", confined_to=garden))
    of_both = stored_texts(archive_of(both, ArchiveTarget(user="ann")))
    assert "ann in garden" in of_both and "cellar" not in of_both and "outside" not in of_both and "bob" not in of_both


def test_org_11_a_user_without_sessions_takes_entries_along(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11: with the projects that they are in."""
    garden = house.project("Garden", "private")
    put_mark(house, garden, "ann", "k", "of ann")
    import_into(other, archive_of(house, ArchiveTarget(user="ann")))
    assert marks(other, garden, "ann") == {(*NOTES, "k"): "of ann"}


def test_org_11_twin_tenants_get_files_and_entries_of_their_own(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, ISO-4: in the same database, where ids are taken."""
    furnish(house)
    lines = archive_of(house)
    tenant, _ = house.services.projects.create_tenant("Twins")
    twin = replace(house, reach=Reach(tenant=tenant))
    before = engine.dump(house.reach.tenant)
    import_into(twin, lines)
    assert engine.dump(house.reach.tenant) == before
    assert file_text(twin, "ann in outside", "deep/er/notes.txt") == "ann in outside."
    assert marks(twin, None, "ann") == {(*NOTES, "k"): "ann in outside"}
    run_file(twin, "ann in outside", command="clear")
    assert file_text(house, "ann in outside", "deep/er/notes.txt") == "ann in outside."


def test_org_11_an_archive_of_an_earlier_version_is_imported_as_before(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11: version 2 had neither files nor entries."""
    furnish(house)

    def earlier(line: dict[str, Any]) -> dict[str, Any] | None:
        return None if line["kind"] in ("file", "entry", "entry_vector") else {**line, **version(line)}

    def version(line: dict[str, Any]) -> dict[str, Any]:
        return {"version": 2} if line["kind"] == "header" else {}

    added = import_into(other, changed(archive_of(house), earlier)).added
    assert (added.sessions, added.files, added.entries) == (10, 0, 0)


def test_org_11_what_is_there_stays(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11: a file and an entry that were changed here, and a file whose directory is a file here, which is counted."""
    garden, _ = furnish(house)
    lines = archive_of(house)
    import_into(other, lines)
    run_file(other, "ann in garden", command="delete", path="/memories/deep")
    store_file(other, "ann in garden", "deep", "A file now.")
    run_file(other, "bob in garden", command="delete", path="/memories/deep/er/notes.txt")
    store_file(other, "bob in garden", "deep/er/notes.txt", "Changed.")
    put_mark(other, garden, "ann", "k", "changed")
    again = import_into(other, lines)
    assert again.added == NOTHING and again.skipped == {import_files.NAME_TAKEN: 3}
    assert file_text(other, "ann in garden", "deep") == "A file now."
    assert file_text(other, "bob in garden", "deep/er/notes.txt") == "Changed."
    assert marks(other, garden, "ann")[*NOTES, "k"] == "changed"


def test_org_11_an_entry_that_has_expired_meanwhile_is_not_imported(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11: and an expired one that is here gives way to one that has not."""
    put_mark(house, None, "ann", "k", "of the archive", ttl=10)
    lines = archive_of(house)
    other.clock.moment = house.clock.moment - 5 * MINUTE
    put_mark(other, None, "ann", "k", "here before", ttl=1)
    other.clock.moment = house.clock.moment + 5 * MINUTE
    assert import_into(other, lines).added.entries == 1
    assert marks(other, None, "ann") == {(*NOTES, "k"): "of the archive"}
    other.clock.moment += 10 * MINUTE
    assert marks(other, None, "ann") == {} == marks(other, None, None)
    assert import_into(other, lines).skipped == {import_entries.EXPIRED: 1}
    assert archive_of(other) == archive_of(settled_like(other))


def settled_like(house: MemorySetup) -> MemorySetup:
    """The same tenant after its expired entries were deleted."""
    house.services.entry_expiry.drop()
    return house


def test_iso_12_files_of_a_shared_project_lose_quotations_where_it_is_private(
    engine: Engine, house: MemorySetup
) -> None:
    """ISO-12, ORG-11: and in the archive of a user."""
    cellar = house.project("Cellar", "shared")
    house.session("s", cellar, "ann")
    store_file(house, "s", "notes.txt", f"Mine.\n{quoted(['Bob said so.'])}")
    assert "Bob said so." not in stored_texts(archive_of(house, ArchiveTarget(user="ann")))
    lines = archive_of(house)
    assert "Bob said so." in stored_texts(lines)
    house.services.projects.change_project(house.reach, cellar, member_visibility="private")
    run_file(house, "s", command="clear")
    import_into(house, lines)
    assert file_text(house, "s", "notes.txt") == "Mine."
    assert "Bob said so." not in repr(engine.dump(house.reach.tenant))


def _set(kind: str, /, **fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda line: {**line, **fields} if line["kind"] == kind else line


HOSTILE = (
    _set("file", path="/memories/../etc/passwd"),
    _set("file", path="/memories"),
    _set("file", path="/memories/a//b"),
    _set("file", path="/memories/" + "d/" * 400 + "x"),
    _set("file", path=7),
    _set("file", content=7),
    _set("file", content="\x00"),
    _set("file", content="x" * 262_145),
    _set("file", size=1),
    _set("file", project_id="proj_00000000000000ff"),
    _set("entry", namespace=[]),
    _set("entry", namespace=["a.b"]),
    _set("entry", namespace="a"),
    _set("entry", key=""),
    _set("entry", key=None),
    _set("entry", value=[1]),
    _set("entry", value={"x": "y" * 300_000}),
    _set("entry", ttl=-1),
    _set("entry", ttl="60"),
    _set("entry", index=["p"] * 100),
    _set("entry", index="$"),
    _set("entry", user_id=""),
    _set("entry", created_at="yesterday"),
    _set("entry_vector", vector="AAA"),
    _set("entry_vector", vector=""),
    _set("entry_vector", vector=base64.b64encode(b"\x00\x00\xc0\x7f").decode()),
    _set("entry_vector", vector=base64.b64encode(bytes(4 * 4_097)).decode()),
)


def test_org_11_hostile_files_and_entries_are_refused(shared_engine: Engine) -> None:
    """ORG-11: the error names the line; nothing of the session or the part is stored."""
    house = settle_house(shared_engine)
    house.session("s", None, "ann")
    store_file(house, "s", "notes.txt", "Mine.")
    run_entries(house, None, "ann", put_entry(("own",), "k", {"mark": "own"}, index=False, vectors=VECTORS))
    lines = archive_of(house)
    for change in HOSTILE:
        other = settle_house(shared_engine)
        with pytest.raises(CloisterError):
            import_into(other, changed(lines, change))
        assert marks(other, None, "ann") == {}
        if change(json.loads(b'{"kind":"file"}')) != {"kind": "file"}:
            usage = other.services.projects.usage(other.reach)
            assert (usage.files, usage.entries) == (0, 0)
    first = _set("entry_vector")(json.loads(next(line for line in lines if b"entry_vector" in line)))
    orphan = changed(lines, lambda line: None if line["kind"] == "entry" else line)
    uneven = changed(lines, lambda line: {**first, "vector": "AAAAAA=="} if line == first else line)
    for wrong in (orphan, uneven):
        with pytest.raises(CloisterError):
            import_into(settle_house(shared_engine), wrong)


def test_org_11_an_import_of_files_and_entries_stays_within_its_callers_reach(house: MemorySetup) -> None:
    """ORG-11, ORG-4: a confined key cannot add to another project, by any of the lines."""
    garden, _ = furnish(house)
    lines = archive_of(house, ArchiveTarget(project=garden))
    tight = replace(house, reach=Reach(tenant=house.reach.tenant, confined_to=garden))
    assert import_into(tight, lines).added == NOTHING
    for kind, keep in (("file", "entry"), ("entry", "file")):
        run_file(house, "ann in garden", command="clear")
        outside = changed(lines, lambda line, kind=kind, keep=keep: _moved_out(line, kind, keep))
        with pytest.raises(Forbidden):
            import_into(tight, outside)
    assert marks(house, None, "ann") == {(*NOTES, "k"): "ann in outside"}


def _moved_out(line: dict[str, Any], kind: str, left_out: str) -> dict[str, Any] | None:
    if line["kind"] in (left_out, "entry_vector"):
        return None
    return {**line, "project_id": None} if line["kind"] == kind else line


def test_org_7_quotas_of_files_and_entries_stop_an_import(house: MemorySetup, other_engine: Engine) -> None:
    """ORG-7: a clear refusal; a batch is stored whole or not at all, and a repeated import adds the rest."""
    furnish(house)
    lines = archive_of(house)
    for limits, kind in ((Limits(files=15), "files"), (Limits(entries=16), "entries")):
        other = settle_house(other_engine)
        other.services.projects.set_limits(other.reach, limits)
        with pytest.raises(QuotaExceeded, match=kind):
            import_into(other, lines)
        usage = other.services.projects.usage(other.reach)
        assert getattr(usage, kind) < getattr(house.services.projects.usage(house.reach), kind)
        other.services.projects.set_limits(other.reach, Limits())
        import_into(other, lines)
        other.services.tenants.erase(other.reach.tenant)


def test_org_11_batches_of_files_and_entries_give_the_same(
    house: MemorySetup, other: MemorySetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ORG-11: one row in each transaction, as with very large ones."""
    monkeypatch.setattr(import_sessions, "_LARGEST_BATCH", 1)
    monkeypatch.setattr(import_entries, "_LARGEST_BATCH", 1)
    furnish(house)
    lines = archive_of(house)
    import_into(other, lines)
    assert archive_of(other) == lines
