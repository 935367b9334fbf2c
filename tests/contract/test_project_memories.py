"""What people look through of a project or a user has nothing of anybody else, whoever asks and whatever moved meanwhile."""

import pytest

from cloister.domain.errors import Forbidden, InvalidRequest, NotFound
from cloister.domain.identifiers import ProjectId
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.scope import Reach
from cloister.services.listing.project_memories import MemoryQuery, PartOfProject
from cloister.services.memories.corrections import MemoryChange
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup, settle_house

SAME = "The roses need water."
ALL = MemoryQuery()


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def add(house: MemorySetup, session: str, *contents: str) -> None:
    house.clock.moment += HOUR
    house.services.memories.add(house.reach, session, contents)


def sessions(
    house: MemorySetup, part: PartOfProject, wanted: MemoryQuery = ALL, *, reach: Reach | None = None
) -> list[str]:
    """The sessions of the memories of a part, as a caller with this reach lists them, and as the timeline names them."""
    reach = reach or house.reach
    found = [stored.session for stored in house.services.listings.memories.page(reach, part, wanted, limit=99)]
    if wanted is ALL and part.project is not None:
        entries = house.services.listings.timelines.of_project(reach, part, limit=99)
        assert sorted(entry.memory.session for entry in entries) == sorted(found)
    return found


def of(project: ProjectId | None, user: str | None = None, *, everybody: bool = False) -> PartOfProject:
    return PartOfProject(project=project, user_id=user, everybody=everybody)


def settle(house: MemorySetup) -> tuple[ProjectId, ProjectId, ProjectId]:
    """The same words of two users and of nobody, in two divided projects, in a shared one, in none, and in another tenant."""
    garden, cellar = house.project("Garden", "private"), house.project("Cellar", "private")
    hall = house.project("Hall", "shared")
    tenant, _ = house.services.projects.create_tenant("Neighbours")
    theirs = MemorySetup(services=house.services, reach=Reach(tenant=tenant), clock=house.clock)
    for name, setup, project, user in (
        ("garden ann", house, garden, "ann"),
        ("garden bob", house, garden, "bob"),
        ("garden", house, garden, None),
        ("cellar ann", house, cellar, "ann"),
        ("hall ann", house, hall, "ann"),
        ("hall bob", house, hall, "bob"),
        ("none ann", house, None, "ann"),
        ("none", house, None, None),
        ("theirs", theirs, None, "ann"),
    ):
        setup.session(name, project, user)
        add(setup, name, f"{SAME} Said in {name}.")
    return garden, cellar, hall


def test_a_list_has_the_part_that_is_asked_for(house: MemorySetup) -> None:
    """ISO-4, ISO-10."""
    garden, cellar, hall = settle(house)
    assert sessions(house, of(garden, "ann")) == ["garden ann"]
    assert sessions(house, of(garden)) == ["garden"]
    assert sessions(house, of(garden, "carl")) == []
    assert sessions(house, of(garden, everybody=True)) == ["garden", "garden bob", "garden ann"]
    assert sessions(house, of(cellar, everybody=True)) == ["cellar ann"]
    assert sessions(house, of(hall)) == ["hall bob", "hall ann"]
    assert sessions(house, of(hall, "ann")) == ["hall ann"]
    assert sessions(house, of(None, "ann")) == ["none ann"]
    assert sessions(house, of(None)) == ["none"]
    assert sessions(house, of(None, everybody=True)) == ["none", "none ann"]
    entries = house.services.listings.timelines.of_user(house.reach, "ann", limit=99)
    assert [entry.memory.session for entry in entries] == ["none ann", "hall ann", "cellar ann", "garden ann"]


def test_a_caller_lists_nothing_outside_its_reach(house: MemorySetup) -> None:
    """ISO-4, ORG-8, ORG-10: a key of another tenant, of one project, of one user, and of both."""
    garden, cellar, hall = settle(house)
    tenant = house.reach.tenant
    stranger, _ = house.services.projects.create_tenant("Strangers")
    with pytest.raises(NotFound):
        sessions(house, of(garden, everybody=True), reach=Reach(tenant=stranger))
    assert sessions(house, of(None, everybody=True), reach=Reach(tenant=stranger)) == []
    confined = Reach(tenant=tenant, confined_to=garden)
    assert sessions(house, of(garden, everybody=True), reach=confined) == ["garden", "garden bob", "garden ann"]
    with pytest.raises(NotFound):
        sessions(house, of(cellar, "ann"), reach=confined)
    with pytest.raises(Forbidden):
        sessions(house, of(None, "ann"), reach=confined)
    timeline = house.services.listings.timelines.of_user(confined, "ann", limit=99)
    assert [entry.memory.session for entry in timeline] == ["garden ann"]
    bound = Reach(tenant=tenant, user="ann")
    assert sessions(house, of(garden), reach=bound) == ["garden ann"]
    assert sessions(house, of(garden, everybody=True), reach=bound) == ["garden ann"]
    assert sessions(house, of(hall), reach=bound) == ["hall ann"]
    assert sessions(house, of(None, everybody=True), reach=bound) == ["none ann"]
    with pytest.raises(Forbidden):
        sessions(house, of(garden, "bob"), reach=bound)
    with pytest.raises(Forbidden):
        house.services.listings.timelines.of_user(bound, "bob", limit=99)


