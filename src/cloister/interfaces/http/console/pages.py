"""The pages of the console: static files from its build, which contain no data of tenants.

They are not routes of the API, and are looked up after these, so that no file can shadow a route.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

BUILT = Path(__file__).parent / "built"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGES = ("sign-in", "memory", "settings", "c", "p", "u", "start", "home", "import")
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_PACKED_ALREADY = (".woff2", ".ico")
_FOR_EVER = "public, max-age=31536000, immutable"
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Cloister</title>
<h1>The console is not built here</h1>
<p>This server runs from a checkout whose console was not built. Build it with Node 22 or newer, and start the server again:</p>
<pre>cd console &amp;&amp; npm ci &amp;&amp; npm run build</pre>
<p>Everything else works: <a href="/docs">the HTTP interface</a>.</p></html>
"""


class ConsolePages:
    """Finds the file of a path. All pages of the console are one HTML file, whose script reads the path."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._files: Mapping[str, _File] = {
            f"/{path.relative_to(folder).as_posix()}": _File(path=path)
            for path in sorted(folder.rglob("*"))
            if path.suffix in _KINDS
        }
        self._page: ASGIApp = self._files.get("/index.html") or _not_built

    def find(self, scope: Scope) -> ASGIApp | None:
        if scope["method"] not in ("GET", "HEAD") or scope.get("root_path"):
            return None
        path: str = scope["path"]
        found = self._page if path == "/" or path.split("/")[1] in _PAGES else self._files.get(path)
        if found is not None:
            scope["route"] = _AS_ROUTE
        return found


@dataclass(frozen=True, kw_only=True)
class _File:
    """One file, read when it is first requested. Files in `assets` have a hash in their names, so browsers cache them for ever."""

    path: Path

    @cached_property
    def _plain(self) -> bytes:
        return self.path.read_bytes()

    @cached_property
    def _packed(self) -> bytes | None:
        return None if self.path.suffix in _PACKED_ALREADY else gzip.compress(self._plain, mtime=0)

    @cached_property
    def _mark(self) -> str:
        return f'"{sha256(self._plain).hexdigest()[:16]}"'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await run_in_threadpool(self._answer, Headers(scope=scope))
        await response(scope, receive, send)

    def _answer(self, asked: Headers) -> Response:
        is_page = self.path.suffix == ".html"
        headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
        if self.path.parent.name == "assets":
            headers["Cache-Control"] = _FOR_EVER
        elif not is_page:
            headers |= {"Cache-Control": "no-cache", "ETag": self._mark}
            if asked.get("if-none-match") == self._mark:
                return Response(status_code=304, headers=headers)
        if is_page:
            headers |= _PAGE_HEADERS
        packed = self._packed if "gzip" in asked.get("accept-encoding", "") else None
        if packed is not None:
            headers["Content-Encoding"] = "gzip"
        return Response(packed or self._plain, headers=headers, media_type=_KINDS[self.path.suffix])


_PAGE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
}


async def _not_built(scope: Scope, receive: Receive, send: Send) -> None:
    response = Response(_NOT_BUILT, 503, _PAGE_HEADERS, _KINDS[".html"])
    await response(scope, receive, send)


class _AsRoute:
    """The route of all pages in logs and metrics, which must not contain paths, since these are arbitrary text of clients."""

    path = "/"


_AS_ROUTE: Any = _AsRoute()
