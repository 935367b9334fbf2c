"""Signing in to the console: a link that works once becomes a cookie that no script can read. No key ever reaches the browser."""

from typing import cast

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from cloister.domain.access import ApiKey
from cloister.domain.errors import Conflict, Unauthenticated
from cloister.domain.identifiers import format_key_id, format_project_id, format_tenant_id
from cloister.interfaces.http.console import cookies
from cloister.interfaces.http.console.sign_ins import LINK_SECONDS
from cloister.interfaces.http.dispatch.callers import Caller, Gate, NoBody, needs
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import answer, nothing

router = APIRouter(route_class=GuardedRoute, tags=["Console"])


class ConsoleLink(BaseModel):
    """`path` is to be opened in a browser, on this server; its end, behind the #, is the code."""

    path: str
    expires_in: int


class SignedIn(BaseModel):
    """Of which key a caller speaks."""

    tenant_id: str
    key_id: str
    name: str
    permissions: list[str]
    project_id: str | None
    confined: bool
    user_id: str | None


def link_path(code: str) -> str:
    """Behind the # nothing is sent, logged, or fetched ahead: only the page itself reads the code, and gives it back once."""
    return f"/sign-in#{code}"


@router.post("/console/links", response_model=ConsoleLink)
@needs("read")
def create_console_link(caller: Caller, request: Request, _: NoBody) -> Response:
    """A link that signs a browser in to the console, once. The browser may then do what the key of this request may."""
    code = cast(Gate, request.app.state.gate).sign_ins.new_code(caller.key)
    return answer(ConsoleLink(path=link_path(code), expires_in=LINK_SECONDS))


@router.post("/console/sign-in", status_code=204, response_model=None)
@needs("nothing")
def sign_in(body: bodies.SignIn, request: Request) -> Response:
    """Redeem the code of a link for a cookie that stands for its key. A code works once, and not for long. In a browser that is
    signed in with another key it is refused with 409, and stays good, until the body says `replace`."""
    gate = cast(Gate, request.app.state.gate)
    if not body.replace:
        _refuse_to_replace(request, gate, body.code)
    promised = gate.sign_ins.promised(body.code)
    gate.services.api_keys.still_valid(promised.tenant, promised.key)
    token = gate.sign_ins.redeem(body.code)
    replaced = cookies.token_of(request)
    if replaced is not None:
        gate.sign_ins.end(replaced)
    response = nothing()
    cookies.give(response, request, token)
    return response


@router.post("/console/sign-out", status_code=204, response_model=None)
@needs("nothing")
def sign_out(request: Request, _: NoBody) -> Response:
    """End what the cookie of this browser stands for, if anything."""
    token = cookies.token_of(request)
    response = nothing()
    if token is not None:
        cookies.refuse_other_origins(request)
        cast(Gate, request.app.state.gate).sign_ins.end(token)
        cookies.take(response, request)
    return response


@router.get("/console/session", response_model=SignedIn)
@needs("read")
def get_console_session(caller: Caller) -> Response:
    """Who is signed in: the key that this caller speaks for."""
    key = caller.key
    return answer(
        SignedIn(
            tenant_id=format_tenant_id(key.tenant),
            key_id=format_key_id(key.id),
            name=key.name,
            permissions=[*key.permissions],
            project_id=None if key.project is None else format_project_id(key.project),
            confined=key.confined,
            user_id=key.user,
        )
    )


def _refuse_to_replace(request: Request, gate: Gate, code: str) -> None:
    """A link that somebody sent must not make a browser somebody else's without a word."""
    token = cookies.token_of(request)
    promised = gate.sign_ins.promised(code)
    if token is None:
        return
    try:
        principal = gate.sign_ins.principal(token)
        current = gate.services.api_keys.still_valid(principal.tenant, principal.key)
    except Unauthenticated:
        return
    if principal != promised:
        wanted = gate.services.api_keys.still_valid(promised.tenant, promised.key)
        raise Conflict(
            f"This browser is signed in with {_described(current)}, and the link is for {_described(wanted)}. Sign out first, or "
            "send `replace` as true."
        )


def _described(key: ApiKey) -> str:
    return f"the key {key.name!r} ({format_key_id(key.id)}) of {format_tenant_id(key.tenant)}"
