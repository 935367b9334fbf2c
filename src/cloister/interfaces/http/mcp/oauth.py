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
from cloister.interfaces.http.mcp.errors import METADATA, PATH, address_of

router = APIRouter(route_class=GuardedRoute, tags=["MCP"])


@router.get(METADATA, include_in_schema=False)
@needs("nothing")
def protected_resource(request: Request) -> Response:
    """Where the access tokens of `/mcp` come from."""
    metadata = {
        "resource": address_of(request, PATH),
        "resource_name": "Cloister",
        "authorization_servers": [request.app.state.mcp_issuer],
        "bearer_methods_supported": ["header"],
    }
    return Response(json.dumps(metadata), media_type="application/json")
