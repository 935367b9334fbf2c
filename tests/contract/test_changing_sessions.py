"""Changing a session is activity: it says when it was, and the list, newest activity first, goes by it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionChange, SessionFields
from support.databases.engines import Engine

NAMES = ("first", "second", "third", "fourth", "fifth")


@dataclass(kw_only=True, slots=True)
class House:
    """A tenant with five sessions, the fifth the newest, over a clock that ticks whenever somebody looks at it."""

    engine: Engine
    services: Services
    reach: Reach
    garden: ProjectId
    clock: "Ticking"

    def change(self, name: str, change: SessionChange) -> None:
        self.services.sessions.change(self.reach, name, change)

    def listed(self, limit: int = 2) -> list[str]:
        """All pages of the list, each from behind the last one seen."""
        found: list[str] = []
        before: tuple[int, int] | None = None
        while page := self.services.sessions.page(self.reach, limit=limit, before=before):
            found += [session.external_id for session in page]
            before = (page[-1].updated_at, page[-1].id)
        return found


@dataclass(kw_only=True, slots=True)
class Ticking:
    ticks: Iterator[int] = field(default_factory=lambda: count(1_700_000_000_000_000, 1_000))
    last: int = 0

    def __call__(self) -> int:
        self.last = next(self.ticks)
        return self.last


@pytest.fixture
def house(shared_engine: Engine) -> House:
    clock = Ticking()
    services = shared_engine.services(clock=clock)
    reach = Reach(tenant=services.projects.create_tenant("House")[0])
    garden = services.projects.create_project(reach, "Garden").id
    for name in NAMES:
        fields = SessionFields(external_id=name, title="Roses", tags=("red",), metadata={"beds": 1})
        services.sessions.create(reach, fields)
    return House(engine=shared_engine, services=services, reach=reach, garden=garden, clock=clock)


CHANGES = {
    "the title": SessionChange(title="Beans"),
    "no title": SessionChange(untitle=True),
    "the tags": SessionChange(tags=("green",)),
    "no tags": SessionChange(tags=()),
    "the metadata": SessionChange(metadata={"beds": 2}),
    "metadata that Python calls equal": SessionChange(metadata={"beds": True}),
    "several": SessionChange(title="Beans", tags=("green",)),
}
NO_CHANGES = {
    "nothing": SessionChange(),
    "the same title": SessionChange(title="Roses"),
    "the same tags": SessionChange(tags=("red",)),
    "the same metadata": SessionChange(metadata={"beds": 1}),
    "all of it": SessionChange(title="Roses", tags=("red", "red"), metadata={"beds": 1}),
}


@pytest.mark.parametrize("about", CHANGES)
def test_a_changed_session_was_updated_then_and_comes_first(house: House, about: str) -> None:
    before, made = house.clock.last, house.services.sessions.get(house.reach, "second")
    house.change("second", CHANGES[about])
    changed = house.services.sessions.get(house.reach, "second")
    assert before < changed.updated_at <= house.clock.last
    assert changed.created_at == made.created_at
    assert house.listed() == ["second", "fifth", "fourth", "third", "first"]


def test_iso_5_a_session_that_moves_was_updated_then(house: House) -> None:
    """Into a project, and out of it."""
    house.services.record.messages(house.reach, "third", [Draft(role="user", content="The roses need water.")])
    for project in (house.garden, None):
        house.change("first", SessionChange(title="Elsewhere"))
        before = house.clock.last
        house.services.sessions.move(house.reach, "third", project)
        moved = house.services.sessions.get(house.reach, "third")
        assert (moved.project, before < moved.updated_at <= house.clock.last) == (project, True)
        assert house.listed() == ["third", "first", "fifth", "fourth", "second"]


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("about", NO_CHANGES)
def test_what_asks_for_nothing_new_changes_nothing(house: House, about: str, moving: bool) -> None:
    before = house.engine.dump(house.reach.tenant)
    if moving:
        house.services.sessions.move(house.reach, "second", None, NO_CHANGES[about])
    else:
        house.change("second", NO_CHANGES[about])
    assert house.engine.dump(house.reach.tenant) == before
    assert house.listed() == [*reversed(NAMES)]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 9])
def test_pages_after_changes_hold_every_session_once(house: House, limit: int) -> None:
    for name in ("fourth", "first", "fourth", "third"):
        house.change(name, SessionChange(title=f"{name} {house.clock.last}"))
    assert house.listed(limit) == ["third", "fourth", "first", "fifth", "second"]


def test_a_clock_that_went_back_takes_no_activity_away(house: House) -> None:
    made = house.services.sessions.get(house.reach, "fifth")
    house.clock.ticks = count(1)
    house.change("fifth", SessionChange(title="Beans"))
    assert house.services.sessions.get(house.reach, "fifth").updated_at == made.updated_at
    assert house.listed() == [*reversed(NAMES)]
