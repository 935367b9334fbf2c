"""The one mechanism by which long-lived answers (events, chat streams, follows, OpenAI's streams) go on only while their callers
may read them (ISO-12): key, user, project and session are checked again within two seconds. Streams of turns are also checked at
once after a move, deletion, erasure or change of visibility by this process; revoked keys and events are found by the clock alone.
"""

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import replace

from starlette.concurrency import run_in_threadpool

from cloister.bootstrap import Services
from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import TenantId
from cloister.interfaces.http.dispatch.callers import CallerInfo
from cloister.services.chat.converse import CHECK_SECONDS

# Where changes come faster than they can be looked at, a reader goes on and looks again before it sends more.
_MOST_LOOKS = 2
MayRead = Callable[[CallerInfo], bool]
"""Whether a caller may go on reading; given the caller with its key as it is now. Raising is a no."""


class AccessRecheck:
    """Used on the event loop, but for the changes, which come from any thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._guards: dict[TenantId, set[StreamGuard]] = {}
        self._answers: dict[tuple[TenantId, Hashable], tuple[float, asyncio.Task[bool]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave_bus: Callable[[], None] = lambda: None
        self.last_change = object()

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._leave_bus = self._services.events.on_change(self._pass_on)

    def close(self) -> None:
        self._leave_bus()

    def guard(
        self, caller: CallerInfo, what: Hashable, may_read: MayRead, *, checked_after: object | None = None
    ) -> "StreamGuard":
        """For one answer; `what` names all that `may_read` depends on beside the caller's credential, header and the database.
        `checked_after`: the `last_change` before this very request showed that its caller may read."""
        return StreamGuard(self, caller, what, may_read, checked_after)

    def enter(self, guard: "StreamGuard") -> None:
        self._guards.setdefault(guard.tenant, set()).add(guard)

    def leave(self, guard: "StreamGuard") -> None:
        guards = self._guards.get(guard.tenant, set())
        guards.discard(guard)
        if not guards:
            self._guards.pop(guard.tenant, None)

    async def ask(self, guard: "StreamGuard") -> tuple[float, bool]:
        """When it was looked, and whether the caller may read on. Readers of the same, with the same credential, share the answer
        while it is fresh."""
        now = asyncio.get_running_loop().time()
        name = (guard.tenant, guard.name)
        asked, answer = self._answers.get(name, (0.0, None))
        if answer is None or now - asked >= CHECK_SECONDS:
            self._answers = {each: known for each, known in self._answers.items() if now - known[0] < CHECK_SECONDS}
            asked, answer = now, asyncio.create_task(run_in_threadpool(guard.look))
            self._answers[name] = asked, answer
        return asked, await asyncio.shield(answer)

    def _pass_on(self, tenant: TenantId) -> None:
        self.last_change = object()
        if self._loop is None or tenant not in self._guards:
            return
        try:
            self._loop.call_soon_threadsafe(self._note_change, tenant)
        except RuntimeError:
            return  # the loop is closed: nobody reads any more

    def _note_change(self, tenant: TenantId) -> None:
        self._answers = {each: known for each, known in self._answers.items() if each[0] != tenant}
        for guard in list(self._guards.get(tenant, ())):
            guard.note_change()


class StreamGuard:
    """Of one answer: whether its caller may still read it. Between two checks it costs a look at the clock."""

    def __init__(
        self,
        recheck: AccessRecheck,
        caller: CallerInfo,
        what: Hashable,
        may_read: MayRead,
        checked_after: object | None,
    ) -> None:
        self._recheck = recheck
        self._checked_after = checked_after
        self._caller = caller
        self._may_read = may_read
        self._checked: float | None = None
        self._changed = False
        self._wake: Callable[[], None] = lambda: None
        self.name: Hashable = (caller.text, caller.project_header, what)
        self.tenant = caller.reach.tenant
        self.reach = caller.reach

    def __enter__(self) -> "StreamGuard":
        self._recheck.enter(self)
        if self._checked_after is self._recheck.last_change:
            self._checked = asyncio.get_running_loop().time()
        return self

    def __exit__(self, *_: object) -> None:
        self._recheck.leave(self)

    def wake_with(self, wake: Callable[[], None]) -> None:
        """What to call when a check is due before its time."""
        self._wake = wake

    @property
    def seconds_left(self) -> float:
        """Until the next check."""
        if self._checked is None:
            return 0.0
        return max(0.0, self._checked + CHECK_SECONDS - asyncio.get_running_loop().time())

    async def admits(self) -> bool:
        """Asks the database only where a check is due. The first one is, unless the request itself was that check and nothing has
        changed in this process since: between the request and the first byte anything may have happened."""
        for _ in range(_MOST_LOOKS):
            if self.seconds_left > 0:
                return True
            self._changed = False
            looked, may_read = await self._recheck.ask(self)
            if not may_read:
                return False
            self._checked = None if self._changed else looked
        return True

    def note_change(self) -> None:
        """What was seen before is not to be relied on, nor is what is being looked at now."""
        self._changed = True
        self._checked = None
        self._wake()

    def look(self) -> bool:
        """On a thread. Where it cannot be known the answer is no."""
        try:
            key = self._caller.check()
            key.require("read")
            return key.reach == self._caller.reach and self._may_read(replace(self._caller, key=key))
        except CloisterError:
            return False
