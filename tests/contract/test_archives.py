"""Archives: a tenant, a project or a user, exported and imported again on either engine (ORG-11)."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cloister.domain.archive.imported import ImportCounts
from cloister.domain.archive.lines import VERSION
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.context import Context
from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError, Forbidden, InvalidRequest, NotFound, QuotaExceeded
from cloister.domain.extraction import ExtractedMemory
from cloister.domain.identifiers import format_message_id
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.services.archive import import_sessions
from cloister.services.tenancy.api_keys import KeyFields
from support.databases.engines import Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.setups.archives import archive_of, changed, furnish, import_into, kinds_of, remember
from support.setups.memories import MemorySetup, long_talk, settle_house

NOTHING = ImportCounts()


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


@pytest.fixture
def other(other_engine: Engine) -> MemorySetup:
    """A new tenant in a database of the other engine."""
    return settle_house(other_engine)


@pytest.fixture
def other_engine(engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    kind = "postgres" if engine.name == "sqlite" else "sqlite"

    def server() -> PostgresServer:
        return request.getfixturevalue("postgres_server")

    with opened_engine(kind, tmp_path / "other", server) as made:
        yield made


def said(context: Context) -> list[str]:
    return [item.message.content for item in context.relevant_history]


def test_org_11_an_archive_of_one_engine_is_byte_equal_after_the_other(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11: with every kind of line in it."""
    furnish(house)
    lines = archive_of(house)
    imported = import_into(other, lines)
    assert archive_of(other) == lines
    assert kinds_of(lines) >= {
        "project",
        "session",
        "message",
        "memory",
        "observation",
        "entity",
        "mention",
        "former_project",
        "revision",
        "replacement",
    }
    assert imported.unchanged == NOTHING
    assert imported.added.messages == sum(json.loads(line)["kind"] == "message" for line in lines)


def test_org_11_importing_twice_changes_nothing(house: MemorySetup, other_engine: Engine) -> None:
    """ORG-11: not a row differs, and everything is counted as unchanged."""
    furnish(house)
    lines = archive_of(house)
    other = settle_house(other_engine)
    first = import_into(other, lines)
    before = other_engine.dump()
    second = import_into(other, lines)
    assert other_engine.dump() == before
    assert (second.added, second.unchanged) == (NOTHING, first.added)
    assert archive_of(other) == lines


def test_org_11_importing_into_the_tenant_it_came_from_changes_nothing(engine: Engine, house: MemorySetup) -> None:
    """ORG-11."""
    furnish(house)
    before = engine.dump()
    assert import_into(house, archive_of(house)).added == NOTHING
    assert engine.dump() == before


def test_org_11_a_session_whose_first_observed_message_was_deleted_is_imported(
    house: MemorySetup, other: MemorySetup
) -> None:
    """ORG-11: nothing of it is observed any more."""
    house.session("ann", house.project(), "ann")
    first, *_ = house.tell("ann", *long_talk(30))
    assert house.services.observations.of_session(house.reach, "ann", limit=9)
    house.services.forgetting.message(house.reach, first.id)
    lines = archive_of(house)
    import_into(other, lines)
    assert archive_of(other) == lines


