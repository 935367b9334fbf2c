"""Archives of entities with several names, of relations, of OpenAI's items and responses (ORG-11, MEM-17, DOOR-2)."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cloister.domain.archive.imported import ImportCounts
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.services.chat.responses import format_response_id
from cloister.services.conversations.sessions import SessionFields
from support.databases.engines import Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.setups.archived_items import (
    RESPONSE,
    furnish_entities,
    furnish_items,
    named,
    shown_entities,
    shown_items,
)
from support.setups.archives import archive_of, changed, import_into, kinds_of
from support.setups.memories import MemorySetup, settle_house

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


def project_named(house: MemorySetup, name: str) -> ProjectId:
    return next(each.id for each in house.services.projects.projects(house.reach, limit=9) if each.name == name)


def test_org_11_names_relations_items_and_responses_are_byte_equal_after_the_other_engine(
    engine: Engine, house: MemorySetup, other_engine: Engine
) -> None:
    """ORG-11, MEM-17, DOOR-2: they are shown as before, and importing twice changes nothing, here or there."""
    orchard, attic = furnish_entities(house)
    furnish_items(house, "chat", orchard)
    lines = archive_of(house)
    assert kinds_of(lines) >= {"relation", "item", "response"}
    assert b"Vesna" not in b"".join(line for line in lines if b'"kind":"entity"' in line)
    other = settle_house(other_engine)
    first = import_into(other, lines)
    assert archive_of(other) == lines
    before = other_engine.dump()
    assert import_into(other, lines).unchanged == first.added
    assert other_engine.dump() == before
    before = engine.dump()
    assert import_into(house, lines).added == NOTHING
    assert engine.dump() == before
    for project, user in ((orchard, None), (attic, "ann")):
        assert shown_entities(other, project, user) == shown_entities(house, project, user)
        assert "Vesna" not in other.names(project, user)
    assert shown_items(other, "chat") == shown_items(house, "chat")
    answers = [each.services.responses.get(each.reach, format_response_id(RESPONSE)) for each in (house, other)]
    assert answers[0].body == answers[1].body and [item.id for item in answers[1].output] == answers[0].body["output"]


def test_org_11_a_twin_tenant_gets_names_relations_and_items_of_its_own(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, ISO-1: in the same database, where all ids are taken; nothing of the first tenant changes."""
    orchard, _ = furnish_entities(house)
    furnish_items(house, "chat", orchard)
    lines = archive_of(house)
    before = engine.dump(house.reach.tenant)
    twin = settle_house(engine)
    import_into(twin, lines)
    assert engine.dump(house.reach.tenant) == before
    assert import_into(twin, lines).added == NOTHING
    assert shown_entities(twin, project_named(twin, "Orchard")) == shown_entities(house, orchard)
    assert [item for _, item in shown_items(twin, "chat")] == [item for _, item in shown_items(house, "chat")]
    copied = twin.services.responses.get(twin.reach, format_response_id(RESPONSE))
    numbers = [twin.find("chat").id, *(message >> 21 for message in copied.body["messages"])]
    assert len(set(numbers)) == 1
    assert json.loads(archive_of(twin)[-1])["counts"] == json.loads(lines[-1])["counts"]


def test_org_11_a_users_archive_has_no_names_notes_and_items_that_may_be_others(
    engine: Engine, house: MemorySetup
) -> None:
    """ORG-11, ISO-10, ISO-12: of a shared entity only what the user's messages say, and nothing that a person added; no tool call
    of a shared project, which may have others' words in it; all of what is the user's alone."""
    orchard, attic = furnish_entities(house)
    furnish_items(house, "shared chat", orchard)
    furnish_items(house, "own chat", attic, RESPONSE + 10)
    text = b"".join(archive_of(house, ArchiveTarget(user="ann"))).decode()
    lines = [json.loads(line) for line in text.splitlines()]
    assert "Goldie" not in text and "gold" not in text and "bees" not in text
    orlas = [line for line in lines if line["kind"] == "entity" and line["name"] == "Orla Finch"]
    assert [line["corrected_notes"] for line in orlas if line["user_id"] is None] == [None]
    assert [line["corrected_notes"] for line in orlas if line["user_id"] == "ann"] == ["Ann's boss."]
    assert {line["name"] for line in lines if line["kind"] == "entity" and line["name_by_hand"]} >= {"OF"}
    assert text.count("Secretgrad") == 2  # of the project that is divided by user
    bobs = b"".join(archive_of(house, ArchiveTarget(user="bob"))).decode()
    assert "boss" not in bobs and "Secretgrad" not in bobs and "Silva" in bobs
    twin = settle_house(engine)
    import_into(twin, archive_of(house, ArchiveTarget(user="ann")))
    assert "Orla Finch" in twin.names(project_named(twin, "Orchard"))


