"""Builds the HTTP app: routes, middleware, and what lives as long as the app does."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio.to_thread
from fastapi import FastAPI
from starlette.exceptions import HTTPException

from cloister.bootstrap import Services
from cloister.interfaces.http import health
from cloister.interfaces.http.anthropic import files
from cloister.interfaces.http.anthropic import routes as anthropic
from cloister.interfaces.http.archive import routes as archive
from cloister.interfaces.http.chat import routes as chat
from cloister.interfaces.http.chat.running_turns import RunningTurns
from cloister.interfaces.http.console import sign_in
from cloister.interfaces.http.console.pages import ConsolePages
from cloister.interfaces.http.console.sign_ins import SignIns
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck
from cloister.interfaces.http.dispatch.callers import Gate
from cloister.interfaces.http.dispatch.limits import ConcurrencyLimit, RateLimit
from cloister.interfaces.http.dispatch.router import finder
from cloister.interfaces.http.dispatch.routes import THREADS, Executors
from cloister.interfaces.http.events import routes as events
from cloister.interfaces.http.events.subscribers import Subscribers
from cloister.interfaces.http.hosts import AllowedHosts
from cloister.interfaces.http.langgraph import entries
from cloister.interfaces.http.langgraph import routes as langgraph
from cloister.interfaces.http.mcp import routes as mcp
from cloister.interfaces.http.metrics import Metrics
from cloister.interfaces.http.middleware import RequestMiddleware
from cloister.interfaces.http.openai import conversations, responses
from cloister.interfaces.http.openai import models as openai_models
from cloister.interfaces.http.openai import routes as openai_chat
from cloister.interfaces.http.openai.errors import on_http_error
from cloister.interfaces.http.openapi.document import DescribedApp
from cloister.interfaces.http.resources import (
    corrections,
    entities,
    erasure,
    items,
    memories,
    profiles,
    recall,
    retention,
    sessions,
    tenants,
)


def create_app(
    services: Services,
    *,
    operator_key: str | None = None,
    requests_per_second: int = 0,
    requests_at_once: int = 0,
    hosts: AllowedHosts | None = None,
    sign_ins: SignIns | None = None,
    mcp_issuer: str | None = None,
    at_end: Callable[[], object] = lambda: None,
) -> FastAPI:
    """The app over open services; `at_end` is called after its last request. Without `hosts` only loopback names are allowed."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        executors = Executors(services) if services.database.embedded else None
        app.state.executors = executors
        app.state.turns = RunningTurns(services, None if executors is None else executors.reads)
        subscribers.open()
        access_recheck.open()
        yield
        subscribers.close()
        access_recheck.close()
        await app.state.turns.close()
        await services.chat.model.close()
        if executors is not None:
            await anyio.to_thread.run_sync(executors.close)
        await anyio.to_thread.run_sync(at_end)

    app = DescribedApp(
        title="Cloister",
        summary="Memory for AI assistants that stays inside its walls.",
        version=version("cloister"),
        lifespan=lifespan,
        redirect_slashes=False,
        openapi_url=None,
    )
    metrics = Metrics(services)
    app.state.metrics = metrics
    app.state.executors = None
    app.state.mcp_issuer = mcp_issuer
    app.state.hosts = hosts or AllowedHosts()
    subscribers = app.state.subscribers = Subscribers(services)
    access_recheck = app.state.access_recheck = AccessRecheck(services)
    app.state.gate = Gate(
        services=services,
        rate_limit=RateLimit(requests_per_second),
        concurrency_limit=ConcurrencyLimit(requests_at_once),
        sign_ins=sign_ins or SignIns(),
        operator_key=operator_key,
    )
    fronts = (openai_chat, openai_models, responses, conversations, anthropic, mcp, langgraph, entries)
    parts = (
        recall,
        sessions,
        items,
        files,
        memories,
        corrections,
        entities,
        chat,
        *fronts,
        events,
        tenants,
        retention,
        profiles,
        erasure,
        archive,
        health,
        sign_in,
    )
    for part in parts:
        # Not by `include_router`, which nests routers and searches all of them at every request.
        app.router.routes.extend(part.router.routes)
    app.router.routes.extend(archive.import_router.routes)
    if mcp_issuer is not None:
        from cloister.interfaces.http.mcp import oauth

        app.router.routes.extend(oauth.router.routes)
    app.add_exception_handler(HTTPException, on_http_error)
    find, find_page = finder(app.router.routes), ConsolePages().find
    app.add_middleware(
        RequestMiddleware,
        metrics=metrics,
        find=lambda scope: find(scope) or find_page(scope),
        hosts=app.state.hosts,
    )
    return app
