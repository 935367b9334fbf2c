"""Errors of `/mcp` that come before the protocol: as JSON-RPC errors, which MCP's clients show, with their HTTP status."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from cloister.interfaces.http.problems import MEDIA_TYPE

PATH = "/mcp"
METADATA = f"/.well-known/oauth-protected-resource{PATH}"
# The code that JSON-RPC has for a message that is no valid request.
INVALID_REQUEST = -32_600
# Outside the codes that JSON-RPC and MCP have given a meaning.
_CODE = -31_000
_KEPT = ("www-authenticate", "retry-after", "allow")


def json_rpc_error(
    status: int,
    code: str,
    message: str,
    *,
    errors: Any = None,
    headers: dict[str, str] | None = None,
    number: int = _CODE,
) -> Response:
    """An error without a request id, since none was read. `code` and `errors` are those of the API, `number` is JSON-RPC's."""
    data = {"code": code, "status": status, **({"errors": errors} if errors else {})}
    error = {"code": number, "message": message, "data": data}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    return Response(json.dumps(body), status, headers, "application/json")


def in_json_rpc_shape(response: Response) -> Response:
    """A problem as a JSON-RPC error, with its status and headers; any other response unchanged."""
    if response.media_type != MEDIA_TYPE:
        return response
    problem = json.loads(bytes(response.body))
    headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
    return json_rpc_error(
        response.status_code, problem["code"], problem["detail"], errors=problem.get("errors"), headers=headers
    )


def challenge(request: Request) -> str:
    """The challenge of a 401: with the address of the OAuth metadata, if there is an issuer."""
    if request.app.state.mcp_issuer is None:
        return "Bearer"
    return f'Bearer resource_metadata="{address_of(request, METADATA)}"'


def address_of(request: Request, path: str) -> str:
    """The address of a path under the name that the caller used, which is one of this server's."""
    return f"{request.url.scheme}://{request.headers['host']}{path}"
