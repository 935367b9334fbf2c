"""What must not be in an archive: a project's has nothing of other projects, a user's nothing of other users (ORG-11, ISO-1)."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from cloister.domain.archive.conversations import ConversationRecord, SpokenRecord, conversation_lines
from cloister.domain.archive.imported import ImportCounts
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.conversation import Draft
from cloister.domain.errors import Forbidden, InvalidRequest, NotFound
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import quoted
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from support.databases.engines import Engine
from support.setups.archives import archive_of, changed, furnish, import_into
from support.setups.memories import MemorySetup, settle_house

ANNS = ("Quillfeather", "Brambleworks", "Rome", "Oslo", "Xandor1", "Bello", "tea")
BOBS = ("Thistlewick", "Ploverdale", "Rosa", "Lark", "Dunmore")
NOBODYS = ("Wren",)


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def text_of(house: MemorySetup, target: ArchiveTarget) -> str:
    return b"".join(archive_of(house, target)).decode()


def test_org_11_twin_tenants_with_the_same_ids_have_archives_of_their_own(engine: Engine) -> None:
    """ORG-11, ISO-1: the same external ids and users, and other words; also after one imported the other's archive."""
    ours, theirs = settle_house(engine), settle_house(engine)
    for house, word in ((ours, "Marigold"), (theirs, "Foxglove")):
        project = house.project("Garden")
        house.session("same", project, "ann")
        house.tell("same", f"My neighbour {word} plays the cello.")
    assert "Foxglove" not in text_of(ours, ArchiveTarget()) and "Marigold" in text_of(ours, ArchiveTarget())
    assert "Marigold" not in text_of(theirs, ArchiveTarget(user="ann"))
    taken = archive_of(ours)
    third = settle_house(engine)
    import_into(third, taken)
    assert "Foxglove" not in text_of(third, ArchiveTarget())
    ours.services.tenants.erase(ours.reach.tenant)
    assert "Marigold" in text_of(third, ArchiveTarget())


