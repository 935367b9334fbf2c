"""OAuth protected-resource metadata of `/mcp` (RFC 9728), for servers with an authorization server of their own.

Its routes exist only if an issuer is configured: some clients ignore a configured key as soon as a server offers OAuth. Cloister
verifies no tokens of others. The access tokens that the issuer gives out have to be API keys of this server, which are opaque to
clients, valid nowhere else, and checked at each request.
"""

import json

from fastapi import APIRouter, Request
from starlette.responses import Response

from cloister.interfaces.http.dispatch.callers import needs
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.mcp.errors import PATH

METADATA = f"/.well-known/oauth-protected-resource{PATH}"
router = APIRouter(route_class=GuardedRoute, tags=["MCP"])


@router.get(METADATA, include_in_schema=False)
@needs("nothing")
def protected_resource(request: Request) -> Response:
    """Where the access tokens of `/mcp` come from."""
    metadata = {
        "resource": _address(request, PATH),
        "resource_name": "Cloister",
        "authorization_servers": [request.app.state.mcp_issuer],
        "bearer_methods_supported": ["header"],
    }
    return Response(json.dumps(metadata), media_type="application/json")


def challenge(request: Request) -> str:
    """The challenge of a 401: with the address of the metadata, if there is an issuer."""
    if request.app.state.mcp_issuer is None:
        return "Bearer"
    return f'Bearer resource_metadata="{_address(request, METADATA)}"'


def _address(request: Request, path: str) -> str:
    """An address under the name that the caller used, which is one of this server's."""
    return f"{request.url.scheme}://{request.headers['host']}{path}"
