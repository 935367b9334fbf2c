"""Quotas on both engines (ORG-7): over the limit is a clear refusal, nothing is changed, and nothing is lost."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import QuotaExceeded
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.services.conversations.sessions import SessionChange, SessionFields
from support.databases.engines import Engine, at_once

HELLO = Draft(role="user", content="Hello")
LONG = Draft(role="user", content="Roses. " * 2_000)
SERVERS = Limits(messages=5, sessions=3, projects=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """A tenant whose server allows five messages, three sessions and two projects; it has two, one and one."""

    engine: Engine
    services: Services
    reach: Reach

    def record(self, *drafts: Draft, once: str | None = None) -> int:
        return len(self.services.record.messages(self.reach, "first", drafts, idempotency_key=once).messages)

    def create(self, name: str) -> bool:
        return self.services.sessions.create(self.reach, SessionFields(external_id=name))[1]

    def project(self, once: str | None = None) -> int:
        return self.services.projects.create_project(
            self.reach, "Garden", idempotency_key=once, allow_duplicate_name=True
        ).id

    def limit(self, **limits: int) -> None:
        self.services.projects.set_limits(self.reach, Limits(**limits))

    def refuses(self, call: Callable[[], object]) -> str:
        before = self.engine.dump()
        with pytest.raises(QuotaExceeded) as caught:
            call()
        assert self.engine.dump() == before, "not one row is different"
        return str(caught.value)

    @property
    def stored(self) -> tuple[int, int, int]:
        usage = self.services.projects.usage(self.reach)
        return usage.messages, usage.sessions, usage.projects


@pytest.fixture(scope="module")
def services(shared_engine: Engine) -> Services:
    return shared_engine.services(limits=SERVERS)


@pytest.fixture
def home(shared_engine: Engine, services: Services) -> Home:
    return settle(shared_engine, services)


def settle(engine: Engine, services: Services) -> Home:
    home = Home(engine=engine, services=services, reach=Reach(tenant=services.projects.create_tenant("Household")[0]))
    home.create("first")
    home.record(HELLO, HELLO)
    return home


def test_org_7_a_limit_can_be_used_up_and_not_passed(home: Home) -> None:
    home.record(*[HELLO] * 3)
    said = home.refuses(lambda: home.record(HELLO))
    assert said == "The quota of 5 messages is reached (5 kept): forget some, or have the limit raised."
    home.refuses(lambda: home.record(LONG))
    home.refuses(lambda: home.record(HELLO, once="k"))
    assert home.stored == (5, 1, 1)


@pytest.mark.parametrize("draft", [HELLO, LONG], ids=["short", "long"])
@pytest.mark.parametrize("once", [None, "k"], ids=["plain", "once"])
def test_org_7_a_batch_that_does_not_fit_is_not_begun(home: Home, draft: Draft, once: str | None) -> None:
    said = home.refuses(lambda: home.record(*[draft] * 4, once=once))
    assert "(2 kept)" in said
    assert home.record(*[draft] * 3, once=once) == 3


def test_org_7_an_episode_needs_room_for_both_sides(home: Home) -> None:
    home.record(HELLO, HELLO)
    home.refuses(lambda: home.services.record.episode(home.reach, "first", HELLO, HELLO))
    assert home.stored == (4, 1, 1)


def test_org_7_a_refused_request_can_be_made_again_under_its_key_when_there_is_room(home: Home) -> None:
    home.record(*[HELLO] * 3)
    home.refuses(lambda: home.record(HELLO, once="k"))
    home.services.forgetting.contents(home.reach, "first")
    assert [home.record(HELLO, once="k") for _ in range(2)] == [1, 1]
    assert home.stored == (1, 1, 1)


def test_org_7_a_repeated_request_is_answered_though_there_is_no_room_left(home: Home) -> None:
    assert [home.record(*[HELLO] * 3, once="k") for _ in range(2)] == [3, 3]
    assert home.project(once="p") == home.project(once="p")
    assert home.stored == (5, 1, 2)


def test_org_7_sessions_have_a_limit_and_one_that_is_there_needs_no_room(home: Home) -> None:
    assert home.create("second")
    assert home.create("third")
    said = home.refuses(lambda: home.create("fourth"))
    assert said == "The quota of 3 sessions is reached (3 kept): forget some, or have the limit raised."
    assert not home.create("third")
    home.services.forgetting.session(home.reach, "second")
    assert home.create("fourth")


def test_org_7_projects_have_a_limit_and_the_default_is_one_of_them(home: Home) -> None:
    garden = home.services.projects.create_project(home.reach, "Garden").id
    said = home.refuses(home.project)
    assert said == "The quota of 2 projects is reached (2 kept): forget some, or have the limit raised."
    home.refuses(lambda: home.project(once="k"))
    home.services.projects.delete_project(home.reach, garden)
    home.project()


def test_org_7_what_is_kept_can_be_read_moved_and_described_at_the_limit(home: Home) -> None:
    """ORG-7: nothing is lost, and nothing but more of it is refused."""
    home.limit(messages=0, sessions=0, projects=0)
    home.services.sessions.change(home.reach, "first", SessionChange(title="Roses"))
    default = home.services.projects.default_project(home.reach)
    assert home.services.sessions.move(home.reach, "first", default).title
    assert len(home.services.sessions.messages(home.reach, "first", limit=9)[1]) == 2
    for call in (lambda: home.record(HELLO), lambda: home.create("new"), home.project):
        home.refuses(call)
    home.services.forgetting.session(home.reach, "first")
    assert home.stored == (0, 0, 1)


def test_org_7_the_limits_of_one_tenant_are_not_anothers(home: Home) -> None:
    """ORG-7, ISO-4: one that is full keeps no other from writing."""
    other = settle(home.engine, home.services)
    home.limit(messages=2, sessions=1, projects=1)
    home.refuses(lambda: home.record(HELLO))
    other.record(*[HELLO] * 3)
    assert other.create("second")
    other.project()
    assert (home.stored, other.stored) == ((2, 1, 1), (5, 2, 2))


def test_org_7_a_tenants_own_limits_go_before_the_servers(home: Home) -> None:
    """ORG-7: each by itself, up or down, and gone again when they are taken away."""
    home.limit(messages=9)
    assert home.services.projects.usage(home.reach).limits == Limits(
        messages=9, sessions=3, projects=2, files=9, entries=9
    )
    home.record(*[HELLO] * 7)
    home.refuses(lambda: home.record(HELLO))
    home.limit(messages=1, sessions=5)
    home.refuses(lambda: home.record(HELLO))
    assert [home.create(f"session {number}") for number in range(4)] == [True] * 4
    home.limit()
    assert home.services.projects.usage(home.reach).limits == SERVERS.over(Limits())
    home.refuses(lambda: home.create("one more"))
    assert home.stored == (9, 5, 1)


def test_org_7_without_any_limit_there_is_none(shared_engine: Engine) -> None:
    home = settle(shared_engine, shared_engine.services())
    home.record(*[HELLO] * 500)
    assert [home.create(f"session {number}") for number in range(20)] == [True] * 20
    assert home.services.projects.usage(home.reach).limits == Limits()


def test_org_7_one_that_does_not_fit_takes_no_other_with_it(home: Home) -> None:
    """ORG-7: of writers who come together as many are written as fit, and the others are refused. PostgreSQL's do not see each
    other before they commit: there the last place may be given to more than one."""

    def attempt(number: int) -> bool:
        try:
            home.record(*[HELLO] * (4 if number % 2 else 1))
        except QuotaExceeded:
            return False
        return True

    written = at_once(attempt)
    assert not any(written[1::2])
    assert home.stored[0] == 2 + written.count(True)
    assert written.count(True) == 3 or home.engine.name == "postgres"
