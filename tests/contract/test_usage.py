"""What a tenant keeps is counted as it changes, on both engines, and what it may not keep is refused whole (ORG-7)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError, Conflict, IdempotencyMismatch, NotFound, TooLarge
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.services.conversations.record import LARGEST_BATCH
from cloister.services.conversations.sessions import SessionFields
from cloister.services.tenancy.api_keys import KeyFields
from support.databases.engines import Engine, at_once, postgres_engine
from support.waiting import eventually

HELLO = Draft(role="user", content="Hello")
OTHER = Draft(role="user", content="Something else")
LONG = Draft(role="user", content="Roses. " * 2_000)
NOWHERE = MessageId(5 << 21 | 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """A tenant with three messages in `first`, in the garden, and one in `second`, in no project."""

    engine: Engine
    services: Services
    reach: Reach
    garden: ProjectId
    messages: tuple[MessageId, ...]

    def record(self, session: str, *drafts: Draft, once: str | None = None) -> None:
        self.services.record.messages(self.reach, session, drafts, idempotency_key=once)

    def create(self, name: str, project: ProjectId | None = None) -> None:
        self.services.sessions.create(self.reach, SessionFields(external_id=name, project=project))

    def move(self, name: str, project: ProjectId | None) -> None:
        self.services.sessions.move(self.reach, name, project)

    def project(self) -> ProjectId:
        return self.services.projects.create_project(self.reach, "Cellar", allow_duplicate_name=True).id

    def noted(self) -> tuple[int, int]:
        usage = self.services.projects.usage(self.reach)
        return usage.messages, usage.sessions

    def kept(self) -> tuple[int, int]:
        """Counted one by one, past every wall and every note."""
        tenant = f"tenant_id = {self.reach.tenant:d}"
        ((messages, sessions),) = self.engine.rows(
            f"SELECT (SELECT count(*) FROM message WHERE {tenant}), "
            f"(SELECT count(*) FROM session WHERE {tenant} AND pool_id IS NOT NULL)"
        )
        assert isinstance(messages, int)
        assert isinstance(sessions, int)
        return messages, sessions


def settle(engine: Engine, services: Services) -> Home:
    reach = Reach(tenant=services.projects.create_tenant("Household")[0])
    garden = services.projects.create_project(reach, "Garden").id
    home = Home(engine=engine, services=services, reach=reach, garden=garden, messages=())
    home.create("first", garden)
    home.create("second")
    recorded = services.record.messages(reach, "first", [HELLO] * 3)
    home.record("second", HELLO)
    return replace(home, messages=tuple(message.id for message in recorded.messages))


@pytest.fixture(scope="module")
def services(shared_engine: Engine) -> Services:
    return shared_engine.services()


@pytest.fixture
def home(shared_engine: Engine, services: Services) -> Home:
    return settle(shared_engine, services)


# What is done, and how many messages and sessions there are more, or fewer, after it.
CHANGES: dict[str, tuple[Callable[[Home], object], int, int]] = {
    "a message": (lambda home: home.record("first", HELLO), 1, 0),
    "a batch": (lambda home: home.record("second", *[HELLO] * 5), 5, 0),
    "the largest batch": (lambda home: home.record("second", *[HELLO] * LARGEST_BATCH), LARGEST_BATCH, 0),
    "a long message": (lambda home: home.record("first", LONG), 1, 0),
    "an episode": (lambda home: home.services.record.episode(home.reach, "first", HELLO, HELLO), 2, 0),
    "a message once": (lambda home: [home.record("first", HELLO, once="k") for _ in range(3)], 1, 0),
    "a session": (lambda home: home.create("third", home.garden), 0, 1),
    "a session that is there": (lambda home: home.create("first", home.garden), 0, 0),
    "into a project": (lambda home: home.move("second", home.garden), 0, 0),
    "out of one": (lambda home: home.move("first", None), 0, 0),
    "from one to another": (lambda home: home.move("first", home.project()), 0, 0),
    "a project deleted": (lambda home: home.services.projects.delete_project(home.reach, home.garden), 0, 0),
    "a message forgotten": (lambda home: home.services.forgetting.message(home.reach, home.messages[1]), -1, 0),
    "a session cleared": (lambda home: home.services.forgetting.contents(home.reach, "first"), -3, 0),
    "a session cleared twice": (
        lambda home: [home.services.forgetting.contents(home.reach, "first") for _ in range(2)],
        -3,
        0,
    ),
    "a session deleted": (lambda home: home.services.forgetting.session(home.reach, "first"), -3, -1),
    "and made again": (
        lambda home: (
            home.services.forgetting.session(home.reach, "first"),
            home.create("first"),
            home.record("first", HELLO),
        ),
        -2,
        0,
    ),
    "forgotten, then deleted": (
        lambda home: (
            home.services.forgetting.message(home.reach, home.messages[0]),
            home.services.forgetting.session(home.reach, "first"),
        ),
        -3,
        -1,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_org_7_the_counts_follow_every_change(home: Home, name: str) -> None:
    """ORG-7: of this tenant, and of no other."""
    other = settle(home.engine, home.services)
    change, messages, sessions = CHANGES[name]
    change(home)
    assert home.noted() == home.kept() == (4 + messages, 2 + sessions)
    assert other.noted() == other.kept() == (4, 2)


REFUSED: dict[str, tuple[Callable[[Home], object], type[CloisterError]]] = {
    "a message to nowhere": (lambda home: home.record("nowhere", HELLO), NotFound),
    "a batch to nowhere": (lambda home: home.record("nowhere", *[HELLO] * 5), NotFound),
    "a batch too large": (lambda home: home.record("first", *[HELLO] * (LARGEST_BATCH + 1)), TooLarge),
    "a session under a taken name": (lambda home: home.create("first"), Conflict),
    "a session in no known project": (lambda home: home.create("new", ProjectId(9)), NotFound),
    "a move to no known project": (lambda home: home.move("first", ProjectId(9)), NotFound),
    "a message that is not there": (lambda home: home.services.forgetting.message(home.reach, NOWHERE), NotFound),
    "a session that is not there": (lambda home: home.services.forgetting.session(home.reach, "nowhere"), NotFound),
    "clearing what is not there": (lambda home: home.services.forgetting.contents(home.reach, "nowhere"), NotFound),
}


@pytest.mark.parametrize("name", REFUSED)
def test_org_7_what_was_refused_is_not_counted(home: Home, name: str) -> None:
    call, kind = REFUSED[name]
    home.engine.unchanged_by(kind, lambda: call(home))
    assert home.noted() == home.kept() == (4, 2)


def test_org_7_a_mismatch_is_not_counted(home: Home) -> None:
    home.record("first", HELLO, once="k")
    home.engine.unchanged_by(IdempotencyMismatch, lambda: home.record("first", OTHER, once="k"))
    assert home.noted() == home.kept() == (5, 2)


def test_org_7_a_foreign_message_and_session_are_not_counted(home: Home) -> None:
    """ISO-4: neither here nor there."""
    other = settle(home.engine, home.services)
    other.create("theirs")
    home.engine.unchanged_by(NotFound, lambda: home.services.forgetting.message(home.reach, other.messages[0]))
    home.engine.unchanged_by(NotFound, lambda: home.services.forgetting.session(home.reach, "theirs"))
    home.engine.unchanged_by(NotFound, lambda: home.record("theirs", HELLO))
    assert (home.noted(), other.noted()) == ((4, 2), (4, 3))


def test_org_7_usage_counts_projects_and_keys_that_are_still_there(home: Home) -> None:
    """ORG-7: the default project is one of them."""
    cellar = home.project()
    keys = [home.services.api_keys.create(home.reach, KeyFields(name="Key")).key.id for _ in range(3)]
    usage = home.services.projects.usage(home.reach)
    assert (usage.projects, usage.api_keys, usage.limits) == (3, 3, Limits())
    home.services.projects.delete_project(home.reach, cellar)
    home.services.api_keys.revoke(home.reach, keys[0])
    usage = home.services.projects.usage(home.reach)
    assert (usage.projects, usage.api_keys) == (2, 2)


def busy(home: Home, number: int) -> None:
    """One thread's day: a session of its own, one shared with all, and one that all fight for."""
    own = f"own {number}"
    for turn in range(4):
        home.create(own, home.garden if turn % 2 else None)
        home.record(own, HELLO, HELLO)
        home.record("second", HELLO)
        home.record("first", HELLO, once=f"turn {turn}")
        home.move("second", home.garden if number % 2 else None)
        with suppress(NotFound):
            home.services.forgetting.message(home.reach, home.messages[turn % 3])
        with suppress(NotFound, Conflict):
            home.create("fought for", home.garden)
            home.record("fought for", HELLO)
            home.services.forgetting.session(home.reach, "fought for")
        if turn == 2:
            home.services.forgetting.contents(home.reach, own)
        home.services.forgetting.session(home.reach, own)
    home.create(own)


def test_org_7_the_counts_are_true_whatever_eight_threads_of_two_processes_do(home: Home, services: Services) -> None:
    houses = (home, replace(home, services=home.engine.services()))
    at_once(lambda number: busy(houses[number % 2], number))
    with suppress(NotFound):
        services.forgetting.session(home.reach, "fought for")
    # All of `first` was forgotten, four messages came once each, and 32 and the first one are in `second`.
    assert home.noted() == home.kept() == (4 + 33, 2 + 8)


def test_org_7_counting_makes_no_two_writers_wait_for_each_other(migrated_postgres: str) -> None:
    """PostgreSQL would notice after a second, and one of the two would begin again: right, but slow."""
    engine = postgres_engine(migrated_postgres)
    services = engine.services()
    home = settle(engine, services)

    def come_and_go(number: int) -> None:
        for _ in range(6):
            home.create(f"own {number}")
            home.record(f"own {number}", HELLO)
            services.forgetting.session(home.reach, f"own {number}")

    at_once(come_and_go)
    engine.closing.close()
    # What a connection saw is told when it ends, which is after it was closed here.
    others = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    eventually(lambda: not engine.rows(others))
    assert engine.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [(0,)]
    assert home.kept() == (4, 2)
