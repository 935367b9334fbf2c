"""The cookie of a signed-in browser, and why no other site can use it.

Cookies belong to a host and not to a port, so the name carries the port: two servers on one machine do not sign each other out.
For the same reason SameSite is not enough, since another port of this host counts as the same site: what changes anything must come
from a page of this very origin, and so must every reading where the browser says where it comes from.
"""

from fastapi import Request
from starlette.responses import Response

from cloister.domain.errors import Forbidden

_SAFE = ("GET", "HEAD")
_OWN_PAGES = ("same-origin", "none")


def token_of(request: Request) -> str | None:
    """What the browser was given, whoever's page it now sends it from."""
    wanted = _name(request)
    for pair in request.headers.get("cookie", "").split(";"):
        name, _, value = pair.strip().partition("=")
        if name == wanted and value:
            return value
    return None


def refuse_other_origins(request: Request) -> None:
    """Raises unless the request is made by a page of ours."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in _OWN_PAGES:
        raise Forbidden("A page of another origin may not speak for a signed-in browser.")
    if request.method in _SAFE:
        return
    origin = request.headers.get("origin", "")
    if origin.partition("://")[2] != request.headers.get("host"):
        raise Forbidden("A page of another origin may not speak for a signed-in browser.")


def give(response: Response, request: Request, token: str) -> None:
    """It goes with the browser: no script can read it, no other site can send it, and it ends with the browser's own session."""
    response.set_cookie(_name(request), token, path="/", secure=_secure(request), httponly=True, samesite="strict")


def take(response: Response, request: Request) -> None:
    response.delete_cookie(_name(request), path="/", secure=_secure(request), httponly=True, samesite="strict")


def _name(request: Request) -> str:
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"cloister_{port}" if port.isdecimal() else "cloister"


def _secure(request: Request) -> bool:
    return request.url.scheme == "https"
