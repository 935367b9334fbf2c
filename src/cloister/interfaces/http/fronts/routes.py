"""The routes that most servers never answer: interfaces of other programs, archives and the audit. They are imported at the first
request under their path, so that they add nothing to the start of a server that does not use them (DOOR-1 to DOOR-5)."""

import threading
from collections.abc import Callable, Mapping, Sequence

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Scope

from cloister.interfaces.http.dispatch.router import RouteTable

Load = Callable[[], Sequence[BaseRoute]]


def _items() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.resources import items

    return items.router.routes


def _files() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.anthropic import files

    return files.router.routes


def _chat_completions() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.openai import routes

    return routes.router.routes


def _models() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.openai import models

    return models.router.routes


def _mcp() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.mcp import routes

    return routes.router.routes


def _anthropic() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.anthropic import models, routes

    return (*routes.router.routes, *models.router.routes)


def _mem0() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.mem0 import entities, routes

    return (*routes.router.routes, *entities.router.routes, *routes.ping_router.routes)


def _langgraph() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.langgraph import routes

    return routes.router.routes


def _entries() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.langgraph import entries

    return entries.router.routes


def _responses() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.openai import responses

    return responses.router.routes


def _conversations() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.openai import conversations

    return conversations.router.routes


def _archive() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.archive import routes

    return (*routes.router.routes, *routes.import_router.routes)


def _audit() -> Sequence[BaseRoute]:
    from cloister.interfaces.http.audit import routes

    return routes.router.routes


FRONTS: Mapping[str, Load] = {
    "v1/sessions/*/items": _items,
    "v1/sessions/*/files": _files,
    "v1/memory-tool": _files,
    "v1/chat/completions": _chat_completions,
    "v1/models": _models,
    "v1/embeddings": _models,
    "mcp": _mcp,
    "anthropic": _anthropic,
    "mem0": _mem0,
    "langgraph": _langgraph,
    "v1/entries": _entries,
    "v1/responses": _responses,
    "v1/conversations": _conversations,
    "v1/export": _archive,
    "v1/import": _archive,
    "v1/audit": _audit,
    "operator/audit": _audit,
}
"""How to load the routes under the first segments of a path: one, two or three, or four of which the third is any."""


def _front(path: str) -> Load | None:
    _, *segments = path.split("/", 5)
    for most in range(1, 4):
        if (load := FRONTS.get("/".join(segments[:most]))) is not None:
            return load
    return None if len(segments) < 4 else FRONTS.get(f"{segments[0]}/{segments[1]}/*/{segments[3]}")


class LazyRoutes:
    """The routes of an app, some of which are not imported yet. Loading adds them to the app's own list. Thread-safe."""

    def __init__(self, routes: list[BaseRoute]) -> None:
        self._routes = routes
        self._table = RouteTable(routes)
        self._lock = threading.Lock()
        self._waiting = set(FRONTS.values())

    def unloaded(self, scope: Scope) -> Load | None:
        """What has to be loaded before the route of this request can be found."""
        if not self._waiting:
            return None
        load = _front(scope["path"])
        return load if load in self._waiting else None

    def load(self, front: Load) -> None:
        """Import the routes, which takes up to 0.1 s, once."""
        with self._lock:
            if front in self._waiting:
                routes = front()
                self._routes.extend(routes)
                self._table.add(routes)
                self._waiting.discard(front)

    def load_all(self) -> None:
        for front in list(dict.fromkeys(FRONTS.values())):
            self.load(front)

    def find(self, scope: Scope) -> ASGIApp | None:
        return self._table.find(scope)
