"""Finds the route of a request by a lookup instead of trying all routes. What is not found goes to Starlette, which refuses it."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Scope

from cloister.interfaces.http.dispatch.routes import GuardedRoute

_Shape = tuple[str, int, str]


def finder(routes: Sequence[BaseRoute]) -> Callable[[Scope], ASGIApp | None]:
    """A lookup of guarded routes by method, number of path segments, and the first two of these."""
    known: dict[_Shape, list[GuardedRoute]] = defaultdict(list)
    for route in routes:
        if isinstance(route, GuardedRoute):
            for method in route.methods or ():
                known[_shape(method, route.path)].append(route)

    def find(scope: Scope) -> ASGIApp | None:
        if scope.get("root_path"):
            return None
        path: str = scope["path"]
        for route in known.get(_shape(scope["method"], path), ()):
            if match := route.path_regex.match(path):
                scope["route"], scope["path_params"] = route, match.groupdict()
                return route.app
        return None

    return find


def _shape(method: str, path: str) -> _Shape:
    segments = path.split("/", 3)
    return method, path.count("/"), "/".join(segments[1:3])
