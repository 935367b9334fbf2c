"""`POST /mcp`: MCP over stateless Streamable HTTP. Any process answers any request; nothing is remembered between two of them."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from cloister.domain.errors import Forbidden, Unauthenticated
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, Checked, needs, utf8_header
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.hosts import AllowedHosts
from cloister.interfaces.http.mcp.errors import PATH, challenge, in_json_rpc_shape, json_rpc_error
from cloister.interfaces.mcp.connection import McpConnection, open_connection
from cloister.interfaces.mcp.extra import HOW_TO_INSTALL, is_installed

_UNAUTHENTICATED = 401
_SESSION = "X-Session-ID"


class McpRoute(GuardedRoute):
    """Admits API keys only, since a browser would send its cookie with the requests of any page, and refuses pages of other
    origins, as the specification of MCP requires."""

    def shaped(self, response: Response) -> Response:
        return in_json_rpc_shape(response)

    async def _respond(self, request: Request) -> Response:
        response = await super()._respond(request)
        if response.status_code == _UNAUTHENTICATED:
            response.headers["www-authenticate"] = challenge(request)
        return response

    def _admit(self, request: Request, checked: Checked | None) -> None:
        _refuse_other_origins(request)
        if "authorization" not in request.headers:
            raise Unauthenticated
        super()._admit(request, checked)


router = APIRouter(route_class=McpRoute, tags=["MCP"])


@router.post(PATH, include_in_schema=False)
@needs("read")
def serve_mcp(caller: Caller, request: Request) -> Response:
    """Answer one MCP message. The key and the headers X-Project-ID, X-User-ID and X-Session-ID set the scope; tools have no
    argument for it. Tools that write are there for keys with the permission `write`."""
    if not is_installed():
        return json_rpc_error(501, "not_installed", HOW_TO_INSTALL)
    # Imported here, because the SDK takes longer to load than the rest of the server.
    from cloister.interfaces.http.mcp.transport import McpResponse, transport_of

    return McpResponse(transport_of(request.app), _connection(caller, request))


def _connection(caller: CallerInfo, request: Request) -> McpConnection:
    return open_connection(
        caller.services,
        caller.reach,
        project=caller.project(required=False),
        user=None,  # the reach has the user of the header
        session=utf8_header(request, _SESSION),
        may_write=not {"write", "admin"}.isdisjoint(caller.key.permissions),
    )


def _refuse_other_origins(request: Request) -> None:
    """Only a browser sends an origin: its host has to be one that this server answers under."""
    hosts: AllowedHosts = request.app.state.hosts
    for origin in request.headers.getlist("origin"):
        if not hosts.allows(origin.partition("://")[2].encode("latin-1")):
            raise Forbidden(
                "A page of this origin may not use this server. Set CLOISTER_ALLOWED_HOSTS, where the server runs, to allow it."
            )
