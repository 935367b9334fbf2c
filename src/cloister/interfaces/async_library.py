"""`AsyncCloister`: the same methods, awaited. Each runs on a thread, because the core is synchronous and fast."""

import asyncio
import functools
import os
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from cloister.interfaces.library import Cloister


class AsyncCloister:
    """`await memory.record(…)` is `Cloister.record(…)` on a thread; so is every other method of `Cloister`."""

    def __init__(self, data: str | os.PathLike[str] | None = None, *, cloister: Cloister | None = None) -> None:
        self._cloister = cloister or Cloister(data)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._cloister, name)

        @functools.wraps(method)
        async def awaited(*args: Any, **named: Any) -> Any:
            return await asyncio.to_thread(method, *args, **named)

        return awaited

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._cloister) if not name.startswith("_")]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._cloister.close)
