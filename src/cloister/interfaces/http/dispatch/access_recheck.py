"""Ends streams (events, chat, OpenAI's, archives) whose callers may no longer use them (ISO-12): key, user, project and session are
checked again every two seconds. Streams of turns are also checked at once after a move, deletion, erasure or change of visibility
in this process, before they send more; revoked keys, and streams of events, are checked by the clock alone.
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
# Seconds between two times at which the streams of a tenant are woken by changes. Together with `CHECK_SECONDS` they stay below the
# two seconds after which a stream has ended.
_SHORTEST_PAUSE = 0.03
_PAUSE_PER_STREAM = 0.001
_LONGEST_PAUSE = 0.3
MayRead = Callable[[CallerInfo], bool]
"""Whether a caller, with its key as it is now, may go on reading. To raise a `CloisterError` means no."""
_Answer = tuple[float, asyncio.Task[CloisterError | None]]


class AccessRecheck:
    """The guards of all streams of this app. Used on the event loop only, except that changes arrive from any thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._guards: dict[TenantId, _TenantGuards] = {}
        self._answers: dict[TenantId, dict[Hashable, _Answer]] = {}
        self._pruned_at = 0.0
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

    def enter(self, guard: "StreamGuard") -> "_TenantGuards":
        of_tenant = self._guards.setdefault(guard.tenant, _TenantGuards())
        of_tenant.guards.add(guard)
        return of_tenant

    def leave(self, guard: "StreamGuard") -> None:
        of_tenant = self._guards.get(guard.tenant)
        if of_tenant is not None:
            of_tenant.guards.discard(guard)
            if not of_tenant.guards:
                del self._guards[guard.tenant]

    async def ask(self, guard: "StreamGuard") -> tuple[float, CloisterError | None]:
        """When access was checked, and why the caller may not read on, or None if it may. Streams of the same thing with
        the same credential share the result of a check until the next one is due."""
        now = asyncio.get_running_loop().time()
        self._prune(now)
        answers = self._answers.setdefault(guard.tenant, {})
        asked, answer = answers.get(guard.name, (0.0, None))
        if answer is None or now - asked >= CHECK_SECONDS:
            asked, answer = now, asyncio.create_task(run_in_threadpool(guard.look))
            answers[guard.name] = asked, answer
        return asked, await asyncio.shield(answer)

    def _prune(self, now: float) -> None:
        """Drop the answers that are too old, of all tenants: seldom, so that a check costs the same however many there are."""
        if now - self._pruned_at < CHECK_SECONDS:
            return
        self._pruned_at = now
        for tenant, answers in list(self._answers.items()):
            recent = {name: answer for name, answer in answers.items() if now - answer[0] < CHECK_SECONDS}
            if recent:
                self._answers[tenant] = recent
            else:
                del self._answers[tenant]

    def _pass_on(self, tenant: TenantId) -> None:
        self.last_change = object()
        if self._loop is None or (tenant not in self._guards and tenant not in self._answers):
            return
        try:
            self._loop.call_soon_threadsafe(self._note_change, tenant)
        except RuntimeError:
            return  # the event loop is closed, and all streams with it

    def _note_change(self, tenant: TenantId) -> None:
        """Invalidate all checks of a tenant, also those that are running: they may have read the state before the change."""
        self._answers.pop(tenant, None)
        if tenant in self._guards:
            self._guards[tenant].note_change()


class _TenantGuards:
    """The guards of the streams of one tenant. A change invalidates their checks at once. It wakes them at once after a pause, else
    when the last wake-up is long enough ago for so many: each that is woken asks the database."""

    def __init__(self) -> None:
        self.guards: set[StreamGuard] = set()
        self.changes = 0
        """How many were noted: a check is valid until there is another one."""
        self.quiet = asyncio.Event()
        """Not set while there was a change of which the streams have not been woken."""
        self.quiet.set()
        self._last_wake = float("-inf")

    def note_change(self) -> None:
        self.changes += 1
        if not self.quiet.is_set():
            return
        loop = asyncio.get_running_loop()
        due = self._last_wake + min(_LONGEST_PAUSE, max(_SHORTEST_PAUSE, _PAUSE_PER_STREAM * len(self.guards)))
        if loop.time() >= due:
            self._wake()
        else:
            self.quiet.clear()
            loop.call_at(due, self._wake)

    def _wake(self) -> None:
        self.quiet.set()
        self._last_wake = asyncio.get_running_loop().time()
        for guard in list(self.guards):
            guard.wake()


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
        self._of_tenant = _TenantGuards()
        self._checked: float | None = None
        self._changes = 0
        self.wake: Callable[[], None] = lambda: None
        """Wakes the stream when a check is due early."""
        self.refusal: CloisterError | None = None
        """Why the caller may no longer read, after `admits` said so."""
        self.name: Hashable = (caller.text, caller.project_header, caller.reach.user, what)
        self.tenant = caller.reach.tenant
        self.reach = caller.reach

    def __enter__(self) -> "StreamGuard":
        self._of_tenant = self._recheck.enter(self)
        if self._checked_after is self._recheck.last_change:
            self._checked = asyncio.get_running_loop().time()
            self._changes = self._of_tenant.changes
        return self

    def __exit__(self, *_: object) -> None:
        self._recheck.leave(self)

    def wake_with(self, wake: Callable[[], None]) -> None:
        self.wake = wake

    @property
    def seconds_left(self) -> float:
        """Seconds until the next check is due."""
        if self._checked is None or self._changes != self._of_tenant.changes:
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
            await self._of_tenant.quiet.wait()
            changes = self._of_tenant.changes
            looked, self.refusal = await self._recheck.ask(self)
            if self.refusal is not None:
                return False
            self._checked, self._changes = looked, changes
        return True

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
