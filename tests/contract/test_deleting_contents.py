"""Deleting a project with its contents: everything in it goes in one transaction, and nothing of any other project (ORG-5)."""

import pytest

from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.conversation import Draft
from cloister.domain.errors import Conflict, Forbidden, NotFound
from cloister.domain.identifiers import ProjectId, format_project_id
from cloister.domain.memory import quoted
from cloister.domain.scope import Reach
from cloister.services.recall.search import SearchTarget
from cloister.services.tenancy.api_keys import KeyFields
from cloister.storage.interface import Transaction
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.turns import TurnStore
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house
from support.setups.stored_contents import file_text, listed_files, marks, put_mark, store_file

SECRETS = ("My brother Quillfeather works at Brambleworks.", "My neighbour Rosa plays the cello.")
OTHERS = ("My sister Thistlewick lives in Ploverdale.", "My neighbour Rosa keeps bees.")
CANARIES = ("Quillfeather", "Brambleworks", "cello", "Hollyhock")
QUESTION = "Who is my neighbour, and where does my family work?"


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def another_tenant(house: MemorySetup) -> MemorySetup:
    tenant, _ = house.services.projects.create_tenant("Neighbours")
    return MemorySetup(services=house.services, reach=Reach(tenant=tenant), clock=house.clock)


def furnish(house: MemorySetup, visibility: str = "shared") -> tuple[ProjectId, ProjectId]:
    """Ann, Bob and nobody in particular talk in the garden, in the cellar and in no project; there are files and entries."""
    garden = house.project("Hollyhock", "shared" if visibility == "shared" else "private", system_prompt="Hollyhock.")
    cellar = house.project("Cellar", "private")
    for user in ("ann", "bob", None):
        for name, project, words in (("garden", garden, SECRETS), ("cellar", cellar, OTHERS), ("none", None, OTHERS)):
            house.session(f"{user} {name}", project, user)
            house.tell(f"{user} {name}", *words)
            store_file(house, f"{user} {name}", "notes.txt", f"{words[0]}")
            put_mark(house, project, user, "k", words[0])
    return garden, cellar


def shown_outside(house: MemorySetup, cellar: ProjectId) -> list[object]:
    """All that the sessions outside the garden show."""
    shown: list[object] = []
    for user in ("ann", "bob", None):
        shown += [house.entities(cellar, user), marks(house, cellar, user), marks(house, None, user)]
        for name in (f"{user} cellar", f"{user} none"):
            shown += [house.services.sessions.messages(house.reach, name, limit=50), house.stored(name)]
            shown += [house.notes(name), house.recalled(name, QUESTION), listed_files(house, name)]
    return shown


@pytest.mark.parametrize("visibility", ["shared", "private"])
def test_org_5_everything_in_the_project_goes_and_is_counted(
    engine: Engine, house: MemorySetup, visibility: str
) -> None:
    """ISO-4: not a row has its words or its name, other projects are as they were, and so is a tenant with the same names."""
    beside = another_tenant(house)
    furnish(beside, visibility)
    garden, cellar = furnish(house, visibility)
    before, others = shown_outside(house, cellar), engine.dump(beside.reach.tenant)

    gone = house.services.erase_project.erase(house.reach, garden)

    assert (gone.sessions, gone.messages, gone.episodes, gone.memories) == (3, 12, 6, 6)
    assert (gone.files, gone.entries) == (3, 3) and gone.entities >= 2
    left = repr(engine.dump(house.reach.tenant))
    assert [canary for canary in CANARIES if canary in left] == []
    assert shown_outside(house, cellar) == before
    assert engine.dump(beside.reach.tenant) == others
    usage = house.services.projects.usage(house.reach)
    assert (usage.sessions, usage.messages, usage.projects, usage.files, usage.entries) == (6, 24, 2, 6, 6)
    for call in (house.services.projects.delete_project, house.services.erase_project.erase):
        with pytest.raises(NotFound):
            call(house.reach, garden)


def test_org_5_nothing_of_it_is_recalled_or_searched(house: MemorySetup) -> None:
    """Also where a new project and new sessions have the old names."""
    garden, cellar = furnish(house)
    house.services.erase_project.erase(house.reach, garden)
    again = house.project("Hollyhock", "shared")
    house.session("ann garden", again, "ann")
    house.say("ann garden", "Hello.")
    for name in ("ann garden", "ann none", "ann cellar"):
        shown = repr((house.recalled(name, QUESTION), house.recalled_entities(name, QUESTION)))
        assert not [canary for canary in CANARIES if canary in shown]
    for target in (SearchTarget(project=again, user_id="ann"), SearchTarget(project=cellar, user_id="ann")):
        assert not [hit for hit in house.searched(SECRETS[0], target) if "Quillfeather" in hit]
    with pytest.raises(NotFound):
        house.searched(SECRETS[0], SearchTarget(project=garden, user_id="ann"))


def test_a_dry_run_counts_the_same_and_changes_nothing(engine: Engine, house: MemorySetup) -> None:
    garden, _ = furnish(house)
    before = engine.dump(house.reach.tenant)
    tried = house.services.erase_project.erase(house.reach, garden, dry_run=True)
    assert engine.dump(house.reach.tenant) == before
    gone = house.services.erase_project.erase(house.reach, garden)
    assert tried == gone and tried.removal.named == gone.removal.named
    assert gone.removal.named["projects"] == [format_project_id(garden)]


