"""Usage over time, by what is stored: only what the caller can read is counted, and an answer that is not all of it says so."""

import pytest

from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.services.listing import activity
from cloister.services.listing.project_memories import PartOfProject
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def counted(found: activity.Activity) -> int:
    return sum(day.messages for day in found.days)


def test_more_sessions_than_are_counted_are_told(house: MemorySetup, monkeypatch: pytest.MonkeyPatch) -> None:
    garden = house.project("Garden", "private")
    for name in ("one", "two", "three"):
        house.session(name, garden, "ann")
        house.say(name, "I live in Rome.")
    of_user = house.services.listings.activities.of_user
    assert (of_user(house.reach, "ann", days=1).complete, counted(of_user(house.reach, "ann", days=1))) == (True, 6)
    monkeypatch.setattr(activity, "_MOST_SESSIONS", 2)
    assert (of_user(house.reach, "ann", days=1).complete, counted(of_user(house.reach, "ann", days=1))) == (False, 4)


def test_what_was_moved_or_deleted_is_not_counted_where_it_was(house: MemorySetup) -> None:
    garden, cellar = house.project("Garden", "shared"), house.project("Cellar", "shared")
    for name in ("one", "two"):
        house.session(name, garden, "ann")
        house.say(name, "I live in Rome.")
    activities = house.services.listings.activities

    def of(project: ProjectId, reach: Reach = house.reach) -> int:
        return counted(activities.of_project(reach, PartOfProject(project=project, everybody=True), days=1))

    confined = Reach(tenant=house.reach.tenant, confined_to=garden)
    assert (of(garden), of(cellar), counted(activities.of_user(confined, "ann", days=1))) == (4, 0, 4)
    house.services.sessions.move(house.reach, "one", cellar)
    assert (of(garden), of(cellar), counted(activities.of_user(confined, "ann", days=1))) == (2, 2, 2)
    house.services.forgetting.session(house.reach, "two")
    assert (of(garden), of(cellar), counted(activities.of_user(confined, "ann", days=1))) == (0, 2, 0)
