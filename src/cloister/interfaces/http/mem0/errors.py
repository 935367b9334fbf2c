"""Errors for mem0's clients under `/mem0`: JSON with a `detail`, which is the text that the clients show."""

import json
from collections.abc import Iterable

from starlette.responses import Response

from cloister.domain.errors import CloisterError
from cloister.interfaces.http.problems import MEDIA_TYPE

PREFIX = "/mem0"
SUPPORTED = (
    "add, search, get_all, get, update, history, delete, delete_all, users, delete_users, batch_update and batch_delete"
)
_NOT_SUPPORTED = 501
_CODE = "not_supported"
_KEPT = ("www-authenticate", "retry-after", "allow")


class NotSupported(CloisterError):
    """mem0 has it, and Cloister does not. Nothing was changed."""

    code = _CODE

    def __init__(self, what: str, supported: Iterable[str] | str) -> None:
        known = supported if isinstance(supported, str) else ", ".join(supported)
        super().__init__(f"{what} is not supported here. Supported: {known}.")


def is_mem0(path: str) -> bool:
    """Whether a path is one that only clients of mem0 ask for."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def unknown_route(response: Response) -> Response:
    """The answer to an error that the framework raises; to an unknown route, with what is supported."""
    if response.status_code == 404:
        return not_supported(NotSupported("This route of mem0's interface", SUPPORTED))
    return in_mem0_shape(response)


def not_supported(error: NotSupported) -> Response:
    return _json({"detail": str(error), "code": _CODE}, _NOT_SUPPORTED)


def in_mem0_shape(response: Response) -> Response:
    """A problem as mem0's clients read it, with its status and headers; any other response unchanged. They show the `detail` of a
    body that is declared as application/json, and nothing of any other."""
    if response.media_type != MEDIA_TYPE:
        return response
    problem = json.loads(bytes(response.body))
    body = {name: problem[name] for name in ("detail", "code", "errors") if name in problem}
    shaped = _json(body, response.status_code)
    for name in _KEPT:
        if name in response.headers:
            shaped.headers[name] = response.headers[name]
    return shaped


def _json(body: object, status: int) -> Response:
    return Response(json.dumps(body), status, media_type="application/json")
