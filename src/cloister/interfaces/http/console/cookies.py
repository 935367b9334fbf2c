"""The cookie of a signed-in browser, and its protection against cross-site request forgery.

Cookies belong to a host and not to a port, so the name of the cookie contains the port: two servers on one machine do not overwrite
each other's. For the same reason SameSite is not enough, since another port of this host counts as the same site: a request that
changes anything must come from a page of this origin, and so must a read, if the browser says where it comes from.
"""

from fastapi import Request
from starlette.responses import Response

from cloister.domain.errors import Forbidden

_SAFE = ("GET", "HEAD")
_OWN_PAGES = ("same-origin", "none")
# Longer than a sign-in lasts: the server ends one that is not used, and restarts that time at every use.
_COOKIE_SECONDS = 30 * 24 * 60 * 60


def token_of(request: Request) -> str | None:
    """The token in the cookie of a request, or none; whether a page of this origin sent the request is not checked here."""
    wanted = _name(request)
    for pair in request.headers.get("cookie", "").split(";"):
        name, _, value = pair.strip().partition("=")
        if name == wanted and value:
            return value
    return None


def refuse_other_origins(request: Request) -> None:
    """Raise `Forbidden` unless the request comes from a page of this origin."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in _OWN_PAGES:
        raise Forbidden("A page of another origin may not speak for a signed-in browser.")
    if request.method in _SAFE:
        return
    origin = request.headers.get("origin", "")
    if origin.partition("://")[2] != request.headers.get("host"):
        raise Forbidden("A page of another origin may not speak for a signed-in browser.")


def set_token(response: Response, request: Request, token: str) -> None:
    """Set the cookie, which no script can read and no other site can send. It survives the end of the browser."""
    response.set_cookie(
        _name(request),
        token,
        max_age=_COOKIE_SECONDS,
        path="/",
        secure=_secure(request),
        httponly=True,
        samesite="strict",
    )


def delete_token(response: Response, request: Request) -> None:
    response.delete_cookie(_name(request), path="/", secure=_secure(request), httponly=True, samesite="strict")


def _name(request: Request) -> str:
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"cloister_{port}" if port.isdecimal() else "cloister"


def _secure(request: Request) -> bool:
    return request.url.scheme == "https"
