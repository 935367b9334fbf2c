"""Routes for mem0's clients: how they send their key, and how they are answered."""

import json
from typing import Any

from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.errors import Forbidden, Unauthenticated
from cloister.interfaces.http.dispatch.callers import Checked
from cloister.interfaces.http.dispatch.routes import Appending, GuardedRoute
from cloister.interfaces.http.mem0.errors import NotSupported, in_mem0_shape, not_supported

_AUTHORIZATION = b"authorization"
_TOKEN = b"token "


class Mem0Route(GuardedRoute):
    """Admits API keys only, as `Authorization: Token`, which is how mem0's clients send them, or as `Bearer`. Runs on
    threads, and not with the short reads, which run one after another: a filter may read all memories of a user."""

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["headers"] = [
            (name, _as_bearer(value) if name == _AUTHORIZATION else value) for name, value in scope["headers"]
        ]
        await super()._serve(scope, receive, send)

    async def _run(self, request: Request, body: bytes) -> Response:
        return await self.queued(request, lambda: self._answer(request, body))

    def begin(self, request: Request, body: bytes, checked: Checked | None = None) -> Response | Appending:
        begun = super().begin(request, body, checked)
        error = getattr(request.state, "error", None)
        return not_supported(error) if isinstance(error, NotSupported) else begun

    def shaped(self, response: Response) -> Response:
        return in_mem0_shape(response)

    def _admit(self, request: Request, checked: Checked | None) -> None:
        if "authorization" not in request.headers:
            raise Unauthenticated
        super()._admit(request, checked)


class PingRoute(Mem0Route):
    """Admits every valid key: a client asks this before anything else, also one that may only write."""

    def _admit(self, request: Request, checked: Checked | None) -> None:
        if "authorization" not in request.headers:
            raise Unauthenticated
        try:
            self.admit_with(request, "read", checked)
        except Forbidden:
            self.admit_with(request, "write", checked)


def as_json(body: Any) -> Response:
    return Response(json.dumps(body, ensure_ascii=False), media_type="application/json")


def _as_bearer(value: bytes) -> bytes:
    return b"Bearer " + value[len(_TOKEN) :] if value[: len(_TOKEN)].lower() == _TOKEN else value