def test_org_11_an_export_of_a_foreign_project_is_that_of_a_missing_one(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, ISO-4."""
    garden, _ = furnish(house)
    stranger = settle_house(engine)
    with pytest.raises(NotFound):
        archive_of(stranger, ArchiveTarget(project=garden))
    empty = archive_of(stranger, ArchiveTarget(user="ann"))
    assert json.loads(empty[-1])["counts"] == {"header": 1}


def test_org_11_a_projects_archive_has_nothing_of_other_projects(house: MemorySetup) -> None:
    """ORG-11: nor of sessions that were there once, nor what their messages say of its entities."""
    garden, cellar = furnish(house)
    outside = house.project("Outside")
    house.session("leaving", garden, "ann")
    house.tell("leaving", "My uncle Kestrel works at Finchley.")
    house.move("leaving", outside)
    lines = [json.loads(line) for line in archive_of(house, ArchiveTarget(project=garden))]
    text = json.dumps(lines)
    assert "Kestrel" not in text and "Xandor1" not in text and "Lark" not in text
    assert {line["id"] for line in lines if line["kind"] == "project"} == {f"proj_{garden:016x}"}
    sessions = {line["external_id"] for line in lines if line["kind"] == "session"}
    assert sessions == {"ann in garden", "bob in garden", "None in garden", "labelled", "branched"}
    numbers = {line["id"][4:] for line in lines if line["kind"] == "session"}
    named = {f"{int(line['message_id'][4:], 16) >> 21:016x}" for line in lines if line["kind"] == "mention"}
    assert named <= numbers
    assert "moved" in text_of(house, ArchiveTarget(project=cellar))


@pytest.mark.parametrize("user, others", [("ann", (*BOBS, *NOBODYS)), ("bob", (*ANNS, *NOBODYS))])
def test_org_11_a_users_archive_has_nothing_of_other_users(
    house: MemorySetup, user: str, others: tuple[str, ...]
) -> None:
    """ORG-11, ISO-10: in shared projects too; of a shared entity only what the user's messages say; no settings."""
    garden, _ = furnish(house)
    house.session("both a", garden, "ann")
    house.session("both b", garden, "bob")
    house.tell("both a", "My doctor Hazel works at Elmhurst.")
    house.tell("both b", "My doctor Hazel lives in Oakridge.")
    text = text_of(house, ArchiveTarget(user=user))
    assert [word for word in others if word in text] == []
    assert ("Elmhurst" in text, "Oakridge" in text) == (user == "ann", user == "bob")
    assert ("Tarvin" in text, "Norbury" in text) == (user == "ann", user == "ann"), (
        "both branches of a session are hers"
    )
    assert "Hazel" in text and "Be kind" not in text
    users = {json.loads(line).get("user_id") for line in text.splitlines()}
    assert users <= {user, None}


def test_org_11_quotations_of_other_users_are_not_in_a_users_archive(house: MemorySetup) -> None:
    """ORG-11, ISO-12: a stored reply quotes what was recalled; of a shared project that may be somebody else's words."""
    garden, cellar = house.project("Garden", "shared"), house.project("Cellar", "private")
    for name, project in (("shared", garden), ("private", cellar)):
        house.session(name, project, "ann")
        house.say_reply(name, "What is known?", f"Here: {quoted([f'Secretly {name}.'])} and more.")
    text = text_of(house, ArchiveTarget(user="ann"))
    assert "Secretly shared" not in text and "Secretly private" in text and "and more." in text
    assert "Secretly shared" in text_of(house, ArchiveTarget(project=garden))


def test_org_11_a_quotation_that_stayed_in_its_pool_is_in_no_archive(house: MemorySetup) -> None:
    """ORG-11, ISO-12: a session shows it nowhere after it moved, and takes it nowhere."""
    garden, cellar = house.project("Garden"), house.project("Cellar")
    house.session("s", garden, "ann")
    house.say_reply("s", "What is known?", f"Here: {quoted(['Of the garden.'])} and more.")
    house.move("s", cellar)
    for target in (ArchiveTarget(), ArchiveTarget(project=cellar), ArchiveTarget(user="ann")):
        assert "Of the garden" not in text_of(house, target)


def test_org_11_an_imported_quotation_is_forgotten_with_what_it_quotes(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, ISO-12: the import notes that a message quotes, even if the archive denies it."""
    garden = house.project("Garden")
    house.session("source", garden, "ann")
    said = house.say("source", "The treasure is under the oak.")[0]
    house.session("quoting", garden, "ann")
    house.say_reply("quoting", "Where is it?", f"Here: {quoted([said.content])} That is all.")
    lines = changed(
        archive_of(house), lambda line: {**line, **({"has_recalled_text": False} if line["kind"] == "message" else {})}
    )
    twin = settle_house(engine)
    import_into(twin, lines)
    twin.services.forgetting.session(twin.reach, "source")
    assert "under the oak" not in text_of(twin, ArchiveTarget())


def test_org_11_an_import_stays_within_the_reach_of_its_caller(house: MemorySetup, engine: Engine) -> None:
    """ORG-11, ORG-4, ORG-10: a confined or bound caller adds nothing to other projects or users, and sees its own project only."""
    garden, cellar = furnish(house)
    run, tenant = house.services.import_lines.run, house.reach.tenant
    whole, project, user = (
        archive_of(house, target)
        for target in (ArchiveTarget(), ArchiveTarget(project=garden), ArchiveTarget(user="ann"))
    )
    in_garden, in_cellar, anns = (
        Reach(tenant=tenant, confined_to=garden),
        Reach(tenant=tenant, confined_to=cellar),
        Reach(tenant=tenant, user="ann"),
    )
    engine.unchanged_by(Forbidden, lambda: run(in_garden, whole))
    engine.unchanged_by(Forbidden, lambda: run(in_cellar, project))
    engine.unchanged_by((Forbidden, NotFound), lambda: run(Reach(tenant=tenant, user="bob"), user))
    house.services.forgetting.session(house.reach, "labelled")
    assert run(in_garden, project).added.sessions == 1
    house.services.forgetting.session(house.reach, "labelled")
    assert run(anns, user).added.sessions == 1

    def of_bob(line: dict[str, Any]) -> dict[str, Any]:
        return {**line, "user_id": "bob"} if line["kind"] == "session" else line

    house.services.forgetting.session(house.reach, "labelled")
    engine.unchanged_by(Forbidden, lambda: run(anns, changed(user, of_bob)))


def test_org_11_the_session_of_another_conversation_is_not_overwritten(house: MemorySetup, engine: Engine) -> None:
    """ORG-11: the same external id, and another session: the import says so and stops."""
    furnish(house)
    other = settle_house(engine)
    other.session("labelled", user="eve")
    other.say("labelled", "I am somebody else.")
    with pytest.raises(Exception, match="another session 'labelled'"):
        import_into(other, archive_of(house))
    _, messages = other.services.sessions.messages(other.reach, "labelled", limit=50)
    assert [message.content for message in messages] == ["I am somebody else.", "I see."]


def test_org_11_entities_of_a_shared_project_are_divided_in_a_private_one(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, ISO-10: an archive of a time when the project was shared opens nothing now."""
    garden, _ = furnish(house)
    lines = archive_of(house, ArchiveTarget(project=garden))
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    for name in ("ann in garden", "bob in garden"):
        house.services.forgetting.session(house.reach, name)
    import_into(house, lines)
    assert "Quillfeather" in house.names(garden, "ann") and "Quillfeather" not in house.names(garden, "bob")
    assert "Thistlewick" not in house.names(garden, "ann") and house.names(garden) == ["Wren"]


def test_org_12_conversations_go_into_the_named_project_only(engine: Engine, house: MemorySetup) -> None:
    """ORG-12: a session that is in another project, or of another user, is left alone; the conversation gets another id."""
    garden, cellar = house.project("Garden"), house.project("Cellar", "private")
    house.services.sessions.create(house.reach, SessionFields(external_id="log:b", project=cellar, user_id="bob"))
    records: list[Any] = []
    for name in ("log:a", "log:b"):
        records.append(ConversationRecord(external_id=name, user_id=None, title=None, created_at=1, updated_at=1))
        records.append(SpokenRecord(source_id="1", role="user", author=None, content="Hello", created_at=1))
    lines = list(conversation_lines(records, project=garden, user="ann", created_by="test"))
    imported = import_into(house, lines)
    assert (imported.added.sessions, imported.added.messages, imported.skipped) == (2, 2, {})
    assert house.find("log:b").message_count == 0 and house.find("log:a").project == garden
    assert import_into(house, lines).added.messages == 0
    stranger = settle_house(engine)
    engine.unchanged_by(NotFound, lambda: import_into(stranger, lines))
    tenant = house.reach.tenant
    run = house.services.import_lines.run
    engine.unchanged_by(NotFound, lambda: run(Reach(tenant=tenant, confined_to=cellar), lines))
    engine.unchanged_by(Forbidden, lambda: run(Reach(tenant=tenant, user="bob"), lines))
    elsewhere = list(conversation_lines(records, project=None, user="ann", created_by="test"))
    engine.unchanged_by(InvalidRequest, lambda: run(Reach(tenant=tenant, confined_to=garden), elsewhere))


def test_org_12_a_newer_export_adds_the_new_messages_only(house: MemorySetup) -> None:
    """ORG-12: also where a message was edited in the middle; times are those of the source, and so is what is extracted."""
    garden = house.project("Garden")
    year_2019 = 1_546_300_800_000_000

    def lines(*said: tuple[str, str]) -> list[bytes]:
        record = ConversationRecord(
            external_id="chatgpt:c", user_id=None, title="T", created_at=year_2019, updated_at=year_2019 + len(said)
        )
        spoken = [
            SpokenRecord(source_id=source, role="user", author=None, content=words, created_at=year_2019 + at)
            for at, (source, words) in enumerate(said)
        ]
        return list(conversation_lines([record, *spoken], project=garden, user="ann", created_by="test"))

    first = [("1", "I live in Rome."), ("2", "My brother Finch works at Zentrix.")]
    assert import_into(house, lines(*first)).added.messages == 2
    before = house.find("chatgpt:c")
    assert (before.created_at, before.updated_at) == (year_2019, year_2019 + 2)
    newer = [first[0], ("2b", "My brother Finch works at Brambleworks."), ("3", "Thanks.")]
    assert import_into(house, lines(*newer)).added.messages == 2
    _, messages = house.services.sessions.messages(house.reach, "chatgpt:c", limit=50)
    assert [message.content for message in messages] == [first[0][1], first[1][1], newer[1][1], "Thanks."]
    assert house.find("chatgpt:c").updated_at < year_2019 + 1_000_000
    house.services.extraction.extract_now(house.reach, "chatgpt:c")
    assert {stored.memory.valid_from // 1_000_000 for stored in house.stored("chatgpt:c")} == {year_2019 // 1_000_000}


def test_org_11_a_message_that_cannot_be_recorded_cannot_be_imported(house: MemorySetup) -> None:
    """ORG-11: the checks of a message are those of recording."""
    house.session("s")
    house.services.record.messages(house.reach, "s", [Draft(role="user", content="Fine.")])
    for content in ("", "   ", "\x00", "x" * 65_537):
        altered = changed(
            archive_of(house),
            lambda line, content=content: {**line, "content": content} if line["kind"] == "message" else line,
        )
        with pytest.raises(Exception, match=r"message\.content"):
            import_into(house, altered)


def test_org_11_a_session_that_is_deleted_while_it_is_imported_does_not_come_back_in_part(
    engine: Engine, house: MemorySetup
) -> None:
    """ORG-11: what was imported of it is gone, and the rest is skipped and counted; so are conversations (ORG-12)."""
    house.session("long")
    house.services.record.messages(
        house.reach, "long", [Draft(role="user", content=f"Message {number}.") for number in range(450)]
    )
    record = ConversationRecord(external_id="log:long", user_id=None, title=None, created_at=1, updated_at=1)
    spoken = [
        SpokenRecord(source_id=str(number), role="user", author=None, content=f"Message {number}.", created_at=number)
        for number in range(450)
    ]
    twin = settle_house(engine)
    for name, lines in (
        ("long", archive_of(house)),
        ("log:long", list(conversation_lines([record, *spoken], project=None, user=None, created_by="test"))),
    ):

        def deleting(name: str = name, lines: Sequence[bytes] = lines) -> Iterator[bytes]:
            for number, line in enumerate(lines):
                if number == 300:
                    assert twin.find(name).message_count == 200
                    twin.services.forgetting.session(twin.reach, name)
                yield line

        imported = twin.services.import_lines.run(twin.reach, deleting())
        assert imported.skipped == {"the session was deleted while it was imported": 1}
        with pytest.raises(NotFound):
            twin.find(name)


def retagged(house: MemorySetup) -> ProjectId:
    """Bob's brother, first in a shared project, then in the part without a user of a private one."""
    garden, cellar = house.project("Garden", "shared"), house.project("Cellar", "private")
    house.session("bob", garden, "bob")
    house.tell("bob", "My brother Thistlewick works at Ploverdale.")
    (entity,) = (each for each in house.entities(garden) if each.name == "Thistlewick")
    house.services.entities.retag(house.reach, entity.id, cellar)
    house.session("bob in cellar", cellar, "bob")
    return cellar


def test_org_11_a_retagged_entity_stays_in_the_part_that_it_is_in(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, ISO-6, ISO-10: importing the export again adds nothing to the user who said it, and a restored copy is the same."""
    cellar = retagged(house)
    lines = archive_of(house)
    before = engine.dump()
    assert import_into(house, lines).added == ImportCounts()
    assert engine.dump() == before
    twin = settle_house(engine)
    import_into(twin, lines)
    there = next(each.id for each in twin.services.projects.projects(twin.reach, limit=9) if each.name == "Cellar")
    for each, project in ((house, cellar), (twin, there)):
        assert (each.names(project), each.names(project, "bob")) == (["Thistlewick"], [])
        assert each.recalled_entities("bob in cellar", "Who is Thistlewick?") == []


def test_org_11_an_archive_that_lies_about_visibility_opens_nothing(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, ISO-10, ORG-4, ORG-10: neither a confined nor a bound caller adds to, or reads, a part that it could not before."""
    _, cellar = furnish(house)
    run, tenant = house.services.import_lines.run, house.reach.tenant
    in_cellar, anns = Reach(tenant=tenant, confined_to=cellar), Reach(tenant=tenant, user="ann")
    lines = archive_of(house, ArchiveTarget(project=cellar))

    def lying(visibility: str, user: str | None) -> list[bytes]:
        def change(line: dict[str, Any]) -> dict[str, Any]:
            if line["kind"] == "project":
                return {**line, "member_visibility": visibility}
            return {**line, "user_id": user} if line["kind"] == "entity" else line

        return changed(lines, change)

    anns_entities = house.names(cellar, "ann")
    for visibility, user in (("shared", None), ("private", None), ("shared", "bob"), ("private", "bob")):
        altered = lying(visibility, user)
        engine.unchanged_by(Forbidden, lambda altered=altered: run(anns, altered))
        run(in_cellar, altered)
        assert house.names(cellar, "ann") == anns_entities
        assert house.services.projects.project(house.reach, cellar).member_visibility == "private"
    for part in (None, "bob"):
        for entity in house.entities(cellar, part):
            for mention in house.services.entities.mentions(house.reach, entity.id, limit=50):
                assert mention.said.user == part
