"""The subscribers of the event streams of one app: wakes them when there are events, and ends their streams at a shutdown."""

import asyncio
from collections.abc import Callable

from cloister.bootstrap import Services
from cloister.domain.identifiers import TenantId
from cloister.interfaces.http.events.frames import EventFrames

# Events of a busy tenant are delivered together: every 40 ms to a hundred subscribers, every half second to more than a thousand.
_PAUSE_PER_SUBSCRIBER = 0.0004
_LONGEST_PAUSE = 0.5


class Subscribers:
    """Used on the event loop only, except that notifications of new events arrive from any thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._waiting: dict[TenantId, set[asyncio.Event]] = {}
        self._woken: set[TenantId] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave_bus: Callable[[], None] = lambda: None
        self._last_wake: dict[TenantId, float] = {}
        self.frames = EventFrames()
        self.closing = False

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._leave_bus = self._services.events.on_publish(self._pass_on)

    def close(self) -> None:
        """End all streams, and those that begin from now on."""
        self.closing = True
        self._leave_bus()
        for waiting in self._waiting.values():
            for news in waiting:
                news.set()

    def join(self, tenant: TenantId) -> asyncio.Event:
        """Add a subscriber. The event is set whenever there may be something to read."""
        news = asyncio.Event()
        self._waiting.setdefault(tenant, set()).add(news)
        return news

    def leave(self, tenant: TenantId, news: asyncio.Event) -> None:
        self._waiting[tenant].discard(news)
        if not self._waiting[tenant]:
            del self._waiting[tenant]
            self._last_wake.pop(tenant, None)

    def _pass_on(self, tenant: TenantId) -> None:
        """Schedule one wake-up on the event loop, however many events arrive until it runs. The mark is set before the wake-up is
        scheduled and removed before subscribers read, so an event in between is either read or schedules another."""
        if self._loop is None or tenant in self._woken or tenant not in self._waiting:
            return
        self._woken.add(tenant)
        try:
            self._loop.call_soon_threadsafe(self._wake_in_time, tenant)
        except RuntimeError:
            return  # the event loop is closed, and all streams with it

    def _wake_in_time(self, tenant: TenantId) -> None:
        """Wake the subscribers of a tenant: at once after a pause, else when the last wake-up is long enough ago for so many. To
        wake and write to each costs the event loop some tenths of a millisecond, which writers of any tenant need too."""
        loop = asyncio.get_running_loop()
        pause = min(_LONGEST_PAUSE, _PAUSE_PER_SUBSCRIBER * len(self._waiting.get(tenant, ())))
        due = self._last_wake.get(tenant, 0.0) + pause
        if loop.time() >= due:
            self._wake(tenant)
        else:
            loop.call_at(due, self._wake, tenant)

    def _wake(self, tenant: TenantId) -> None:
        self._woken.discard(tenant)
        if tenant in self._waiting:
            self._last_wake[tenant] = asyncio.get_running_loop().time()
        for news in self._waiting.get(tenant, ()):
            news.set()
