"""Builds the HTTP app: routes, middleware, and what lives as long as the app does."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio.to_thread
from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException

from cloister.bootstrap import Services
from cloister.interfaces.http import health
from cloister.interfaces.http.chat import model_test
from cloister.interfaces.http.chat import routes as chat
from cloister.interfaces.http.chat.relay import PeerRelay
from cloister.interfaces.http.chat.running_turns import RunningTurns
from cloister.interfaces.http.console import sign_in
from cloister.interfaces.http.console.pages import ConsolePages
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck
from cloister.interfaces.http.dispatch.callers import Gate
from cloister.interfaces.http.dispatch.limits import ConcurrencyLimit, RateLimit
from cloister.interfaces.http.dispatch.routes import THREADS, Executors
from cloister.interfaces.http.dispatch.shared_buckets import SharedBuckets
from cloister.interfaces.http.events import routes as events
from cloister.interfaces.http.events.subscribers import Subscribers
from cloister.interfaces.http.fronts.routes import LazyRoutes
from cloister.interfaces.http.hosts import AllowedHosts
from cloister.interfaces.http.listing import routes as listing
from cloister.interfaces.http.metrics import Metrics
from cloister.interfaces.http.middleware import RequestMiddleware
from cloister.interfaces.http.openai.errors import on_http_error
from cloister.interfaces.http.openapi.document import DescribedApp
from cloister.interfaces.http.receipts import routes as receipts
from cloister.interfaces.http.resources import (
    corrections,
    entities,
    erasure,
    memories,
    profiles,
    recall,
    retention,
    sessions,
    tenants,
)
from cloister.interfaces.http.sessions import titles
from cloister.services.processes import Process

# FastAPI's own telemetry would send paths, queries and texts of errors to any provider of the process: they contain external ids.
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def create_app(
    services: Services,
    *,
    operator_key: str | None = None,
    requests_per_second: int = 0,
    requests_at_once: int = 0,
    requests_waiting: int = 0,
    hosts: AllowedHosts | None = None,
    mcp_issuer: str | None = None,
    process: Process | None = None,
    shared_buckets: SharedBuckets | None = None,
    at_end: Callable[[], object] = lambda: None,
) -> FastAPI:
    """The app over open services; `at_end` is called after its last request. With `process` it asks other processes of the database
    about turns that it does not have. Without `hosts` only loopback names are allowed."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        executors = app.state.executors = Executors(services, most_waiting=requests_waiting)
        metrics.queues = executors.queues
        app.state.turns = RunningTurns(services, executors.reads)
        subscribers.open()
        access_recheck.open()
        yield
        subscribers.close()
        access_recheck.close()
        await app.state.turns.close()
        await services.chat.model.close()
        await anyio.to_thread.run_sync(executors.close)
        await anyio.to_thread.run_sync(at_end)

    app = DescribedApp(
        title="Cloister",
        summary="Memory for AI assistants that stays inside its walls.",
        version=version("cloister"),
        lifespan=lifespan,
        redirect_slashes=False,
        openapi_url=None,
        telemetry=_NO_TELEMETRY,
    )
    metrics = Metrics(services)
    app.state.metrics = metrics
    app.state.executors = None
    app.state.mcp_issuer = mcp_issuer
    app.state.relay = None if process is None else PeerRelay(services.processes, process)
    app.state.hosts = hosts or AllowedHosts()
    subscribers = app.state.subscribers = Subscribers(services)
    access_recheck = app.state.access_recheck = AccessRecheck(services)
    app.state.gate = Gate(
        services=services,
        rate_limit=RateLimit(requests_per_second, shared=shared_buckets),
        concurrency_limit=ConcurrencyLimit(requests_at_once),
        operator_key=operator_key,
    )
    parts = (
        recall,
        receipts,
        sessions,
        titles,
        memories,
        corrections,
        entities,
        chat,
        model_test,
        events,
        tenants,
        retention,
        profiles,
        listing,
        erasure,
        health,
        sign_in,
    )
    for part in parts:
        # Not by `include_router`, which nests routers and searches all of them at every request.
        app.router.routes.extend(part.router.routes)
    if mcp_issuer is not None:
        from cloister.interfaces.http.mcp import oauth

        app.router.routes.extend(oauth.router.routes)
    app.add_exception_handler(HTTPException, on_http_error)
    lazy, find_page = LazyRoutes(app.router.routes), ConsolePages().find
    app.load_routes = lazy.load_all
    app.add_middleware(
        RequestMiddleware,
        metrics=metrics,
        find=lambda scope: lazy.find(scope) or find_page(scope),
        unloaded=lazy.unloaded,
        load=lazy.load,
        hosts=app.state.hosts,
        tracer=services.tracer,
    )
    return app
