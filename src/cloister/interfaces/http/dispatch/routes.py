"""Routes: how a request becomes one call of its handler, on one thread, and the answer of that call its response.

FastAPI reads the handlers' signatures for the OpenAPI document. Its own way of calling them is not used: it would read the body
before the caller is known, change threads twice, and cost more than most of what we do.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.params import Header
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.bootstrap import Services
from cloister.domain.access import Permission
from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import format_key_id
from cloister.interfaces.http.arrival import has_arrived
from cloister.interfaces.http.dispatch.callers import CallerInfo, Checked, Gate, need_of
from cloister.interfaces.http.dispatch.executors import BatchExecutor, SerialExecutor
from cloister.interfaces.http.dispatch.paths import as_given
from cloister.interfaces.http.dispatch.query_parameters import check_query
from cloister.interfaces.http.problems import of_error, of_validation_error, problem
from cloister.interfaces.http.resources.bodies import Body, Nothing
from cloister.services.conversations.record import RecordRequest, RecordResult

T = TypeVar("T")
THREADS = 64
"""On which handlers run."""
_Read = Callable[[Request, bytes], Any]
LARGEST_UNASKED_BODY = 8_192
"""What is read of a body before its caller is known: so much comes in one piece with the headers."""
# Larger bodies are written apart from the others, which would wait while they are read and embedded.
_LARGEST_GATHERED_BODY = 8_192


@dataclass(frozen=True, kw_only=True, slots=True)
class Appending:
    """The answer of a handler whose write may be done together with others: what to append, and how to answer when it is."""

    append: RecordRequest
    answer: Callable[[RecordResult], Response]


class Executors:
    """How the requests of an embedded database run; see `lanes.py`."""

    def __init__(self, services: Services) -> None:
        self.reads = SerialExecutor("cloister-read")
        self.appends = BatchExecutor[_Arrived, Response](
            "cloister-append", lambda arrived: _answer_together(services, arrived)
        )

    def close(self) -> None:
        self.reads.close()
        self.appends.close()


class GuardedRoute(APIRoute):
    """Admits the caller before anything else is looked at. A handler that does not say what it needs cannot be a route."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **named: Any) -> None:
        super().__init__(path, endpoint, **named)
        self._need = need_of(endpoint)
        self._arguments = {name: _reader(name, hint, default, path) for name, hint, default in _parameters(endpoint)}
        self.query_names = frozenset(name for name, hint, _ in _parameters(endpoint) if _is_query(name, hint, path))
        self._reads_body = any(_is_body(hint) for _, hint, _ in _parameters(endpoint))
        self._appends = Appending in get_args(get_type_hints(endpoint)["return"])
        self.app = self._serve

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._respond(request)
            await response(scope, receive, send)
        finally:
            if (under_way := scope.get("state", {}).get("under_way")) is not None:
                under_way.end()

    async def _respond(self, request: Request) -> Response:
        """A large body that did not come along with its headers is read only after its caller was admitted."""
        if inspect.iscoroutinefunction(self.endpoint):
            return self._refused_query(request) or cast(Response, await self.endpoint())
        if not self._reads_body:
            return await self._run(request, b"")
        if self._need == "nothing":
            small = await _small_body(request)
            too_large = problem("too_large", f"The body is larger than {LARGEST_UNASKED_BODY:,} bytes.")
            return self.shaped(too_large) if small is None else await self._run(request, small)
        is_here = _is_small(request) or has_arrived(request.scope)
        if not is_here and (refused := await self._admit_early(request)) is not None:
            return refused
        return await self._run(request, await request.body())

    async def _admit_early(self, request: Request) -> Response | None:
        executors = cast(Executors | None, request.app.state.executors)
        if executors is None:
            return await run_in_threadpool(self._admission, request)
        return await executors.reads.run(lambda: self._admission(request))

    def _admission(self, request: Request) -> Response | None:
        try:
            self._admit(request, None)
        except CloisterError as error:
            request.state.error = error
            return self.shaped(of_error(error))
        request.state.admitted = True
        return None

    async def _run(self, request: Request, body: bytes) -> Response:
        executors = cast(Executors | None, request.app.state.executors)
        if executors is not None and self._need == "read":
            return await executors.reads.run(lambda: self._answer(request, body))
        small = len(body) <= _LARGEST_GATHERED_BODY and "idempotency-key" not in request.headers
        if executors is not None and self._appends and small:
            return await executors.appends.run((self, request, body))
        return await run_in_threadpool(self._answer, request, body)

    def _answer(self, request: Request, body: bytes) -> Response:
        begun = self.begin(request, body)
        if isinstance(begun, Response):
            return begun
        services = cast(Gate, request.app.state.gate).services
        return finish(request, begun, services.record.all([begun.append])[0])

    def begin(self, request: Request, body: bytes, checked: Checked | None = None) -> Response | Appending:
        try:
            if "admitted" not in request.scope.get("state", ()):
                self._admit(request, checked)
            if request.scope["query_string"]:
                check_query(request, self.query_names)
            begun = self.endpoint(**{name: read(request, body) for name, read in self._arguments.items()})
            return self.shaped(begun) if isinstance(begun, Response) else begun
        except CloisterError as error:
            request.state.error = error
            return self.shaped(of_error(error))
        except RequestValidationError as error:
            return self.shaped(of_validation_error(error))

    def shaped(self, response: Response) -> Response:
        """An answer of this route as its clients read it."""
        return response

    def _refused_query(self, request: Request) -> Response | None:
        if not request.scope["query_string"]:
            return None
        try:
            check_query(request, self.query_names)
        except RequestValidationError as error:
            return self.shaped(of_validation_error(error))
        return None

    def _admit(self, request: Request, checked: Checked | None) -> None:
        gate = cast(Gate, request.app.state.gate)
        if self._need == "operator":
            gate.admit_operator(request)
        elif self._need != "nothing":
            caller = gate.admit(request, cast(Permission, self._need), checked)
            request.state.caller, request.state.key_id = caller, format_key_id(caller.key.id)
            request.state.under_way = gate.under_way.begin(caller.key.id)


