"""Signing in to the console: a one-time link is exchanged for a cookie that no script can read. Keys never reach the browser."""

from typing import cast

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from cloister.domain.access import ApiKey
from cloister.domain.errors import Conflict, Unauthenticated
from cloister.domain.identifiers import format_key_id, format_project_id, format_tenant_id
from cloister.interfaces.http.console import cookies
from cloister.interfaces.http.dispatch.callers import Caller, Gate, NoBody, needs
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.answers import answer, nothing
from cloister.interfaces.http.resources.bodies import Body
from cloister.services.tenancy.sign_ins import LINK_SECONDS

router = APIRouter(route_class=GuardedRoute, tags=["Console"])


class SignIn(Body):
    code: str = Field(description="The part of a console link after the #.", json_schema_extra=schemas.NAME)
    replace: bool = Field(default=False, description="Sign in even if the browser is signed in with another key.")


class ConsoleLink(BaseModel):
    """A link to open in a browser. `path` is relative to this server; its fragment, after the #, is the code."""

    path: str
    expires_in: int


class SignedIn(BaseModel):
    """The key of a caller."""

    tenant_id: str
    key_id: str
    name: str
    permissions: list[str]
    project_id: str | None
    confined: bool
    user_id: str | None


def link_path(code: str) -> str:
    """A code is in the fragment, which browsers do not send, log or prefetch: only the page reads it, and redeems it."""
    return f"/sign-in#{code}"


@router.post("/console/links", response_model=ConsoleLink)
@needs("read")
def create_console_link(caller: Caller, request: Request, _: NoBody) -> Response:
    """Create a one-time link that signs a browser in to the console, with the permissions of the key of this request."""
    code = cast(Gate, request.app.state.gate).services.sign_ins.new_code(caller.key)
    return answer(ConsoleLink(path=link_path(code), expires_in=LINK_SECONDS))


@router.post("/console/sign-in", status_code=204, response_model=None)
@needs("nothing")
def sign_in(body: SignIn, request: Request) -> Response:
    """Redeem the code of a link for a cookie that represents its key. A code works once, for 15 minutes. In a browser that is
    signed in with another key it is refused with 409, and stays valid, unless `replace` is true. A page of another origin cannot
    sign the browser in."""
    if "origin" in request.headers or "sec-fetch-site" in request.headers:
        cookies.refuse_other_origins(request)
    gate = cast(Gate, request.app.state.gate)
    if not body.replace:
        _refuse_to_replace(request, gate, body.code)
    wanted = gate.services.sign_ins.principal_of_code(body.code)
    gate.services.api_keys.still_valid(wanted.tenant, wanted.key)
    token = gate.services.sign_ins.redeem(body.code)
    replaced = cookies.token_of(request)
    if replaced is not None:
        gate.services.sign_ins.end(replaced)
    response = nothing()
    cookies.set_token(response, request, token)
    return response


@router.post("/console/sign-out", status_code=204, response_model=None)
@needs("nothing")
def sign_out(request: Request, _: NoBody) -> Response:
    """Sign this browser out, if it is signed in, and delete its cookie."""
    token = cookies.token_of(request)
    response = nothing()
    if token is not None:
        cookies.refuse_other_origins(request)
        cast(Gate, request.app.state.gate).services.sign_ins.end(token)
        cookies.delete_token(response, request)
    return response


@router.get("/console/session", response_model=SignedIn)
@needs("read")
def get_console_session(caller: Caller) -> Response:
    """Get the key with which the caller is signed in."""
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
    """Raise `Conflict` if the browser is signed in with another key: a link from somebody else must not switch it silently."""
    token = cookies.token_of(request)
    wanted = gate.services.sign_ins.principal_of_code(code)
    if token is None:
        return
    try:
        principal = gate.services.sign_ins.principal(token)
        current = gate.services.api_keys.still_valid(principal.tenant, principal.key)
    except Unauthenticated:
        return
    if principal != wanted:
        other = gate.services.api_keys.still_valid(wanted.tenant, wanted.key)
        raise Conflict(
            f"This browser is signed in with {_described(current)}, and the link is for {_described(other)}. Sign out first, or "
            "send `replace` as true."
        )


def _described(key: ApiKey) -> str:
    return f"the key {key.name!r} ({format_key_id(key.id)}) of {format_tenant_id(key.tenant)}"
