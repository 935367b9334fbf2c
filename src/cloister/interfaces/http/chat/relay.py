"""Relays requests about a running turn to the process that answers it, when another process of the same database does (OPS-4).

The request goes with its own credential, and that process makes all checks, at the beginning and while it streams. Before it is
sent, the other process proves that it is the one that wrote its row: somebody else may have got its address since.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from cloister.interfaces.http.problems import problem
from cloister.services.processes import PROOF, Presence, Process, Processes

if TYPE_CHECKING:
    import httpx2

RELAYED, NO_TURN = "x-cloister-relayed", "x-cloister-no-turn"
_SECONDS_TO_CONNECT = 2.0
_SECONDS_TO_ANSWER = 40.0
_LONGEST_CHALLENGE = 100
_PASSED_ON = frozenset(
    {b"authorization", b"cookie", b"host", b"origin", b"sec-fetch-site", b"x-project-id", b"x-user-id"}
)
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date"})
_UNREACHABLE = (
    "A turn runs in this session, in another process that cannot be reached now: try again. The processes of one database must "
    "reach each other: see CLOISTER_PEER_HOST."
)


class PeerRelay:
    """This process among those of the database. Used on the event loop."""

    def __init__(self, processes: Processes, own: Process) -> None:
        self._processes = processes
        self.own = own

    def proof(self, challenge: str | None) -> dict[str, str]:
        """The header that answers a challenge."""
        if challenge is None or len(challenge) > _LONGEST_CHALLENGE:
            return {}
        return {PROOF: self.own.proof(challenge)}

    async def others(self) -> tuple[list[Process], bool]:
        """The other processes that are there, asked all at once, and whether of some that is not known. Rows of those that are gone
        are removed."""
        known = await anyio.to_thread.run_sync(self._processes.others, self.own)
        found = await asyncio.gather(*(anyio.to_thread.run_sync(peer.presence) for peer in known))
        for peer, presence in zip(known, found, strict=True):
            if presence in (Presence.GONE, Presence.UNREACHABLE):
                await anyio.to_thread.run_sync(self._processes.remove_gone, peer)
        here = [peer for peer, presence in zip(known, found, strict=True) if presence is Presence.HERE]
        return here, Presence.SILENT in found


class RelayedTurn(Response):
    """The answer of the process that has the turn, passed on as it comes; `otherwise` if none has it."""

    def __init__(self, relay: PeerRelay, otherwise: Response) -> None:
        super().__init__()
        self._relay = relay
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        import httpx2  # not at the start: few servers have several processes

        timeout = httpx2.Timeout(_SECONDS_TO_ANSWER, connect=_SECONDS_TO_CONNECT)
        async with httpx2.AsyncClient(timeout=timeout, trust_env=False) as client:
            peers, unreachable = await self._relay.others()
            for peer in peers:
                try:
                    found = await client.send(_request(scope, peer), stream=True)
                except httpx2.RequestError:
                    unreachable = True
                    continue
                if found.status_code != 204 and NO_TURN not in found.headers:
                    await _passed_on(found)(scope, receive, send)
                    return
                await found.aclose()
        answer = problem("storage_unavailable", _UNREACHABLE) if unreachable else self._otherwise
        await answer(scope, receive, send)


def _request(scope: Scope, peer: Process) -> "httpx2.Request":
    import httpx2

    path = bytes(scope.get("raw_path") or scope["path"].encode()).decode("ascii")
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    passed_on = [(name, value) for name, value in headers if name in _PASSED_ON]
    return httpx2.Request(scope["method"], peer.address + path, headers=[*passed_on, (RELAYED.encode(), b"1")])


def _passed_on(found: "httpx2.Response") -> Response:
    """The answer, as it comes. If the other process dies, it ends without its last chunk, so that the client knows."""

    async def pieces() -> AsyncGenerator[bytes]:
        try:
            async for piece in found.aiter_raw():
                yield piece
        finally:
            await found.aclose()

    headers = {name: value for name, value in found.headers.items() if name.lower() not in _HOP_BY_HOP}
    return StreamingResponse(pieces(), found.status_code, headers)
