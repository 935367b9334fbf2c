"""How requests run on an embedded database: short ones in turn, long ones overtaken, writes together."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from cloister.interfaces.http.dispatch.executors import BatchExecutor, SerialExecutor


def test_short_calls_follow_one_another_and_each_has_its_answer() -> None:
    executor = SerialExecutor("test", patience=30)
    running: list[int] = []

    def call(number: int) -> int:
        running.append(number)
        assert len(running) == 1
        running.remove(number)
        return number

    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(executor.run(lambda number=number: call(number)) for number in range(200)))

    assert asyncio.run(all_at_once()) == list(range(200))
    executor.close()


def test_a_long_call_is_overtaken_however_many_there_are() -> None:
    executor = SerialExecutor("test", patience=0.001)
    may_end = threading.Event()

    async def behind_long_ones() -> None:
        long = [asyncio.ensure_future(executor.run(may_end.wait)) for _ in range(5)]
        assert await executor.run(lambda: "short") == "short"
        assert not any(call.done() for call in long)
        may_end.set()
        assert await asyncio.gather(*long) == [True] * 5
        assert await executor.run(lambda: "after") == "after"

    asyncio.run(behind_long_ones())
    executor.close()


def test_what_a_call_raises_is_raised_to_its_caller_alone() -> None:
    executor = SerialExecutor("test")

    async def both() -> str:
        with pytest.raises(KeyError):
            await executor.run(dict[str, str]().popitem)
        return await executor.run(lambda: "fine")

    assert asyncio.run(both()) == "fine"
    executor.close()


def test_what_waits_is_done_with_one_call_and_a_failure_belongs_to_one() -> None:
    calls: list[list[int]] = []
    may_go_on = threading.Event()

    def work(jobs: Sequence[int]) -> list[str | BaseException]:
        calls.append(list(jobs))
        may_go_on.wait()
        return [ValueError(str(job)) if job == 3 else f"done {job}" for job in jobs]

    batch_executor = BatchExecutor("test", work)

    async def five() -> list[str | BaseException]:
        first = asyncio.ensure_future(batch_executor.run(0))
        while not calls:
            await asyncio.sleep(0)
        others = [asyncio.ensure_future(batch_executor.run(number)) for number in range(1, 5)]
        await asyncio.sleep(0)
        may_go_on.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    done = asyncio.run(five())
    batch_executor.close()
    assert calls == [[0], [1, 2, 3, 4]]
    assert [str(answer) for answer in done] == ["done 0", "done 1", "done 2", "3", "done 4"]
    assert isinstance(done[3], ValueError)


def test_when_all_fails_everyone_is_told() -> None:
    def work(_: Sequence[int]) -> list[str | BaseException]:
        raise OSError("no disk")

    batch_executor = BatchExecutor("test", work)

    async def two() -> tuple[str | BaseException, str | BaseException]:
        return await asyncio.gather(batch_executor.run(1), batch_executor.run(2), return_exceptions=True)

    assert [str(answer) for answer in asyncio.run(two())] == ["no disk", "no disk"]
    batch_executor.close()


def test_closing_finishes_what_was_accepted() -> None:
    batch_executor = BatchExecutor[int, int]("test", list)

    async def accepted() -> list[int]:
        waiting = [asyncio.ensure_future(batch_executor.run(number)) for number in range(100)]
        await asyncio.sleep(0)
        await asyncio.to_thread(batch_executor.close)
        return await asyncio.gather(*waiting)

    assert asyncio.run(accepted()) == list(range(100))
