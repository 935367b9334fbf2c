"""Turns as the service keeps them, on both engines: who gets one, for how long, and what becomes of a reply that comes too late."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import QuotaExceeded, TurnInProgress, TurnMoved
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.domain.usage import Limits
from cloister.services.chat.converse import CHECK_SECONDS, TurnContext, TurnEnd, TurnEvent
from cloister.services.chat.turns import NamedSession, Turn, TurnLost, TurnRequest
from cloister.services.conversations.sessions import SessionFields
from support.databases.engines import Engine, at_once

T = TypeVar("T")
REPLY = Draft(role="assistant", content="So it is.")


class Threads:
    def read(self, call: Callable[[], T]) -> Awaitable[T]:
        return asyncio.to_thread(call)

    def write(self, call: Callable[[], T]) -> Awaitable[T]:
        return asyncio.to_thread(call)


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.moment = now()

    def __call__(self) -> int:
        return self.moment

    def pass_seconds(self, seconds: float) -> None:
        self.moment += round(seconds * 1_000_000)


def asked(words: str = "Is it so?", session: str = "tab") -> TurnRequest:
    return TurnRequest(session=session, drafts=[Draft(role="user", content=words)])


def tenant_of(services: Services) -> Reach:
    tenant, _ = services.projects.create_tenant("Household")
    return Reach(tenant=tenant)


def told(services: Services, turn: Turn) -> list[TurnEvent]:
    happened: list[TurnEvent] = []

    async def run() -> None:
        await services.chat.reply(turn, happened.append, stop=asyncio.Event(), threads=Threads())

    asyncio.run(run())
    return happened


def contents(services: Services, reach: Reach, session: str = "tab") -> list[str]:
    return [message.content for message in services.sessions.messages(reach, session, limit=99)[1]]


def test_of_many_that_begin_at_once_one_gets_the_turn(engine: Engine) -> None:
    """TAB-5, ISO-7: one session, one question; the others have written nothing."""
    services = engine.services()
    reach = tenant_of(services)

    def begin(number: int) -> Turn | None:
        try:
            return services.turns.begin(reach, asked(f"Question {number}"))
        except TurnInProgress:
            return None

    taken = [turn for turn in at_once(begin) if turn is not None]
    assert len(taken) == 1
    assert contents(services, reach) == [taken[0].question.content]


def test_a_turn_that_is_not_renewed_runs_out_and_its_late_reply_is_not_kept(engine: Engine) -> None:
    watch = Watch()
    services = engine.services(clock=watch)
    reach = tenant_of(services)
    late = services.turns.begin(reach, asked("First?"))
    watch.pass_seconds(services.turns.leases.seconds - 1)
    with pytest.raises(TurnInProgress):
        services.turns.begin(reach, asked("Second?"))
    assert services.turns.renew(late)
    watch.pass_seconds(services.turns.leases.seconds + 1)
    turn = services.turns.begin(reach, asked("Third?"))
    assert not services.turns.renew(late)
    with pytest.raises(TurnLost):
        services.turns.end(late, REPLY)
    services.turns.end(turn, REPLY)
    assert contents(services, reach) == ["First?", "Third?", "So it is."]


@pytest.mark.parametrize("back_seconds", [1, 5, 3_600, 86_400])
def test_a_lease_taken_before_the_clock_was_set_back_ends_within_a_lease(engine: Engine, back_seconds: float) -> None:
    """OPS-1: the process that had it died; from the first refusal on it is at most one lease."""
    watch = Watch()
    services = engine.services(clock=watch)
    reach = tenant_of(services)
    services.turns.begin(reach, asked("First?"))
    watch.pass_seconds(-back_seconds)
    with pytest.raises(TurnInProgress):
        services.turns.begin(reach, asked("Second?"))
    watch.pass_seconds(services.turns.leases.seconds)
    with pytest.raises(TurnInProgress):
        services.turns.begin_again(reach, NamedSession(session="tab"))
    watch.pass_seconds(0.000_001)
    services.turns.begin(reach, asked("Third?"))
    assert contents(services, reach) == ["First?", "Third?"]


def test_a_turn_that_is_alive_keeps_its_lease_when_the_clock_is_set_back(engine: Engine) -> None:
    watch = Watch()
    services = engine.services(clock=watch)
    reach = tenant_of(services)
    turn = services.turns.begin(reach, asked("First?"))
    watch.pass_seconds(-3_600)
    for _ in range(5):
        with pytest.raises(TurnInProgress):
            services.turns.begin(reach, asked("Second?"))
        watch.pass_seconds(services.turns.leases.seconds - 1)
        assert services.turns.renew(turn)
    assert services.turns.end(turn, REPLY) is not None


def test_a_question_whose_process_died_can_be_answered_again_after_seconds(engine: Engine) -> None:
    """OPS-1: it was a minute. A turn that lives is renewed several times in that."""
    leases = engine.services().turns.leases
    assert leases.seconds <= 6
    assert 3 * min(CHECK_SECONDS, leases.renewal_seconds) < leases.seconds


def test_a_reply_that_took_longer_than_its_lease_is_kept_when_nobody_else_began(engine: Engine) -> None:
    watch = Watch()
    services = engine.services(clock=watch)
    reach = tenant_of(services)
    turn = services.turns.begin(reach, asked())
    watch.pass_seconds(10 * services.turns.leases.seconds)
    assert services.turns.end(turn, REPLY) is not None


@pytest.mark.parametrize("what", ["session", "contents", "question"])
def test_what_answers_something_forgotten_is_not_kept(engine: Engine, what: str) -> None:
    """MEM-9."""
    services = engine.services()
    reach = tenant_of(services)
    turn = services.turns.begin(reach, asked())
    if what == "session":
        services.forgetting.session(reach, "tab")
    elif what == "contents":
        services.forgetting.contents(reach, "tab")
    else:
        services.forgetting.message(reach, turn.question.id)
    with pytest.raises(TurnLost):
        services.turns.end(turn, REPLY)
    again = services.turns.begin(reach, asked("Again?"))
    assert contents(services, reach) == ["Again?"]
    services.turns.end(again, None)


@pytest.mark.parametrize("is_confined", [False, True])
def test_a_session_that_moves_before_it_recalls_recalls_nothing(engine: Engine, is_confined: bool) -> None:
    """ISO-4, ISO-12, ORG-4: between the two transactions of a turn the session moved to where another project's words are."""
    services = engine.services()
    wide = tenant_of(services)
    garden = services.projects.create_project(wide, "Garden").id
    vault = services.projects.create_project(wide, "Vault").id
    services.sessions.create(wide, SessionFields(external_id="secret", project=vault))
    services.record.messages(wide, "secret", [Draft(role="user", content="It is so: the code is marigold.")])
    reach = Reach(tenant=wide.tenant, confined_to=garden) if is_confined else wide
    ask = TurnRequest(session="tab", drafts=[Draft(role="user", content="What is the code?")], project=garden)
    turn = services.turns.begin(reach, ask)
    services.sessions.move(wide, "tab", vault)

    happened = told(services, turn)

    assert not [event for event in happened if isinstance(event, TurnContext)]
    assert "marigold" not in repr(happened)
    finished = happened[-1]
    assert isinstance(finished, TurnEnd) and isinstance(finished.error, TurnMoved)
    assert [message.status for message in services.sessions.messages(wide, "tab", limit=9)[1]] == [
        "completed",
        "failed",
    ]


def test_without_room_for_the_reply_nothing_is_begun(engine: Engine) -> None:
    """ORG-7: a turn that could not be answered is refused as a whole, and its session is not made."""
    services = engine.services(limits=Limits(messages=1))
    reach = tenant_of(services)
    with pytest.raises(QuotaExceeded):
        services.turns.begin(reach, asked())
    assert services.sessions.page(reach, limit=9) == []


def test_a_completed_exchange_counts_for_extraction_and_others_do_not(engine: Engine) -> None:
    """MEM-3."""
    services = engine.services()
    reach = tenant_of(services)
    for status in ("partial", "failed", "completed"):
        turn = services.turns.begin(reach, asked(f"A {status} one?"))
        services.turns.end(turn, Draft(role="assistant", content="My sister Anna lives in Oslo.", status=status))
        assert services.sessions.get(reach, "tab").memory_job_pending == (status == "completed")