def test_org_11_what_was_imported_is_recalled_and_not_extracted_again(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11: messages, memories and entities are found; checked messages stay checked."""
    garden, _ = furnish(house)
    import_into(other, archive_of(house))
    asked = "Where does my brother Quillfeather work?"
    for name in ("ann in garden", "ann in cellar", "ann in outside"):
        assert other.recalled(name, asked) == house.recalled(name, asked)
        assert other.recalled_entities(name, asked) == house.recalled_entities(name, asked)
        assert said(other.context(name, asked)) == said(house.context(name, asked))
        assert other.services.extraction.extract_now(other.reach, name).memories == 0
    assert other.names(garden) == house.names(garden)
    assert other.memories("ann in garden") == house.memories("ann in garden")


def test_org_11_messages_that_were_not_extracted_are_extracted_after_the_import(
    house: MemorySetup, other: MemorySetup
) -> None:
    """ORG-11: with the time at which they were said, and entities for the project in which they were said (ISO-6)."""
    garden, cellar = furnish(house)
    import_into(other, archive_of(house))
    for each in (house, other):
        each.services.extraction.extract_now(each.reach, "moved")
        each.services.extraction.extract_now(each.reach, "labelled")
    assert "Lark" in other.names(garden) and "Lark" not in other.names(cellar, "bob")
    assert other.names(garden) == house.names(garden)
    of_2019 = [stored.memory.valid_from for stored in other.stored("labelled") if "Bello" in stored.memory.content]
    assert of_2019 == [
        stored.memory.valid_from for stored in house.stored("labelled") if "Bello" in stored.memory.content
    ]


def test_org_11_what_is_true_and_what_people_changed_comes_along(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11, MEM-12, MEM-13: validity, corrections with their history, pins and retractions; a correction can be undone."""
    furnish(house)
    lines = archive_of(house)
    import_into(other, lines)
    for name in ("facts", "more facts", "labelled"):
        assert states(other, name) == states(house, name)
    assert [state[0] for state in states(other, "facts") if state[1] == "superseded"] == [
        "Ann lives in Rome.",
        "Ann lives in Oslo.",
        "Ann lives in Rome.",
        "Ann works at Bruma.",
        "Ann works at Apex.",
        "Ann has a dog.",
    ]
    tea = other.stored("labelled")[0].memory.id
    histories = [each.services.corrections.history(each.reach, tea, limit=9) for each in (house, other)]
    assert histories[0] == histories[1] and len(histories[0]) == 3
    other.services.corrections.restore(other.reach, tea, by=None)
    assert not other.stored("labelled")[0].memory.pinned
    house.services.forgetting.session(house.reach, "more facts")
    other.services.forgetting.session(other.reach, "more facts")
    assert states(other, "facts") == states(house, "facts")


def test_org_11_a_batch_that_ends_before_the_revisions_of_a_memory_changes_nothing(
    house: MemorySetup, other: MemorySetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ORG-11, MEM-13: nor does an import that ended there and was repeated: what is true depends on the revisions too."""
    furnish(house)
    lines = archive_of(house)
    memory, revision = (line for line in lines if b"Ann works at Apex." in line)
    rest = [line for line in lines if line not in (memory, revision)]
    (newer,) = (at for at, line in enumerate(rest) if b"Ann works at Corvo." in line)
    last = changed([*rest[: newer + 1], memory, revision, *rest[newer + 1 :]], lambda fields: fields)
    monkeypatch.setattr(import_sessions, "_LARGEST_BATCH", 1)
    with pytest.raises(InvalidRequest, match="cut off"):
        import_into(other, last[: newer + 2])
    import_into(other, last)
    assert archive_of(other) == lines
    assert states(other, "facts") == states(house, "facts")


def states(house: MemorySetup, name: str) -> list[tuple[object, ...]]:
    return [
        (
            stored.memory.content,
            stored.status,
            stored.memory.superseded_by,
            stored.memory.valid_until,
            stored.memory.pinned,
        )
        for stored in house.stored(name)
    ]


def test_org_11_a_fact_of_an_archive_gives_way_to_a_newer_one_that_is_here(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, MEM-12: what is true is worked out with what is there already."""
    furnish(house)
    twin = settle_house(engine)
    twin.session("here", None, "ann")
    newest = ExtractedMemory(
        content="Ann lives in Reykjavik.", sources=(), subject="home", valid_from=1_600_000_000_000_000
    )
    (reykjavik,) = remember(twin, "here", newest)
    import_into(twin, archive_of(house))
    assert {state[2] for state in states(twin, "more facts") if "Lisbon" in str(state[0])} == {reykjavik.id}


def test_org_11_usage_counts_what_was_imported(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11, ORG-7: also the counts of sessions and projects."""
    furnish(house)
    import_into(other, archive_of(house))
    ours, theirs = (each.services.projects.usage(each.reach) for each in (house, other))
    assert (ours.messages, ours.sessions, ours.projects) == (theirs.messages, theirs.sessions, theirs.projects)
    counts = [
        [(project.name, project.memory_count) for project in each.services.projects.projects(each.reach, limit=9)]
        for each in (house, other)
    ]
    assert counts[0] == counts[1]


def test_org_11_a_deleted_session_comes_back_under_its_ids(engine: Engine, house: MemorySetup) -> None:
    """ORG-11: an archive is also a backup of what is deleted later."""
    furnish(house)
    lines = archive_of(house)
    house.services.forgetting.session(house.reach, "ann in garden")
    import_into(house, lines)
    assert archive_of(house) == lines


def test_org_11_a_new_message_in_an_imported_session_stays(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11: importing again adds what is missing, and takes nothing away."""
    furnish(house)
    lines = archive_of(house)
    import_into(other, lines)
    said = other.say("labelled", "And now I have a cat.")[0]
    import_into(other, lines)
    _, messages = other.services.sessions.messages(other.reach, "labelled", limit=50)
    assert said.id in [message.id for message in messages]
    assert other.find("labelled").message_count == len(messages)


def test_org_11_a_truncated_archive_is_refused_and_the_whole_one_completes_it(
    house: MemorySetup, other: MemorySetup
) -> None:
    """ORG-11: the error says where it stopped, and that a repetition goes on."""
    furnish(house)
    lines = archive_of(house)
    for cut in (1, 5, len(lines) // 2, len(lines) - 1):
        with pytest.raises(InvalidRequest, match="cut off") as caught:
            import_into(other, lines[:cut])
        assert "repeated import" in caught.value.__notes__[0]
    with pytest.raises(InvalidRequest, match="cut off"):
        import_into(other, [*lines[:7], lines[7][: len(lines[7]) // 2]])
    import_into(other, lines)
    assert archive_of(other) == lines


def test_org_11_an_altered_archive_is_refused(house: MemorySetup) -> None:
    """ORG-11: a changed, missing or repeated line of any kind."""
    furnish(house)
    lines = archive_of(house)
    for kind in sorted(kinds_of(lines) - {"end"}):
        refuse_altered(house, lines, kind)


def refuse_altered(other: MemorySetup, lines: Sequence[bytes], kind: str) -> None:
    at = max(at for at, line in enumerate(lines) if json.loads(line)["kind"] == kind)
    altered = lines[at].replace(b'","', b'", "', 1)
    with pytest.raises(InvalidRequest, match="missing, added or changed"):
        import_into(other, [*lines[:at], altered, *lines[at + 1 :]])
    if kind in ("memory", "observation", "mention"):
        with pytest.raises(InvalidRequest, match="missing, added or changed"):
            import_into(other, [*lines[:at], *lines[at + 1 :]])
    with pytest.raises(InvalidRequest, match="goes on behind"):
        import_into(other, [*lines, lines[at]])


def test_org_11_an_archive_has_no_keys_and_no_tenant(engine: Engine, house: MemorySetup) -> None:
    """ORG-11: nothing of a credential, and not the tenant's id."""
    furnish(house)
    created = house.services.api_keys.create(house.reach, KeyFields(name="a key of ours", permissions=("admin",)))
    text = b"".join(archive_of(house)).decode()
    assert "a key of ours" not in text and f"{created.key.id:016x}" not in text
    assert f"{house.reach.tenant:016x}" not in text


def test_org_11_an_export_is_one_snapshot(house: MemorySetup) -> None:
    """ORG-11: what is deleted or said while it runs changes nothing of it, and no session is half there."""
    furnish(house)
    lines = archive_of(house)
    running = house.services.export.lines(house.reach, ArchiveTarget())
    read = [next(running) for _ in range(5)]
    for name in ("long", "ann in garden", "bob in cellar"):
        house.services.forgetting.session(house.reach, name)
    house.say("moved", "Said meanwhile.")
    assert [*read, *running] == lines
    assert archive_of(house) != lines


def test_org_11_a_quota_stops_an_import_and_nothing_is_over(house: MemorySetup, other_engine: Engine) -> None:
    """ORG-11, ORG-7: what fits is imported; with more room, the rest."""
    furnish(house)
    lines = archive_of(house)
    for limits in (Limits(projects=1), Limits(messages=10), Limits(sessions=3)):
        other = settle_house(other_engine)
        other.services.projects.set_limits(other.reach, limits)
        with pytest.raises(QuotaExceeded):
            import_into(other, lines)
        usage = other.services.projects.usage(other.reach)
        assert usage.messages <= (limits.messages or usage.messages)
        assert usage.sessions <= (limits.sessions or usage.sessions)
        other.services.projects.set_limits(other.reach, Limits())
        import_into(other, lines)
        assert json.loads(archive_of(other)[-1])["counts"] == json.loads(lines[-1])["counts"]


def _set(kind: str, /, **fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda line: {**line, **fields} if line["kind"] == kind else line


HOSTILE = [
    _set("session", tags=["project:proj_0000000000000001"]),
    _set("session", tags=["user:bob"]),
    _set("session", unknown=1),
    _set("session", tenant_id="ten_0000000000000001"),
    _set("session", project_id="proj_00000000000000ff"),
    _set("session", next_sequence=0),
    _set("session", id="ses_ffffffffffffffff"),
    _set("session", metadata={"x": "y" * 20_000}),
    _set("message", id="msg_0000000000200001"),
    _set("message", role="root"),
    _set("message", content="\x00"),
    _set("message", content="x" * 70_000),
    _set("message", created_at="yesterday"),
    _set("message", episode_id="ep_0000000000200001"),
    _set("message", is_memory_checked="no"),
    _set("memory", source_message_ids=["msg_0000000000200001"]),
    _set("memory", id="mem_0000000000200002"),
    _set("memory", importance=2),
    _set("memory", source="invented"),
    _set("memory", digest="00"),
    _set("revision", before={"content": "x"}),
    _set("revision", action="create it"),
    _set("replacement", newer_id="mem_1"),
    _set("project", settings={"unknown": 1}),
    _set("project", name="proj_0000000000000001"),
    _set("project", id="proj_zz"),
    _set("observation", last_message_id="msg_0000000000200001"),
    _set("header", version=VERSION + 1),
    _set("message", parent_id="msg_0000000000200001"),
    _set("message", is_current="no"),
    _set("session", settled_message_id="msg_0000000000200001"),
    _set("header", format="other"),
    _set("header", more=1),
    _set("mention", kind="invented"),
]


def test_org_11_a_hostile_archive_is_refused(house: MemorySetup, other_engine: Engine) -> None:
    """ORG-11: forged tags, references to other sessions, unknown fields and wrong values; no other tenant changes."""
    furnish(house)
    lines = archive_of(house)
    bystander = settle_house(other_engine)
    bystander.session("outside")
    bystander.say("outside", "Not yours.")
    before = other_engine.dump(bystander.reach.tenant)
    for change in HOSTILE:
        other = settle_house(other_engine)
        with pytest.raises(CloisterError):
            import_into(other, changed(lines, change))
    assert other_engine.dump(bystander.reach.tenant) == before


def test_org_11_ids_stay_the_same(house: MemorySetup, other: MemorySetup) -> None:
    """ORG-11: those that callers know."""
    furnish(house)
    import_into(other, archive_of(house))
    for name in ("labelled", "ann in garden"):
        ours, theirs = (
            [
                format_message_id(message.id)
                for message in each.services.sessions.messages(each.reach, name, limit=50)[1]
            ]
            for each in (house, other)
        )
        assert ours == theirs
        assert [stored.memory.id for stored in house.stored(name)] == [
            stored.memory.id for stored in other.stored(name)
        ]


def test_org_11_a_twin_tenant_in_the_same_database_gets_its_own_copy(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, ISO-1: ids that are taken by another tenant are replaced, the same ones at every import, and nothing says so; not
    one row of the other tenant changes."""
    furnish(house)
    lines = archive_of(house)
    twin = settle_house(engine)
    before = engine.dump(house.reach.tenant)
    first = import_into(twin, lines)
    assert engine.dump(house.reach.tenant) == before
    elsewhere = settle_house(engine)
    assert import_into(elsewhere, lines) == first
    assert import_into(twin, lines).added == NOTHING
    asked = "Where does my brother Quillfeather work?"
    assert twin.recalled("ann in garden", asked) == house.recalled("ann in garden", asked)
    assert json.loads(archive_of(twin)[-1])["counts"] == json.loads(lines[-1])["counts"]
    house.services.tenants.erase(house.reach.tenant)
    assert twin.recalled("ann in garden", asked)
    assert import_into(twin, archive_of(twin)).added == NOTHING


def test_org_11_reach_is_respected(house: MemorySetup) -> None:
    """ORG-11: an export of a reach that is narrower than the target is refused, see the tests of routes for keys."""
    garden, cellar = furnish(house)
    export, tenant = house.services.export, house.reach.tenant
    for reach, target in (
        (Reach(tenant=tenant, confined_to=garden), ArchiveTarget()),
        (Reach(tenant=tenant, confined_to=garden), ArchiveTarget(user="ann")),
        (Reach(tenant=tenant, user="ann"), ArchiveTarget()),
        (Reach(tenant=tenant, user="ann"), ArchiveTarget(user="bob")),
        (Reach(tenant=tenant, user="ann"), ArchiveTarget(project=garden)),
    ):
        with pytest.raises(Forbidden):
            export.lines(reach, target)
    with pytest.raises(NotFound):
        export.lines(Reach(tenant=tenant, confined_to=garden), ArchiveTarget(project=cellar))
    assert list(export.lines(Reach(tenant=tenant, user="ann"), ArchiveTarget(user="ann"))) == archive_of(
        house, ArchiveTarget(user="ann")
    )


def test_org_11_an_old_message_that_comes_back_is_forgotten_by_age(house: MemorySetup) -> None:
    """ORG-11, MEM-18: even if the worker knew how old the other messages of the session are."""
    project = house.project("Garden", "shared", retention_days=30)
    house.session("s", project, "ann")
    now, day = house.clock(), 24 * 3_600_000_000
    drafts = [Draft(role="user", content=f"Said {days} days ago.", created_at=now - days * day) for days in (20, 10, 1)]
    first = house.services.record.messages(house.reach, "s", drafts).messages[0]
    lines = archive_of(house)
    house.services.forgetting.message(house.reach, first.id)
    assert house.services.retention.apply(house.reach, project).counts.messages == 0
    import_into(house, lines)
    house.clock.moment += 15 * day
    assert house.services.retention.apply(house.reach, project).counts.messages == 1
    assert [message.content for message in house.services.sessions.messages(house.reach, "s", limit=9)[1]] == [
        "Said 10 days ago.",
        "Said 1 days ago.",
    ]
