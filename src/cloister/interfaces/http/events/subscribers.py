"""The hall: where the readers of events wait in one app. It wakes them, and sends them home when the server stops."""

import asyncio
from collections.abc import Callable

from cloister.bootstrap import Services
from cloister.domain.identifiers import TenantId


class Subscribers:
    """Used on the event loop, but for the news, which come from any thread."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._waiting: dict[TenantId, set[asyncio.Event]] = {}
        self._woken: set[TenantId] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave_bus: Callable[[], None] = lambda: None
        self.closing = False

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._leave_bus = self._services.events.on_publish(self._pass_on)

    def close(self) -> None:
        """All readers are let go; who comes now is let go too."""
        self.closing = True
        self._leave_bus()
        for waiting in self._waiting.values():
            for news in waiting:
                news.set()

    def join(self, tenant: TenantId) -> asyncio.Event:
        """Set whenever there may be something to read."""
        news = asyncio.Event()
        self._waiting.setdefault(tenant, set()).add(news)
        return news

    def leave(self, tenant: TenantId, news: asyncio.Event) -> None:
        self._waiting[tenant].discard(news)
        if not self._waiting[tenant]:
            del self._waiting[tenant]

    def _pass_on(self, tenant: TenantId) -> None:
        """One call on the loop for however much happens until it runs. Marked before it is called, and unmarked before anybody
        reads: what is told in between is either read or marked again."""
        if self._loop is None or tenant in self._woken or tenant not in self._waiting:
            return
        self._woken.add(tenant)
        try:
            self._loop.call_soon_threadsafe(self._wake, tenant)
        except RuntimeError:
            return  # the loop is closed: nobody reads any more

    def _wake(self, tenant: TenantId) -> None:
        self._woken.discard(tenant)
        for news in self._waiting.get(tenant, ()):
            news.set()
