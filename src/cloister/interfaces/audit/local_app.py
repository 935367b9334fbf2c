"""Audits services of this process that no server is running for: starts the HTTP app on an event loop of its own, without a
network."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

from cloister.bootstrap import Services
from cloister.interfaces.audit.app_client import AppClient, AsgiApp
from cloister.interfaces.audit.audit import AuditRun, LibraryReads, Progress
from cloister.interfaces.audit.report import Audit
from cloister.interfaces.http.app import create_app


def audit_services(services: Services, library: LibraryReads, progress: Progress = lambda done, of: None) -> Audit:
    """Audit a directory or a database with two throw-away tenants. The caller has direct access to all of it."""
    with running_app(services) as client:
        return AuditRun(services, client, None, progress=progress, library=library).run()


@contextmanager
def running_app(services: Services) -> Generator[AppClient]:
    """A client of the HTTP app of these services, which runs until the block ends."""
    app, loop = create_app(services), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="audit", daemon=True)
    thread.start()

    def run(call: Callable[[], Awaitable[Any]]) -> Any:
        async def called() -> Any:
            return await call()

        return asyncio.run_coroutine_threadsafe(called(), loop).result()

    lifespan = app.router.lifespan_context(app)
    try:
        run(lifespan.__aenter__)
        try:
            yield AppClient(cast(AsgiApp, app), run)
        finally:
            run(lambda: lifespan.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
