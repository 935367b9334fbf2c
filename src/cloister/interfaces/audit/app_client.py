"""Asks a running ASGI app in this process, as any HTTP client would, from a thread that is not its event loop's: through its
middleware, its checks of keys and its routes, without a network."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import unquote

AsgiMessage = MutableMapping[str, Any]
AsgiApp = Callable[
    [Any, Callable[[], Awaitable[AsgiMessage]], Callable[[AsgiMessage], Awaitable[None]]], Awaitable[None]
]


class RunOnLoop(Protocol):
    """Runs a coroutine function on the event loop of the app, and waits for its result."""

    def __call__(self, call: Callable[[], Awaitable[Any]], /) -> Any: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class AppAnswer:
    """The status and the body of an answer."""

    status: int
    text: str


@dataclass(kw_only=True, slots=True)
class OpenStream:
    """An answer that goes on until it is closed."""

    stop: asyncio.Event
    task: "asyncio.Task[None]"
    sent: list[bytes] = field(default_factory=list[bytes])
    statuses: list[int] = field(default_factory=list[int])


class AppClient:
    """One app; `host` is a name that it answers under."""

    def __init__(self, app: AsgiApp, run: RunOnLoop, *, host: str = "localhost") -> None:
        self._app = app
        self._run = run
        self._host = host

    def ask(
        self, method: str, path: str, key: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> AppAnswer:
        content = b"" if body is None else json.dumps(body).encode()
        scope = self._scope(method, path, key, content, headers or {})
        statuses: list[int] = []
        sent: list[bytes] = []

        async def call() -> None:
            waiting = asyncio.Event()
            messages: list[AsgiMessage] = [{"type": "http.request", "body": content, "more_body": False}]

            async def receive() -> AsgiMessage:
                if messages:
                    return messages.pop()
                await waiting.wait()
                return {"type": "http.disconnect"}

            await self._app(scope, receive, _collector(statuses, sent))

        self._run(call)
        return AppAnswer(status=statuses[0], text=_text(sent))

    def open_stream(self, path: str, key: str) -> OpenStream:
        """Begin to follow an answer that does not end, and return when its first part is there."""
        scope = self._scope("GET", path, key, b"", {})

        async def begin() -> OpenStream:
            stop = asyncio.Event()

            async def receive() -> AsgiMessage:
                await stop.wait()
                return {"type": "http.disconnect"}

            statuses: list[int] = []
            sent: list[bytes] = []
            task = asyncio.create_task(_run_app(self._app, scope, receive, _collector(statuses, sent)))
            stream = OpenStream(stop=stop, task=task, sent=sent, statuses=statuses)
            while not (sent or task.done()):
                await asyncio.sleep(0.005)
            return stream

        return self._run(begin)

    def close_stream(self, stream: OpenStream) -> AppAnswer:
        """Disconnect, and return what was sent."""

        async def end() -> None:
            stream.stop.set()
            await asyncio.wait([stream.task], timeout=5)

        self._run(end)
        return AppAnswer(status=stream.statuses[0] if stream.statuses else 0, text=_text(stream.sent))

    def _scope(self, method: str, path: str, key: str, content: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        bare, _, query = path.partition("?")
        given = {
            "host": self._host,
            "authorization": f"Bearer {key}",
            "accept": "application/json, text/event-stream",
            "content-length": str(len(content)),
            **({"content-type": "application/json"} if content else {}),
            **headers,
        }
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(bare),
            "raw_path": bare.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 0),
            "server": (self._host, 80),
            "state": {},
        }


def _collector(statuses: list[int], sent: list[bytes]) -> Callable[[AsgiMessage], Awaitable[None]]:
    async def send(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
        elif message["type"] == "http.response.body":
            sent.append(message.get("body", b""))

    return send


async def _run_app(
    app: AsgiApp,
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[AsgiMessage]],
    send: Callable[[AsgiMessage], Awaitable[None]],
) -> None:
    await app(scope, receive, send)


def _text(sent: list[bytes]) -> str:
    return b"".join(sent).decode("utf-8", "replace")