def test_org_11_items_of_a_pool_that_the_session_has_left_are_not_in_an_archive(house: MemorySetup) -> None:
    """ORG-11, ISO-12: nor shown after an older archive was imported, until the session comes back."""
    garden, cellar = house.project("Garden", "shared"), house.project("Cellar", "shared")
    furnish_items(house, "chat", garden)
    shown, lines = shown_items(house, "chat"), archive_of(house)
    house.move("chat", cellar)
    assert "Secretgrad" not in b"".join(archive_of(house)).decode()
    import_into(house, lines)
    house.services.forgetting.contents(house.reach, "chat")
    import_into(house, lines)
    assert "Secretgrad" not in str(shown_items(house, "chat"))
    house.services.forgetting.session(house.reach, "chat")
    import_into(house, lines)
    assert shown_items(house, "chat") == shown


def test_org_11_an_archive_of_a_shared_project_brings_no_items_and_corrections_into_a_private_one(
    house: MemorySetup,
) -> None:
    """ORG-11, ISO-10, ISO-12: names and relations are divided by user; what may say what another user said is left out."""
    orchard, _ = furnish_entities(house)
    furnish_items(house, "chat", orchard)
    lines = archive_of(house)
    for name in ("ann in orchard", "bob in orchard", "chat"):
        house.services.forgetting.session(house.reach, name)
    house.services.projects.change_project(house.reach, orchard, member_visibility="private")
    import_into(house, lines)
    anns, bobs = (str(shown_entities(house, orchard, user)) for user in ("ann", "bob"))
    assert "gold" not in anns and "boss" not in anns + bobs and "Goldie" not in anns + bobs
    assert "works at" in anns and "works at" not in bobs and house.names(orchard) == []
    assert "Secretgrad" not in str(shown_items(house, "chat"))


def test_org_11_an_archive_of_version_1_is_still_imported(engine: Engine, house: MemorySetup) -> None:
    """ORG-11: its entities have one name each, which the rule of first names joins."""
    orchard, _ = furnish_entities(house)
    new = {"part_of", "grouped_by_hand", "name_by_hand", "corrected_name", "corrected_type", "corrected_notes"}

    def older(line: dict[str, Any]) -> dict[str, Any] | None:
        if line["kind"] in ("relation", "item", "response"):
            return None
        kept = {name: value for name, value in line.items() if name not in {*new, "corrected_at"}}
        return {**kept, "version": 1} if line["kind"] == "header" else kept

    twin = settle_house(engine)
    lines = changed(archive_of(house), older)
    import_into(twin, lines)
    assert import_into(twin, lines).added == NOTHING
    there = project_named(twin, "Orchard")
    assert named(twin, there, "Marta").name == "Marta Silva" == named(house, orchard, "Marta").name
    assert "Orla Finch" in twin.names(there) and "Pim" in twin.names(there)


