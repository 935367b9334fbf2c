"""The HTTP connection to a server: one connection pool for all threads, and every failure as an error that says what to do."""

import json
import random
import secrets
import ssl
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count

import httpx2

from cloister.bootstrap import open_trace_headers
from cloister.domain.errors import Closed, InvalidRequest, Overloaded, RateLimited, ServerError, Unauthenticated
from cloister.interfaces.python.answers import Answer
from cloister.interfaces.python.errors import Problem, error_of
from cloister.settings import Remote

_SECONDS_TO_CONNECT = 10
_SECONDS_TO_ANSWER = 60
# Until the last lines of an import are stored.
_SECONDS_TO_IMPORT = 600
_UPLOAD_CHUNK = 65_536
# Servers close an idle connection after five seconds: a request that is sent at that moment would be lost.
_SECONDS_IDLE = 4
# A request is repeated at most so often, and waits in all at most so long.
_MOST_REPEATS = 3
_SECONDS_TO_REPEAT = 20
_BROKEN = (httpx2.NetworkError, httpx2.RemoteProtocolError)


class Connection:
    """Sends requests and reads answers as JSON. Safe to use from any thread."""

    def __init__(self, remote: Remote) -> None:
        self._address = remote.address
        self._trace_headers = open_trace_headers(on=remote.tracing)
        self._closed = False
        self._closing = threading.Event()
        self._under_way = 0
        self._change = threading.Condition()
        # Certificates are loaded only for TLS, because loading them takes longer than most requests.
        self._client = httpx2.Client(
            base_url=remote.address,
            headers={"Authorization": f"Bearer {remote.key}", "Accept": "application/json"},
            verify=remote.address.startswith("https") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            limits=httpx2.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=_SECONDS_IDLE),
        )

    def close(self) -> None:
        """Refuse new requests, wait for those under way, of which none is repeated, and close the connections."""
        self._closing.set()
        with self._change:
            self._closed = True
            self._change.wait_for(lambda: not self._under_way)
        self._client.close()

    def get(self, path: str, **query: str | int | None) -> Answer:
        """Read with GET. When the connection breaks, or the server is not available for a moment, the request is sent again."""
        given = {name: value for name, value in query.items() if value is not None}
        return self._ask("GET", path, query=given, reading=True)

    def ask(self, path: str, body: Mapping[str, object]) -> Answer:
        """Read with POST, where the query is a body. The request is sent again as with `get`."""
        return self._ask("POST", path, body=body, reading=True)

    def create(self, path: str, body: Mapping[str, object], idempotency_key: str | None = None) -> Answer:
        """Write with an idempotency key, a random one where none is given. When the connection breaks, the server is not available
        for a moment, or does not know whether it was stored, the request is sent again, and the server does not do it twice."""
        key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
        return self._ask("POST", path, body=body, headers={"Idempotency-Key": key})

    def change(
        self, method: str, path: str, body: Mapping[str, object] | None = None, *, seconds: float | None = None
    ) -> Answer:
        """Write without an idempotency key: a broken connection does not say whether it was done, so the request is sent again only
        if it was refused before it was begun."""
        return self._ask(method, path, body=body, seconds=seconds)

    def download(self, path: str, **query: str) -> Iterator[bytes]:
        """Read a stream with GET, in chunks. If the connection breaks in between, that is a `ServerError`."""
        timeout = self._patience(_SECONDS_TO_ANSWER)
        request = self._client.build_request("GET", path, params=query, headers=self._trace_headers(), timeout=timeout)
        try:
            with self._open():
                response = self._send(request, again=True, stream=True)
                try:
                    if not response.is_success:
                        response.read()
                        self._read(response)
                    yield from response.iter_bytes()
                finally:
                    response.close()
        except httpx2.RequestError as error:
            raise self._failure(error, reading=True, seconds=_SECONDS_TO_ANSWER) from error

    def upload(self, path: str, lines: Iterable[bytes]) -> Answer:
        """Write a stream with POST, while it is made; sent once, because the lines cannot be read again."""
        request = self._client.build_request(
            "POST",
            path,
            content=_chunks(lines),
            headers={**self._trace_headers(), "Content-Type": "application/x-ndjson"},
            timeout=self._patience(_SECONDS_TO_IMPORT),
        )
        try:
            with self._open():
                response = self._client.send(request)
        except httpx2.RequestError as error:
            raise self._failure(error, reading=False, seconds=_SECONDS_TO_IMPORT) from error
        return self._read(response)

    @staticmethod
    def _patience(seconds: float) -> httpx2.Timeout:
        return httpx2.Timeout(seconds, connect=_SECONDS_TO_CONNECT)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        reading: bool = False,
        seconds: float | None = None,
    ) -> Answer:
        content = None if body is None else _encoded(body)
        sent = {
            **self._trace_headers(),
            **(headers or {}),
            **({} if content is None else {"Content-Type": "application/json"}),
        }
        repeatable = reading or "Idempotency-Key" in sent
        seconds = seconds or _SECONDS_TO_ANSWER
        request = self._client.build_request(
            method, path, params=query, content=content, headers=sent, timeout=self._patience(seconds)
        )
        try:
            with self._open():
                response = self._send(request, again=repeatable)
        except httpx2.RequestError as error:
            raise self._failure(error, reading=reading, seconds=seconds) from error
        return self._read(response)

    @contextmanager
    def _open(self) -> Generator[None]:
        with self._change:
            if self._closed:
                raise Closed
            self._under_way += 1
        try:
            yield
        finally:
            with self._change:
                self._under_way -= 1
                self._change.notify_all()

    def _send(self, request: httpx2.Request, *, again: bool, stream: bool = False) -> httpx2.Response:
        """Send a request, and repeat it after the seconds that an answer names, if it was refused before it was begun; with `again`
        also after another answer that names seconds, and once if the connection breaks."""
        broke, left = False, float(_SECONDS_TO_REPEAT)
        for repeats in count():
            try:
                response = self._client.send(request, stream=stream)
            except _BROKEN:
                if broke or not again:
                    raise
                broke = True
                continue
            seconds = _seconds_to_wait(response, again=again) * 2**repeats * random.uniform(1, 1.25)
            if not seconds or repeats == _MOST_REPEATS or seconds > left or self._pause(seconds):
                return response
            left -= seconds
        raise AssertionError

    def _pause(self, seconds: float) -> bool:
        """Wait; true if this connection is closed meanwhile."""
        return self._closing.wait(seconds)

    def _read(self, response: httpx2.Response) -> Answer:
        try:
            answer = Answer(None if response.status_code == 204 else json.loads(response.content))
        except ValueError:
            raise self._not_a_cloister(response) from None
        if response.is_success:
            return answer
        try:
            problem = answer.one(Problem)
        except ServerError:
            raise self._not_a_cloister(response) from None
        error = error_of(problem, retry_after=response.headers.get("Retry-After", ""))
        if isinstance(error, Unauthenticated):
            error.add_note(
                f"The key that was given for {self._address} is not valid there: look at --key or CLOISTER_KEY."
            )
        raise error or self._server_failure(response, problem)

    def _failure(self, error: httpx2.RequestError, *, reading: bool, seconds: float) -> ServerError:
        """The error of a request without an answer. Without a connection nothing was done; otherwise a write may have been done."""
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return ServerError(
                f"No Cloister answers at {self._address}: is it running there (cloister serve), and is the address right?"
            )
        done = " Try again." if reading else " Whether the change was made is not known: look before you repeat it."
        if isinstance(error, httpx2.TimeoutException):
            return ServerError(f"The Cloister at {self._address} did not answer in {seconds:g} s.{done}")
        return ServerError(f"The connection to {self._address} broke.{done}")

    def _not_a_cloister(self, response: httpx2.Response) -> ServerError:
        return ServerError(
            f"{self._address} answered {response.status_code}, and not as a Cloister does: check the address, and any proxy."
        )

    def _server_failure(self, response: httpx2.Response, problem: Problem) -> ServerError:
        """The error of an answer that is not the caller's fault: the server failed, or is of another version than this library."""
        noted = response.headers.get("X-Request-ID")
        return ServerError(
            f"The Cloister at {self._address} answered {response.status_code}: {problem.detail}"
            + (f" X-Request-ID: {noted}." if noted and response.is_server_error else "")
        )


def _seconds_to_wait(response: httpx2.Response, *, again: bool) -> int:
    """The seconds after which the request may be repeated; 0 if it may not. What was refused before it was begun may always be."""
    given = response.headers.get("Retry-After", "")
    if response.status_code not in (429, 503) or not given.isdecimal():
        return 0
    is_refused = any(f'"{kind.code}"'.encode() in response.read() for kind in (Overloaded, RateLimited))
    return int(given) if is_refused or (again and response.status_code == 503) else 0


def _chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines in larger pieces, so that not each is sent alone."""
    waiting, size = list[bytes](), 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= _UPLOAD_CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _encoded(body: Mapping[str, object]) -> bytes:
    """A body as JSON; an error names the field that cannot be encoded."""
    parts: list[str] = []
    for field, value in body.items():
        try:
            part = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            part.encode()
        except UnicodeEncodeError:
            raise InvalidRequest(field, "holds a lone surrogate, which is not valid Unicode.") from None
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidRequest(field, f"cannot be written as JSON: {error}.") from None
        parts.append(f'"{field}":{part}')
    return f"{{{','.join(parts)}}}".encode()