def test_what_came_in_goes_and_what_left_stays(engine: Engine, house: MemorySetup) -> None:
    """A session that left keeps its messages and memories; its files and entities of the project go. One that came in goes, with
    what it said of entities in its old project."""
    garden, cellar = house.project("Hollyhock", "private"), house.project("Cellar", "private")
    house.session("left", garden, "ann")
    house.tell("left", SECRETS[0])
    store_file(house, "left", "secret.txt", "Hollyhock")
    house.move("left", cellar)
    house.session("came", cellar, "ann")
    house.tell("came", SECRETS[1])
    house.session("stays", cellar, "ann")
    house.tell("stays", OTHERS[1])
    house.move("came", garden)

    gone = house.services.erase_project.erase(house.reach, garden)

    assert (gone.sessions, gone.files) == (1, 1)
    assert len(house.memories("left")) == 1 and "Quillfeather" in house.memories("left")[0]
    assert gone.removal.named["files"] == ["/memories/secret.txt"]
    rosa = next(entity for entity in house.entities(cellar, "ann") if entity.name == "Rosa")
    assert "bees" in rosa.notes and "cello" not in rosa.notes
    left = engine.dump(house.reach.tenant)
    assert "Hollyhock" not in repr(left) and "cello" not in repr(left)
    assert "Quillfeather" not in repr(left["entity"])
    house.move("left", None)
    assert file_text(house, "left", "secret.txt") is None


def test_iso_12_quotations_of_it_go_from_sessions_that_left(engine: Engine, house: MemorySetup) -> None:
    garden = house.project("Hollyhock", "shared")
    house.session("source", garden, "bob")
    house.say("source", SECRETS[0])
    house.session("left", garden, "ann")
    block = quoted([f"2024-01-01 bob: {SECRETS[0]}"])
    drafts = [
        Draft(role="user", content="What did Bob say?"),
        Draft(role="assistant", content=f"{block}\nThat is all."),
    ]
    house.services.record.messages(house.reach, "left", drafts)
    house.move("left", None)
    reader = house.services.events.subscribe(house.reach)
    house.services.erase_project.erase(house.reach, garden)
    assert "Quillfeather" not in repr(engine.dump(house.reach.tenant))
    events = [(each.event.kind, each.event.session) for each in reader.read() if each.event]
    assert ("session.deleted", "source") in events and ("session.changed", "left") in events


def test_receipts_of_no_session_go(engine: Engine, house: MemorySetup) -> None:
    garden, cellar = (house.project(name, "shared", store_receipts=True) for name in ("Garden", "Cellar"))
    for project in (garden, cellar):
        house.session(f"in {project}", project, "ann")
        house.say(f"in {project}", "The roses need water.")
        found = house.services.search.find(house.reach, "roses", SearchTarget(project=project, user_id="ann"), 5)
        house.services.recall_receipts.of_search(house.reach, found, None, None)
    gone = house.services.erase_project.erase(house.reach, garden)
    assert len(gone.removal.named["receipts"]) == 1
    assert engine.rows("SELECT project_id FROM receipt") == [(cellar,)]


def test_running_turns_and_extractions_keep_nothing(house: MemorySetup) -> None:
    garden, _ = furnish(house)
    session, now = house.find("ann garden"), house.clock()

    def begin(transaction: Transaction) -> bool:
        until = now + 1_000_000_000
        turn = TurnStore(transaction).take(session.id, 5, now=now, until=until)
        return turn and ExtractionStore(transaction).claim(session.id, 7, now=now, until=until)

    assert house.services.database.write(house.reach, begin)
    house.services.erase_project.erase(house.reach, garden)
    assert house.services.database.write(house.reach, lambda t: TurnStore(t).end(session.id, 5)) is None
    assert not house.services.database.write(house.reach, lambda t: ExtractionStore(t).renew(session.id, 7, until=now))
    with pytest.raises(NotFound):
        house.say("ann garden", "One more thing.")


def test_the_default_project_foreign_ones_and_narrow_keys_are_refused(engine: Engine, house: MemorySetup) -> None:
    """A foreign project is as unknown as a missing one."""
    garden, _ = furnish(house)
    beside = another_tenant(house)
    theirs = beside.project("Theirs")
    erase, tenant = house.services.erase_project.erase, house.reach.tenant
    default = house.services.projects.default_project(house.reach)
    for dry_run in (False, True):
        engine.unchanged_by(Conflict, lambda dry_run=dry_run: erase(house.reach, default, dry_run=dry_run))
        for unknown in (theirs, ProjectId(theirs ^ 1)):
            engine.unchanged_by(
                NotFound, lambda dry_run=dry_run, unknown=unknown: erase(house.reach, unknown, dry_run=dry_run)
            )
        for reach in (Reach(tenant=tenant, confined_to=garden), Reach(tenant=tenant, user="ann")):
            engine.unchanged_by(Forbidden, lambda dry_run=dry_run, reach=reach: erase(reach, garden, dry_run=dry_run))


def test_org_8_a_key_outlives_the_project_it_is_pinned_to(house: MemorySetup) -> None:
    """As with the other way of deleting a project."""
    garden, _ = furnish(house)
    made = house.services.api_keys.create(house.reach, KeyFields(name="k", project=garden, confined=True))
    house.services.erase_project.erase(house.reach, garden)
    assert house.services.api_keys.authenticate(made.text).project == garden
    assert not house.services.projects.owns(house.reach, garden)


def test_org_11_an_archive_brings_the_project_back_with_its_name_and_settings(house: MemorySetup) -> None:
    garden, _ = furnish(house)
    lines = list(house.services.export.lines(house.reach, ArchiveTarget(project=garden)))
    house.services.erase_project.erase(house.reach, garden)
    house.services.import_lines.run(house.reach, lines)
    restored = house.services.projects.project(house.reach, garden)
    assert (restored.name, restored.settings["system_prompt"]) == ("Hollyhock", "Hollyhock.")
    assert restored.memory_count == 6
    assert any("Quillfeather" in one for one in house.recalled("ann garden", QUESTION))
