"""A bounded queue that serves tenants in turn (OPS-3): a flood waits behind itself, and is refused before anybody else."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from cloister.domain.errors import Overloaded
from cloister.interfaces.http.dispatch.executors import BatchExecutor, SerialExecutor
from cloister.interfaces.http.queueing.fair_queue import Entry, FairQueue
from cloister.interfaces.http.queueing.known_callers import KnownCallers


def filled(queue: FairQueue[int], **jobs: Sequence[int]) -> FairQueue[int]:
    for tenant, numbers in jobs.items():
        for number in numbers:
            assert queue.put(Entry(tenant, number)) is None
    return queue


def taken(queue: FairQueue[int]) -> list[int]:
    found: list[int] = []
    while (entry := queue.take()) is not None:
        found.append(entry.job)
    return found


def test_ops_3_tenants_are_served_in_turn_and_each_in_its_own_order() -> None:
    queue = filled(FairQueue[int](), flood=range(5), quiet=[100], other=[200, 201])
    assert len(queue) == 8
    assert taken(queue) == [0, 100, 200, 1, 201, 2, 3, 4]
    assert len(queue) == 0


def test_ops_3_a_quiet_tenant_is_next_after_at_most_one_of_the_flood() -> None:
    queue = filled(FairQueue[int](), flood=range(1_000))
    for _ in range(3):
        queue.take()
    queue.put(Entry("quiet", -1))
    assert [entry.job for entry in (queue.take(), queue.take()) if entry is not None] == [3, -1]


def test_ops_3_over_the_limit_the_newest_of_the_largest_is_refused() -> None:
    queue = filled(FairQueue[int](4), flood=range(4))
    own = Entry("flood", 4)
    assert queue.put(own) is own
    refused = queue.put(Entry("quiet", 100))
    assert (refused is not None and (refused.tenant, refused.job)) == ("flood", 3)
    assert (len(queue), queue.refused) == (4, 2)
    assert taken(queue) == [0, 100, 1, 2]


def test_ops_3_what_is_part_of_something_accepted_is_never_refused() -> None:
    queue = FairQueue[int](2)
    for number in range(4):
        assert queue.put(Entry("chats", number, required=True)) is None
    newcomer = Entry("quiet", 9)
    assert queue.put(newcomer) is newcomer
    assert taken(queue) == [0, 1, 2, 3]


def test_a_tenant_that_may_not_run_now_is_passed_over() -> None:
    queue = filled(FairQueue[int](), flood=[1, 2], quiet=[100])
    found = queue.take(lambda tenant: tenant != "flood")
    assert found is not None
    assert found.job == 100
    assert queue.take(lambda _: False) is None
    assert taken(queue) == [1, 2]


def test_only_admitted_credentials_have_turns_of_their_own() -> None:
    known = KnownCallers()

    def scope(*headers: tuple[bytes, bytes]) -> dict[str, object]:
        return {"headers": list(headers)}

    first, other = scope((b"authorization", b"Bearer a")), scope((b"authorization", b"Bearer b"))
    browser = scope((b"cookie", b"cloister=c"))
    assert known.tenant_of(first) is known.tenant_of(other) is known.tenant_of(scope()) is None
    known.note(first, 1)
    known.note(browser, 2)
    assert [known.tenant_of(each) for each in (first, other, browser, scope())] == [1, None, 2, None]


def test_ops_3_calls_over_the_limit_are_refused_and_never_run() -> None:
    executor = SerialExecutor("test", patience=30, most_waiting=2)
    may_end, began = threading.Event(), threading.Event()
    ran: list[str] = []

    def first() -> None:
        began.set()
        may_end.wait()

    async def flood() -> None:
        blocked = asyncio.ensure_future(executor.run(first, tenant=1))
        await asyncio.to_thread(began.wait)
        waiting = [
            asyncio.ensure_future(executor.run(lambda n=n: ran.append(f"flood {n}"), tenant=1)) for n in range(2)
        ]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="Nothing was done"):
            await executor.run(lambda: ran.append("refused"), tenant=1)
        quiet = asyncio.ensure_future(executor.run(lambda: ran.append("quiet"), tenant=2))
        await asyncio.sleep(0)
        assert (len(executor.waiting), executor.waiting.refused) == (2, 2)
        may_end.set()
        await asyncio.gather(blocked, waiting[0], quiet)
        with pytest.raises(Overloaded):
            await waiting[1]

    asyncio.run(flood())
    executor.close()
    assert ran == ["flood 0", "quiet"]


def test_ops_3_a_batch_has_every_tenant_in_turn_and_what_was_refused_is_in_none() -> None:
    batches: list[list[str]] = []
    began, may_go_on = threading.Event(), threading.Event()

    def work(jobs: Sequence[str]) -> list[str | BaseException]:
        batches.append(list(jobs))
        began.set()
        may_go_on.wait()
        return list(jobs)

    executor = BatchExecutor("test", work, most_waiting=100)

    async def flood() -> list[str | BaseException]:
        first = asyncio.ensure_future(executor.run("first", tenant=1))
        await asyncio.to_thread(began.wait)
        others = [asyncio.ensure_future(executor.run(f"flood {n}", tenant=1)) for n in range(101)]
        quiet = asyncio.ensure_future(executor.run("quiet", tenant=2))
        await asyncio.sleep(0)
        may_go_on.set()
        return await asyncio.gather(first, *others, quiet, return_exceptions=True)

    done = asyncio.run(flood())
    executor.close()
    assert batches[1][:2] == ["flood 0", "quiet"]
    carried_out = [job for batch in batches for job in batch]
    assert carried_out == ["first", "flood 0", "quiet", *(f"flood {n}" for n in range(1, 99))]
    assert [isinstance(each, Overloaded) for each in done] == [False] * 100 + [True] * 2 + [False]
