"""A tenant has exactly one default project (ORG-2), from its first moment on and whatever is changed at once, on both engines."""

from contextlib import suppress
from dataclasses import dataclass

import pytest

from cloister.bootstrap import Services
from cloister.domain.errors import Conflict, InvalidRequest, NotFound
from cloister.domain.identifiers import ProjectId, new_project_id
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from support.databases.engines import Engine, at_once

ROUNDS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    engine: Engine
    services: Services
    reach: Reach
    first: ProjectId

    def add(self) -> ProjectId:
        return self.services.projects.create_project(self.reach, "Same name", allow_duplicate_name=True).id

    def choose(self, project: ProjectId) -> None:
        self.services.projects.change_project(self.reach, project, is_default=True)

    def delete(self, project: ProjectId) -> None:
        self.services.projects.delete_project(self.reach, project)

    @property
    def default(self) -> ProjectId:
        """The only one; seen from outside, among deleted projects too."""
        (found,) = self.engine.rows(
            f"SELECT project_id, deleted_at FROM project WHERE tenant_id = {self.reach.tenant:d} AND is_default = 1"
        )
        assert found[1] is None
        assert found[0] == self.services.projects.default_project(self.reach)
        listed = self.services.projects.projects(self.reach, limit=200)
        assert [project.id for project in listed if project.is_default] == [found[0]]
        return self.services.projects.default_project(self.reach)


@pytest.fixture(scope="module")
def houses(shared_engine: Engine) -> tuple[Services, Services]:
    """Two processes over the same data."""
    return shared_engine.services(), shared_engine.services()


def settle(engine: Engine, services: Services) -> Home:
    tenant, default = services.projects.create_tenant("Household")
    return Home(engine=engine, services=services, reach=Reach(tenant=tenant), first=default)


@pytest.fixture
def home(shared_engine: Engine, houses: tuple[Services, Services]) -> Home:
    return settle(shared_engine, houses[0])


def test_org_2_a_new_tenant_has_one_project_and_it_is_the_default(home: Home) -> None:
    assert home.default == home.first
    assert [project.id for project in home.services.projects.projects(home.reach, limit=9)] == [home.first]


def test_org_2_the_default_moves_and_is_never_two_or_none(home: Home) -> None:
    second, third = home.add(), home.add()
    assert home.default == home.first
    for chosen in (second, third, third, home.first, second):
        home.choose(chosen)
        assert home.default == chosen
    home.delete(home.first)
    home.delete(third)
    assert home.default == second


def test_org_5_the_default_cannot_be_deleted_while_it_is_the_default(home: Home) -> None:
    """ORG-5, ORG-2: not even as the only project; afterwards it can."""
    home.engine.unchanged_by(Conflict, lambda: home.delete(home.first))
    home.choose(home.add())
    home.delete(home.first)
    assert home.default != home.first


def test_org_2_what_is_not_the_tenants_cannot_become_its_default(home: Home) -> None:
    """ORG-2, ISO-4: a foreign project, a deleted one, one that never was; and the default cannot be set to nothing."""
    other = settle(home.engine, home.services)
    deleted = home.add()
    home.delete(deleted)
    for project in (other.first, deleted, new_project_id()):
        home.engine.unchanged_by(NotFound, lambda project=project: home.choose(project))
    organise = home.services.projects
    home.engine.unchanged_by(InvalidRequest, lambda: organise.change_project(home.reach, home.first, is_default=False))
    assert (home.default, other.default) == (home.first, other.first)


def test_org_2_the_defaults_of_two_tenants_do_not_meet(home: Home) -> None:
    """ORG-2, ISO-4."""
    other = settle(home.engine, home.services)
    chosen = home.add()
    home.choose(chosen)
    assert (home.default, other.default) == (chosen, other.first)


def test_org_2_exactly_one_default_whatever_eight_threads_change(home: Home, houses: tuple[Services, Services]) -> None:
    """ORG-2: each makes its own project the default and deletes another's, over two processes, while two look on."""
    projects = [home.first, *(home.add() for _ in range(7))]

    def change(number: int) -> None:
        organise = houses[number % 2].projects
        for turn in range(ROUNDS):
            with suppress(NotFound):
                organise.change_project(home.reach, projects[(number + turn) % 8], is_default=True)
            with suppress(NotFound, Conflict):
                organise.delete_project(home.reach, projects[(number * 3 + turn) % 8])
            projects[(number + turn) % 8] = organise.create_project(
                home.reach, "Same name", allow_duplicate_name=True
            ).id

    def look_on(number: int) -> None:
        organise = houses[number % 2].projects
        for _ in range(ROUNDS * 4):
            organise.default_project(home.reach)
            assert [one.is_default for one in organise.projects(home.reach, limit=200)].count(True) == 1

    at_once(lambda number: look_on(number) if number < 2 else change(number))
    assert home.default in [project.id for project in home.services.projects.projects(home.reach, limit=200)]


def test_org_2_a_project_that_is_chosen_and_deleted_at_once_is_one_of_the_two(
    home: Home, houses: tuple[Services, Services]
) -> None:
    """ORG-2, ORG-5: either the choice came first and it stays, or the deletion did and the old default stays."""
    for turn in range(ROUNDS):
        contested = home.add()
        before = home.default
        home.services.sessions.create(home.reach, SessionFields(external_id=f"session {turn}", project=contested))

        def attempt(number: int, contested: ProjectId = contested) -> bool:
            organise = houses[number % 2].projects
            with suppress(NotFound, Conflict):
                if number < 4:
                    organise.change_project(home.reach, contested, is_default=True)
                else:
                    organise.delete_project(home.reach, contested)
                return True
            return False

        done = at_once(attempt)
        chosen, deleted = any(done[:4]), done[4:].count(True)
        assert (chosen, deleted) in ((True, 0), (False, 1))
        assert home.default == (contested if chosen else before)
        session = home.services.sessions.get(home.reach, f"session {turn}")
        assert session.project == (contested if chosen else None)
