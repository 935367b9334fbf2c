"""What the checks of open streams cost grows with the streams and with time, not with the changes of a tenant (ISO-12, ISO-13).

Work is counted: how often a stream's name is looked up, how often the database is asked, how often a stream is woken.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cloister.domain.identifiers import TenantId
from cloister.domain.scope import Reach
from cloister.interfaces.http.dispatch import access_recheck
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck, StreamGuard

STREAMS = 200


class Name:
    """What a stream reads; counts how often it is looked up."""

    lookups = 0

    def __init__(self, text: str) -> None:
        self._text = text

    def __hash__(self) -> int:
        Name.lookups += 1
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return self is other


class Streams:
    """Streams of some tenants, each of another thing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks: list[TenantId] = []
        self.woken = 0
        self.change: Callable[[TenantId], None] = lambda _: None

        def look(guard: StreamGuard) -> None:
            self.looks.append(guard.tenant)

        monkeypatch.setattr(StreamGuard, "look", look)
        Name.lookups = 0

    def run(self, during: Callable[["Streams", AccessRecheck], Awaitable[None]]) -> None:
        async def opened() -> None:
            recheck = AccessRecheck(cast(Any, SimpleNamespace(events=SimpleNamespace(on_change=self._listen))))
            recheck.open()
            await during(self, recheck)
            recheck.close()

        asyncio.run(opened())

    def enter(self, stack: ExitStack, recheck: AccessRecheck, tenant: int, count: int) -> list[StreamGuard]:
        caller = cast(Any, SimpleNamespace(text="key", project_header=None, reach=Reach(tenant=TenantId(tenant))))
        guards = [
            stack.enter_context(recheck.guard(caller, Name(f"{tenant}-{each}"), lambda _: True))
            for each in range(count)
        ]
        for guard in guards:
            guard.wake_with(self._wake)
        return guards

    def _listen(self, listener: Callable[[TenantId], None]) -> Callable[[], None]:
        self.change = listener
        return lambda: None

    def _wake(self) -> None:
        self.woken += 1


async def admit(guards: list[StreamGuard]) -> None:
    assert all(await asyncio.gather(*(guard.admits() for guard in guards)))


def test_iso_13_a_check_that_is_due_costs_the_same_however_many_streams_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ISO-13: also when all of them are due, as they are after each `CHECK_SECONDS`."""

    async def during(streams: Streams, recheck: AccessRecheck) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: now)
        with ExitStack() as stack:
            guards = streams.enter(stack, recheck, 1, STREAMS)
            for _ in range(3):
                now += 2 * access_recheck.CHECK_SECONDS / STREAMS
                for guard in guards:
                    now += 2 * access_recheck.CHECK_SECONDS / STREAMS
                    assert await guard.admits()
        assert len(streams.looks) == 3 * STREAMS
        assert Name.lookups <= 8 * len(streams.looks)

    Streams(monkeypatch).run(during)


def test_iso_13_many_changes_wake_the_streams_of_their_tenant_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """ISO-13: and cost those of other tenants nothing. What was sent before the last change is no longer sent at once."""
    monkeypatch.setattr(access_recheck, "_SHORTEST_PAUSE", 0.05)

    async def during(streams: Streams, recheck: AccessRecheck) -> None:
        with ExitStack() as stack:
            changed = streams.enter(stack, recheck, 1, 20)
            others = streams.enter(stack, recheck, 2, STREAMS)
            await admit([*changed, *others])
            lookups, looks = Name.lookups, len(streams.looks)
            for _ in range(500):
                streams.change(TenantId(1))
            await asyncio.sleep(0)
            assert [guard.seconds_left for guard in changed] == [0.0] * len(changed)
            assert all(guard.seconds_left > 0 for guard in others)
            await admit(changed)
            assert streams.woken <= 2 * len(changed)
            assert streams.looks[looks:] == [TenantId(1)] * len(changed)
            assert Name.lookups - lookups <= 8 * len(changed)

    Streams(monkeypatch).run(during)


def test_iso_12_a_single_change_wakes_the_streams_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """ISO-12: and a check that was running meanwhile is made again."""

    async def during(streams: Streams, recheck: AccessRecheck) -> None:
        with ExitStack() as stack:
            (guard,) = streams.enter(stack, recheck, 1, 1)
            checked = asyncio.create_task(guard.admits())
            await asyncio.sleep(0)
            streams.change(TenantId(1))
            await asyncio.sleep(0)
            assert streams.woken == 1
            assert await checked
            assert len(streams.looks) == 2

    Streams(monkeypatch).run(during)