def test_a_session_that_moves_takes_its_memories_out_of_the_list(house: MemorySetup) -> None:
    """ISO-5: and what was forgotten is in no list and no timeline."""
    garden, cellar, _ = settle(house)
    house.move("garden ann", cellar)
    assert sessions(house, of(garden, everybody=True)) == ["garden", "garden bob"]
    assert sessions(house, of(cellar, "ann")) == ["cellar ann", "garden ann"]
    house.services.forgetting.session(house.reach, "garden ann")
    assert sessions(house, of(cellar, "ann")) == ["cellar ann"]
    house.services.projects.delete_project(house.reach, cellar)
    with pytest.raises(NotFound):
        sessions(house, of(cellar, "ann"))
    assert "cellar ann" in sessions(house, of(None, "ann"))


def test_a_list_is_narrowed_by_status_pin_words_and_filter_and_paged(house: MemorySetup) -> None:
    """Pages of one each give the same as one page, in the same order, newest first."""
    garden = house.project("Garden", "private")
    house.session("s", garden, "ann")
    for number in range(250):
        add(house, "s", f"Plant {number} is a Straße rose{'' if number % 100 else ' of Ann'}.")
    services, part = house.services, of(garden, "ann")
    listed = services.listings.memories
    first = listed.page(house.reach, part, ALL, limit=2)
    assert [stored.memory.content for stored in first] == [
        "Plant 249 is a Straße rose.",
        "Plant 248 is a Straße rose.",
    ]
    asked = MemoryQuery(words="STRASSE  ann")
    found = listed.page(house.reach, part, asked, limit=99)
    assert [stored.memory.content.split()[1] for stored in found] == ["200", "100", "0"]
    before = (found[0].memory.created_at, found[0].memory.id)
    assert listed.page(house.reach, part, asked, limit=1, before=before) == found[1:2]
    change = MemoryChange(given=frozenset({"pinned", "categories"}), pinned=True, categories=["travel"])
    services.corrections.correct(house.reach, found[1].memory.id, change, by=None)
    services.corrections.retract(house.reach, found[2].memory.id, by=None)
    for wanted, expected in (
        (MemoryQuery(pinned=True), found[1]),
        (MemoryQuery(status="retracted"), found[2]),
        (MemoryQuery(filter=parse_filter({"category": "travel"})), found[1]),
    ):
        assert [one.memory.id for one in listed.page(house.reach, part, wanted, limit=9)] == [expected.memory.id]
    assert len(listed.page(house.reach, part, MemoryQuery(pinned=False), limit=999)) == 249
    with pytest.raises(InvalidRequest, match="users"):
        listed.page(house.reach, of(garden, "ann", everybody=True), ALL, limit=1)


def test_the_timeline_says_what_was_learnt_and_what_changed(house: MemorySetup) -> None:
    """MEM-12, MEM-13: Rome, then Oslo; a correction with both texts, even after another one; a retraction and its undoing."""
    garden = house.project("Garden", "private")
    house.session("s", garden, "ann")
    house.tell("s", "I live in Rome.")
    house.clock.moment += HOUR
    house.tell("s", "I moved to Oslo.")
    timelines, corrections = house.services.listings.timelines, house.services.corrections

    def shown() -> list[tuple[str, str | None, str | None]]:
        found = timelines.of_project(house.reach, of(garden, "ann"), limit=99)
        paged = list(found[:1])
        while page := timelines.of_project(house.reach, of(garden, "ann"), limit=1, before=paged[-1].cursor):
            paged += page
        assert paged == found
        return [(entry.kind, entry.before, entry.after) for entry in found]

    rome, oslo = "The user lives in Rome.", house.stored("s")[-1].memory.content
    assert "Oslo" in oslo
    assert shown() == [("superseded", rome, oslo), ("learnt", None, rome)]
    memory = house.stored("s")[-1].memory.id
    for text in ("The user lives in Bergen.", "The user lives in Tromsø."):
        house.clock.moment += HOUR
        change = MemoryChange(given=frozenset({"content"}), content=text)
        corrections.correct(house.reach, memory, change, by=None)
    house.clock.moment += HOUR
    corrections.retract(house.reach, memory, by=None)
    house.clock.moment += HOUR
    corrections.restore(house.reach, memory, by=None)
    house.clock.moment += HOUR
    corrections.correct(house.reach, memory, MemoryChange(given=frozenset({"pinned"}), pinned=True), by=None)
    assert shown() == [
        ("changed", None, None),
        ("restored", None, None),
        ("retracted", None, None),
        ("corrected", "The user lives in Bergen.", "The user lives in Tromsø."),
        ("corrected", oslo, "The user lives in Bergen."),
        ("superseded", rome, oslo),
        ("learnt", None, rome),
    ]


def test_equal_memories_of_several_sessions_are_listed_learnt_and_changed_once(house: MemorySetup) -> None:
    """MEM-2: as the list of a user does."""
    garden = house.project("Garden", "private")
    for name in ("first", "second"):
        house.session(name, garden, "ann")
        add(house, name, SAME)
    part = of(garden, "ann")
    (stored,) = house.services.listings.memories.page(house.reach, part, ALL, limit=9)
    assert stored.session == "second"
    house.services.corrections.correct(
        house.reach, stored.memory.id, MemoryChange(given=frozenset({"content"}), content="They do not."), by=None
    )
    entries = house.services.listings.timelines.of_project(house.reach, part, limit=9)
    assert [entry.kind for entry in entries] == ["corrected", "learnt"]