def test_org_11_names_meet_those_that_are_here_already(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, MEM-17: what is here stays; a name that is missing joins the entity, or stands alone if the rule says so."""
    orchard, _ = furnish_entities(house)
    lines = archive_of(house)
    twin = settle_house(engine)
    import_into(twin, lines)
    there = project_named(twin, "Orchard")
    boss = named(twin, there, "Orla O'Brien").id
    twin.services.entity_changes.delete(twin.reach, named(twin, there, "Marta Silva").id)
    twin.session("more", there, "ann")
    twin.tell("more", "My friend Marta Rossi swims.", "My cousin Tilda flies.")
    import_into(twin, lines)
    assert named(twin, there, "Orla O'Brien").id == boss
    assert named(twin, there, "Marta").name == "Marta" and "Marta Silva" in twin.names(there)
    assert named(twin, there, "Pim").id == named(twin, there, "Tilda").id
    assert "Marta Silva" in house.names(orchard)


Change = Callable[[dict[str, Any]], dict[str, Any]]


def _set(kind: str, /, **fields: Any) -> Change:
    return lambda line: {**line, **fields} if line["kind"] == kind else line


def _set_other(**fields: Any) -> Change:
    return lambda line: {**line, **fields} if line["kind"] == "item" and line["position"] else line


def _set_frame(**fields: Any) -> Change:
    return lambda line: {**line, **fields} if line["kind"] == "item" and not line["position"] else line


HOSTILE = [
    _set("entity", part_of="ent_0000000000200001"),
    _set("entity", part_of=5),
    _set("entity", corrected_notes="x", corrected_at=None),
    _set("entity", corrected_type="god", corrected_at="2026-01-01T00:00:00Z"),
    _set("entity", corrected_notes="x" * 1_001, corrected_at="2026-01-01T00:00:00Z"),
    _set("relation", relation="x" * 41),
    _set("relation", relation="Works\nat"),
    _set("relation", message_id="msg_zz"),
    _set_other(message_id="msg_0000000000200001"),
    _set_other(position=-1),
    _set_other(position=10_001),
    _set_other(item=None),
    _set_other(item={"no": "type"}),
    _set_other(item={"type": "message", "role": "user", "content": "Not a message."}),
    _set_other(item={"type": "message", "role": "user", "content": "\ud800"}),
    _set_frame(lengths=["x"]),
    _set_frame(lengths=[1, 2, 3, 4, 5]),
    _set_frame(lengths=None),
    _set_frame(lengths=[1, 2, 3]),
    _set_frame(item=[]),
    _set_frame(item={"type": "message", "role": "user", "content": 5}, lengths=[5]),
    _set_frame(message_id=None),
    _set("response", question_id="msg_0000000000200001"),
    _set("response", message_ids=["msg_0000000000200001"]),
    _set("response", body={}),
]


def test_org_11_hostile_names_items_and_responses_are_refused(engine: Engine, house: MemorySetup) -> None:
    """ORG-11: references elsewhere, texts that hide from forgetting, and what could not be read again."""
    orchard, _ = furnish_entities(house)
    furnish_items(house, "chat", orchard)
    lines = archive_of(house)
    for change in HOSTILE:
        with pytest.raises(CloisterError):
            import_into(house, _unchecked(lines, change))


def _unchecked(lines: list[bytes], change: Change) -> list[bytes]:
    """Changed lines, also such as Python would not encode."""
    try:
        return changed(lines, change)
    except UnicodeEncodeError:
        return [line.replace(b"Be kind.", b"\\ud800") for line in lines]


def test_org_11_a_confined_caller_relates_nothing_of_other_projects(house: MemorySetup) -> None:
    """ORG-11, ORG-4: a relation that names entities of another project, or was said there, is left out."""
    orchard, _ = furnish_entities(house)
    other = house.project("Other", "shared")
    house.session("other", other, "ann")
    house.tell("other", "My friend Sanne works at Initech.")
    own = f"ent_{named(house, other, 'Sanne').id:016x}"
    foreign = f"ent_{named(house, orchard, 'Contoso').id:016x}"
    lines = archive_of(house, ArchiveTarget(project=other))
    for fields in ({"object_id": foreign}, {"subject_id": foreign}, {"subject_id": foreign, "object_id": own}):
        altered = changed(lines, _set("relation", relation="owns", **fields))
        house.services.import_lines.run(Reach(tenant=house.reach.tenant, confined_to=other), altered)
        house.services.import_lines.run(house.reach, altered)
    assert "owns" not in str(shown_entities(house, other)) + str(shown_entities(house, orchard))


def test_org_11_categories_and_metadata_come_along(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, MEM-14: of messages and sessions; those of memories are in the other tests."""
    house.services.sessions.create(
        house.reach, SessionFields(external_id="s", tags=("blue",), metadata={"a": [1.5, None]})
    )
    draft = Draft(
        role="user", content="I sing.", categories=("music", "ärger"), metadata={"channel": "mail", "n": {"x": 1}}
    )
    house.services.record.messages(house.reach, "s", [draft])
    twin = settle_house(engine)
    import_into(twin, archive_of(house))
    ((said,), (copied,)) = (each.services.sessions.messages(each.reach, "s", limit=9)[1] for each in (house, twin))
    assert (copied.categories, copied.metadata) == (("music", "ärger"), said.metadata) and copied.metadata
    assert (twin.find("s").tags, twin.find("s").metadata) == (house.find("s").tags, {"a": [1.5, None]})