_Arrived = tuple[GuardedRoute, Request, bytes]


def finish(request: Request, appending: Appending, recorded: RecordResult | BaseException) -> Response:
    try:
        if isinstance(recorded, BaseException):
            raise recorded
        return appending.answer(recorded)
    except CloisterError as error:
        request.state.error = error
        return of_error(error)


def _answer_together(services: Services, arrived: Sequence[_Arrived]) -> list[Response | BaseException]:
    """Each as if alone, but for the one write of all, and that a key which several have shown is checked once: all of them had
    arrived by then."""
    checked: Checked = {}
    begun = [_outcome(route.begin, request, body, checked) for route, request, body in arrived]
    appends = [entry.append for entry in begun if isinstance(entry, Appending)]
    recorded = iter(services.record.all(appends) if appends else ())
    return [
        _outcome(finish, request, entry, next(recorded)) if isinstance(entry, Appending) else entry
        for (_, request, _), entry in zip(arrived, begun, strict=True)
    ]


def _outcome(call: Callable[..., T], *arguments: Any) -> T | BaseException:
    try:
        return call(*arguments)
    except BaseException as error:  # noqa: BLE001 - it is raised again for the one request it belongs to
        return error


def _parameters(endpoint: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    hints = get_type_hints(endpoint, include_extras=True)
    return [(name, hints[name], given.default) for name, given in inspect.signature(endpoint).parameters.items()]


def _is_small(request: Request) -> bool:
    """Whether the body is announced, and small enough to be kept for a caller who is not known yet."""
    length = request.headers.get("content-length", "")
    if not length:
        return "transfer-encoding" not in request.headers
    return length.isdecimal() and len(length) < 20 and int(length) <= LARGEST_UNASKED_BODY


async def _small_body(request: Request) -> bytes | None:
    """Of a request that anybody may make; none where it is larger than that."""
    if not (_is_small(request) or "transfer-encoding" in request.headers):
        return None
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_UNASKED_BODY:
            return None
    return body


def _is_query(name: str, hint: Any, path: str) -> bool:
    """Whether an argument is read from the query, as `_reader` decides it."""
    given_by_type = _kind(hint) in (Request, CallerInfo, Services) or _is_body(hint)
    return not (given_by_type or f"{{{name}}}" in path or _header(hint))


def _kind(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _header(hint: Any) -> str | None:
    return next((mark.alias for mark in get_args(hint)[1:] if isinstance(mark, Header)), None)


def _reader(name: str, hint: Any, default: Any, path: str) -> _Read:
    """How one argument is read; its kind is known by its type, its name, or its mark."""
    kind = _kind(hint)
    if kind is Request:
        return lambda request, _: request
    if kind is CallerInfo:
        return lambda request, _: request.state.caller
    if kind is Services:
        return lambda request, _: cast(Gate, request.app.state.gate).services
    if kind is Nothing:
        return lambda request, body: _read_body(Nothing, request, body) if body.strip() else Nothing()
    if _is_body(hint):
        return lambda request, body: _read_body(hint, request, body)
    if f"{{{name}}}" in path:
        return lambda request, _: as_given(request.path_params[name])
    adapter = TypeAdapter[Any](hint)
    header = _header(hint)
    if header is not None:
        return lambda request, _: _read_text(adapter, "header", header, request.headers, default)
    return lambda request, _: _read_query(adapter, name, request, default)


def _is_body(hint: Any) -> bool:
    kind = _kind(hint)
    return isinstance(kind, type) and issubclass(kind, Body)


def _read_body(kind: type[Body], request: Request, body: bytes) -> Body:
    """Only what calls itself JSON is read as JSON: no form of another site can pass for a request of ours."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        missing = {"type": "media_type", "loc": ("body",), "msg": "Must be JSON, sent as application/json"}
        raise RequestValidationError([missing])
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise _located("body", error) from None


def _read_query(adapter: TypeAdapter[Any], name: str, request: Request, default: Any) -> Any:
    """Most requests have none, and Starlette would make a multi-dictionary of it."""
    return (
        _read_text(adapter, "query", name, request.query_params, default) if request.scope["query_string"] else default
    )


def _read_text(adapter: TypeAdapter[Any], place: str, name: str, given: Mapping[str, str], default: Any) -> Any:
    text = given.get(name)
    if text is None:
        return default
    try:
        return adapter.validate_python(text)
    except ValidationError as error:
        raise _located(place, error, name) from None


def _located(place: str, error: ValidationError, *path: str) -> RequestValidationError:
    """Without the input itself: an error never repeats what was said."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return RequestValidationError([{**entry, "loc": (place, *path, *entry["loc"])} for entry in found])
