"""Ends streams (events, chat, OpenAI's, archives) whose callers may no longer use them (ISO-12): key, user, project and session are
checked again every two seconds. Streams of turns are also checked at once after a move, deletion, erasure or change of visibility
in this process; revoked keys, and streams of events, are checked by the clock alone.
"""

import asyncio
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import replace

from starlette.concurrency import run_in_threadpool

from cloister.bootstrap import Services
from cloister.domain.errors import AccessEnded, CloisterError, Unauthenticated
from cloister.domain.identifiers import TenantId
from cloister.interfaces.http.dispatch.callers import CallerInfo
from cloister.services.chat.converse import CHECK_SECONDS

# If changes come faster than checks, a stream goes on after so many, and checks again before it sends more.
_MOST_CHECKS = 2
MayRead = Callable[[CallerInfo], bool]
"""Whether a caller, with its key as it is now, may go on reading. To raise a `CloisterError` means no."""


class AccessRecheck:
    """The guards of all streams of this app. Used on the event loop only, except that changes arrive from any thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._guards: dict[TenantId, set[StreamGuard]] = {}
        self._answers: dict[tuple[TenantId, Hashable], tuple[float, asyncio.Task[CloisterError | None]]] = {}
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
        """The guard of one stream. `what` identifies all that `may_read` depends on, apart from the caller's credential, the
        headers that name a project and a user, and the database. `checked_after`: the `last_change` before this request checked
        that its caller may read."""
        return StreamGuard(self, caller, what, may_read, checked_after)

    def enter(self, guard: "StreamGuard") -> None:
        self._guards.setdefault(guard.tenant, set()).add(guard)

    def leave(self, guard: "StreamGuard") -> None:
        guards = self._guards.get(guard.tenant, set())
        guards.discard(guard)
        if not guards:
            self._guards.pop(guard.tenant, None)

    async def ask(self, guard: "StreamGuard") -> tuple[float, CloisterError | None]:
        """When access was checked, and why the caller may not read on, or None if it may. Streams of the same thing with
        the same credential share the result of a check until the next one is due."""
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
            return  # the event loop is closed, and all streams with it

    def _note_change(self, tenant: TenantId) -> None:
        self._answers = {each: known for each, known in self._answers.items() if each[0] != tenant}
        for guard in list(self._guards.get(tenant, ())):
            guard.note_change()


class StreamGuard:
    """Whether the caller of one stream may still read it. Between two checks, asking costs no more than reading the clock."""

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
        self.refusal: CloisterError | None = None
        """Why the caller may no longer read, after `admits` said so."""
        self.name: Hashable = (caller.text, caller.project_header, caller.reach.user, what)
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
        """Set the callback that wakes the stream when a check is due early."""
        self._wake = wake

    @property
    def seconds_left(self) -> float:
        """Seconds until the next check is due."""
        if self._checked is None:
            return 0.0
        return max(0.0, self._checked + CHECK_SECONDS - asyncio.get_running_loop().time())

    async def wait(self, news: asyncio.Event, seconds: float) -> None:
        """Return when `news` is set, after `seconds`, or when the next check is due."""
        with suppress(TimeoutError):
            # Not `wait_for`, which creates a task for every wait.
            async with asyncio.timeout(max(0.0, min(self.seconds_left, seconds))):
                await news.wait()

    async def admits(self) -> bool:
        """Whether the caller may read on; queries the database only if a check is due. The first call checks, unless the request
        itself has done so and nothing has changed in this process since."""
        for _ in range(_MOST_CHECKS):
            if self.seconds_left > 0:
                return True
            self._changed = False
            looked, self.refusal = await self._recheck.ask(self)
            if self.refusal is not None:
                return False
            self._checked = None if self._changed else looked
        return True

    def note_change(self) -> None:
        """Invalidate the last check, and one that is running: it may have read the state before the change."""
        self._changed = True
        self._checked = None
        self._wake()

    def look(self) -> CloisterError | None:
        """Check access now; blocks on the database. Returns why the caller may not read on, also if the check itself fails; an
        error that says that the key is not valid any more is kept, and others say no more than that access has ended."""
        try:
            key = self._caller.check()
            key.require("read")
            may_read = key.reach == self._caller.reach and self._may_read(replace(self._caller, key=key))
        except Unauthenticated as error:
            return error
        except CloisterError:
            may_read = False
        return None if may_read else AccessEnded()
