"""Finds the route of a request by a lookup instead of trying all routes. What is not found goes to Starlette, which refuses it."""

from collections import defaultdict
from collections.abc import Iterable

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Scope

from cloister.interfaces.http.dispatch.routes import GuardedRoute

_Shape = tuple[str, int, str]


class RouteTable:
    """A lookup of guarded routes by method, number of path segments, and the first two of these."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._known: dict[_Shape, list[GuardedRoute]] = defaultdict(list)
        self.add(routes)

    def add(self, routes: Iterable[BaseRoute]) -> None:
        for route in routes:
            if isinstance(route, GuardedRoute):
                for method in route.methods or ():
                    self._known[_shape(method, route.path)].append(route)

    def find(self, scope: Scope) -> ASGIApp | None:
        if scope.get("root_path"):
            return None
        path: str = scope["path"]
        for route in self._known.get(_shape(scope["method"], path), ()):
            if match := route.path_regex.match(path):
                scope["route"], scope["path_params"] = route, match.groupdict()
                return route.app
        return None


def _shape(method: str, path: str) -> _Shape:
    segments = path.split("/", 3)
    return method, path.count("/"), "/".join(segments[1:3])
