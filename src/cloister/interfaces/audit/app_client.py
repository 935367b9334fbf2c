"""Asks a running ASGI app in this process, as any HTTP client would, from a thread that is not its event loop's: through its
middleware, its checks of keys and its routes, without a network."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import unquote

_REFUSED: Final = 400
_FAILED: Final = 500
_SET_COOKIE: Final = b"set-cookie"
AsgiMessage = MutableMapping[str, Any]
AsgiApp = Callable[
    [Any, Callable[[], Awaitable[AsgiMessage]], Callable[[AsgiMessage], Awaitable[None]]], Awaitable[None]
]


class RunOnLoop(Protocol):
    """Runs a coroutine function on the event loop of the app, and waits for its result."""

    def __call__(self, call: Callable[[], Awaitable[Any]], /) -> Any: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class AppAnswer:
    """The status and the body of an answer, and the cookie that it sets, if any, as a browser sends it back."""

    status: int
    text: str
    cookie: str | None = None


@dataclass(kw_only=True, slots=True)
class OpenStream:
    """An answer that goes on until it is closed."""

    stop: asyncio.Event
    task: "asyncio.Task[None]"
    sent: list[bytes] = field(default_factory=list[bytes])
    starts: list[AsgiMessage] = field(default_factory=list[AsgiMessage])


class AppClient:
    """One app; `host` is a name that it answers under."""

    def __init__(self, app: AsgiApp, run: RunOnLoop, *, host: str = "localhost") -> None:
        self._app = app
        self._run = run
        self._host = host

    def sign_in(self, headers: Mapping[str, str]) -> dict[str, str] | str:
        """Sign a browser in to the console with the key in these headers: the headers that it sends from then on, or why it could
        not."""
        link = self.ask("POST", "/console/links", headers)
        if link.status >= _REFUSED:
            return link.text
        code = json.loads(link.text)["path"].partition("#")[2]
        origin = {"origin": f"http://{self._host}"}
        signed_in = self.ask("POST", "/console/sign-in", origin, {"code": code})
        return signed_in.text if signed_in.cookie is None else {**origin, "cookie": signed_in.cookie}

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: object = None) -> AppAnswer:
        content = b"" if body is None else json.dumps(body).encode()
        scope = self._scope(method, path, content, headers)
        starts: list[AsgiMessage] = []
        sent: list[bytes] = []

        async def call() -> None:
            waiting = asyncio.Event()
            messages: list[AsgiMessage] = [{"type": "http.request", "body": content, "more_body": False}]

            async def receive() -> AsgiMessage:
                if messages:
                    return messages.pop()
                await waiting.wait()
                return {"type": "http.disconnect"}

            await self._app(scope, receive, _collector(starts, sent))

        self._run(call)
        return _answer(starts, sent)

    def open_stream(self, path: str, headers: Mapping[str, str]) -> OpenStream:
        """Begin to follow an answer that does not end, and return when its first part is there."""
        scope = self._scope("GET", path, b"", headers)

        async def begin() -> OpenStream:
            stop = asyncio.Event()

            async def receive() -> AsgiMessage:
                await stop.wait()
                return {"type": "http.disconnect"}

            starts: list[AsgiMessage] = []
            sent: list[bytes] = []
            task = asyncio.create_task(_run_app(self._app, scope, receive, _collector(starts, sent)))
            stream = OpenStream(stop=stop, task=task, sent=sent, starts=starts)
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
        return _answer(stream.starts, stream.sent)

    def _scope(self, method: str, path: str, content: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        bare, _, query = path.partition("?")
        given = {
            "host": self._host,
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


def _collector(starts: list[AsgiMessage], sent: list[bytes]) -> Callable[[AsgiMessage], Awaitable[None]]:
    async def send(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            starts.append(message)
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


def _answer(starts: list[AsgiMessage], sent: list[bytes]) -> AppAnswer:
    """An app that ended without an answer counts as one that failed."""
    text = b"".join(sent).decode("utf-8", "replace")
    if not starts:
        return AppAnswer(status=_FAILED, text=text)
    headers: Iterable[tuple[bytes, bytes]] = starts[0].get("headers", ())
    cookie = next((value.decode("latin-1").partition(";")[0] for name, value in headers if name == _SET_COOKIE), None)
    return AppAnswer(status=starts[0]["status"], text=text, cookie=cookie)
