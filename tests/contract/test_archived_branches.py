"""Archives of sessions with branches (ORG-11)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId
from support.databases.engines import Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.setups.archives import archive_of, branch_out, changed, import_into
from support.setups.branches import choose, contents
from support.setups.memories import EVERYTHING, MemorySetup, settle_house


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


def messages_of(lines: list[bytes], session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    current = ""
    for record in map(json.loads, lines):
        current = record["external_id"] if record["kind"] == "session" else current
        if record["kind"] == "message" and current == session:
            found.append(record)
    return found


def test_an_archive_has_every_branch_and_gives_it_back(house: MemorySetup, other_engine: Engine) -> None:
    """ORG-11: from one engine to the other, and the next archive is the same."""
    branch_out(house, house.project())
    lines = archive_of(house)
    other = settle_house(other_engine)
    import_into(other, lines)
    assert archive_of(other) == lines
    records = messages_of(lines, "branched")
    assert {record["is_current"] for record in records} == {True, False}
    before, after = house.find("branched"), other.find("branched")
    assert (after.leaf, after.is_forked) == (before.leaf, True)
    for services, reach in ((house.services, house.reach), (other.services, other.reach)):
        last = [record for record in records if not record["is_current"]][-1]
        choose(services, reach, "branched", MessageId(int(last["id"].removeprefix("msg_"), 16)))
    assert contents(other.services, other.reach, "branched") == contents(house.services, house.reach, "branched")


def test_an_archive_without_branches_is_read_as_one_line(house: MemorySetup, other_engine: Engine) -> None:
    """As versions before the fourth have it."""
    house.session("talk")
    house.say("talk", "One.", "Two.")

    def older(record: dict[str, Any]) -> dict[str, Any]:
        gone = ("parent_id", "is_current", "settled_message_id")
        record = {name: value for name, value in record.items() if name not in gone}
        return record | ({"version": 3} if record["kind"] == "header" else {})

    other = settle_house(other_engine)
    import_into(other, changed(archive_of(house, ArchiveTarget()), older))
    assert archive_of(other) == archive_of(house)
    assert other.find("talk").leaf == house.find("talk").leaf


def test_importing_into_a_session_keeps_its_branch(house: MemorySetup) -> None:
    """What is there stays as it is; what was deleted since comes back beside it."""
    branch_out(house, house.project())
    lines = archive_of(house)
    services, reach = house.services, house.reach
    _, every = services.sessions.messages(reach, "branched", limit=EVERYTHING, all_branches=True)
    aside = [message for message in every if not message.is_current]
    choose(services, reach, "branched", aside[-1].id)
    _, chosen = services.sessions.messages(reach, "branched", limit=EVERYTHING)
    current = [message.content for message in chosen]
    gone = [message.id for message in every if message.id not in {one.id for one in chosen}]
    for message in gone:
        services.forgetting.message(reach, message)
    assert not house.find("branched").is_forked
    house.say("branched", "Something new.")
    import_into(house, lines)
    assert contents(services, reach, "branched") == [*current, "Something new.", "I see."]
    _, again = services.sessions.messages(reach, "branched", limit=EVERYTHING, all_branches=True)
    assert {message.id for message in every} <= {message.id for message in again}
    choose(
        services, reach, "branched", next(message.id for message in every if message.id not in {a.id for a in aside})
    )
    assert "Something new." not in contents(services, reach, "branched")


def test_an_archive_with_a_parent_that_is_not_there_is_refused(house: MemorySetup, other_engine: Engine) -> None:
    branch_out(house, house.project())
    lines = archive_of(house)
    parents = {record["parent_id"] for record in messages_of(lines, "branched")} - {None}

    def orphan(record: dict[str, Any]) -> dict[str, Any] | None:
        return None if record["kind"] == "message" and record["id"] == max(parents) else record

    other = settle_house(other_engine)
    with pytest.raises(InvalidRequest, match="parent_id"):
        import_into(other, changed(lines, orphan))
