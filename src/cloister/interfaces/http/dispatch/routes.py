"""Routes: a request becomes one call of its handler, on one thread.

FastAPI reads the signatures of handlers, for the OpenAPI document and for `arguments.py`. Its dispatch is not used: it would parse
the body before the caller is admitted, change threads twice, and double the processor time of a request (decision 040).
"""

import inspect
from collections.abc import Callable, Hashable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast, get_args, get_type_hints

from fastapi import Request
from fastapi.datastructures import DefaultPlaceholder
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.bootstrap import Services
from cloister.domain.access import Permission
from cloister.domain.errors import CloisterError, Overloaded
from cloister.domain.identifiers import format_key_id
from cloister.interfaces.http.arrival import has_arrived, note_waiting, refuse_abandoned
from cloister.interfaces.http.dispatch.arguments import argument_readers, reads_body, refuse_fields
from cloister.interfaces.http.dispatch.callers import Checked, Gate, need_of
from cloister.interfaces.http.dispatch.executors import BatchExecutor, SerialExecutor, outcome_of
from cloister.interfaces.http.dispatch.query_parameters import check_query
from cloister.interfaces.http.problems import of_error, of_validation_error, problem
from cloister.interfaces.http.queueing.fair_queue import FairQueue
from cloister.interfaces.http.queueing.known_callers import KnownCallers
from cloister.services.conversations.record import RecordRequest, RecordResult

T = TypeVar("T")
THREADS = 64
"""The size of the framework's thread pool, for what does not wait in a queue: health, streams and running turns."""
# Enough for group commits and for a database that answers over a network; few enough that Python threads do not contend.
_CALLS_AT_ONCE = 8
LARGEST_UNASKED_BODY = 8_192
"""Bytes of a body that are read before its caller is admitted: so much arrives together with the headers."""
# Larger bodies are not batched: the others of a batch would wait while one is parsed and embedded.
_LARGEST_BATCHED_BODY = 8_192


@dataclass(frozen=True, kw_only=True, slots=True)
class Appending:
    """What a handler returns whose write may be batched with others: the append, and how to answer when it is durable."""

    append: RecordRequest
    answer: Callable[[RecordResult], Response]


class Executors:
    """The executors of requests; see `executors.py`. Short reads and appends have their own on an embedded database only."""

    def __init__(self, services: Services, *, most_waiting: int = 0) -> None:
        embedded, tracer = services.database.embedded, services.tracer
        self.known_callers = KnownCallers()
        self.calls = SerialExecutor("cloister-call", at_once=_CALLS_AT_ONCE, most_waiting=most_waiting, tracer=tracer)
        self.reads = (
            SerialExecutor("cloister-read", most_waiting=most_waiting, tracer=tracer) if embedded else self.calls
        )
        self.appends = (
            BatchExecutor[_Arrived, Response](
                "cloister-append", lambda arrived: _answer_together(services, arrived), most_waiting=most_waiting
            )
            if embedded
            else None
        )

    @property
    def queues(self) -> dict[str, FairQueue[Any]]:
        """What waits, by kind of request."""
        queues: dict[str, FairQueue[Any]] = {"calls": self.calls.waiting}
        if self.appends is not None:
            queues |= {"reads": self.reads.waiting, "appends": self.appends.waiting}
        return queues

    async def run(self, request: Request, call: Callable[[], T], *, reads: bool) -> T:
        """Run a call for a request, in the turn of its tenant; `reads` says that it is a short read."""
        executor = self.reads if reads else self.calls
        return await executor.run(call, tenant=self.known_callers.tenant_of(request.scope))

    def close(self) -> None:
        self.calls.close()
        self.reads.close()
        if self.appends is not None:
            self.appends.close()


class GuardedRoute(APIRoute):
    """Admits the caller before anything else is parsed. A handler without `@needs` cannot be a route."""

    allows_no_project = False
    """Whether the project header may be `none`: in interfaces with sessions whose bodies have no `project_id` to be null."""

    ignored_query_names: Set[str] = frozenset()
    """Query parameters of another's interface that change nothing here."""

    def __init__(self, path: str, endpoint: Callable[..., Any], *, response_model: Any = None, **named: Any) -> None:
        self._response_field: Any = None
        super().__init__(path, endpoint, response_model=None, **named)
        self.response_model = None if isinstance(response_model, DefaultPlaceholder) else response_model
        self._need = need_of(endpoint)
        self._arguments = argument_readers(endpoint, self.dependant)
        self.query_names = frozenset(field.alias for field in self.dependant.query_params)
        has_body = reads_body(self.dependant)
        # A client that sends a body with DELETE believes that it does something, such as a dry run.
        self._refuses_body = not has_body and "DELETE" in (self.methods or ())
        self._reads_body = has_body or self._refuses_body
        self._appends = Appending in get_args(get_type_hints(endpoint)["return"])
        self.app = self._serve

    @property
    def response_field(self) -> Any:
        """The schema of the answer, which only the OpenAPI document needs: it is made when that is, and not at the start."""
        if self._response_field is None and self.response_model is not None:
            name = f"Response_{self.unique_id}"
            self._response_field = create_model_field(name=name, type_=self.response_model, mode="serialization")
        return self._response_field

    @response_field.setter
    def response_field(self, field: Any) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._response_field = field

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._respond(request)
            await response(scope, receive, send)
        finally:
            if (counted := scope.get("state", {}).get("counted")) is not None:
                counted.end()

    async def _respond(self, request: Request) -> Response:
        """A large body that did not arrive together with its headers is read only after its caller was admitted."""
        if inspect.iscoroutinefunction(self.endpoint):
            return self._refused_query(request) or cast(Response, await self.endpoint(request))
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
        return await self._in_turn(request, lambda: self._admission(request), reads=True)

    async def queued(self, request: Request, call: Callable[[], T], *, reads: bool = False) -> T | Response:
        """The result of a call that runs in the turn of its tenant, or the refusal if too many wait. It is not begun if the client
        left while it waited for long."""

        def unless_abandoned() -> T:
            refuse_abandoned(request.scope)
            return call()

        note_waiting(request.scope)
        return await self._in_turn(request, unless_abandoned, reads=reads)

    async def _in_turn(self, request: Request, call: Callable[[], T], *, reads: bool) -> T | Response:
        executors = cast(Executors | None, request.app.state.executors)
        if executors is None:  # an app without a server, as the command line has it
            return await run_in_threadpool(call)
        try:
            return await executors.run(request, call, reads=reads)
        except Overloaded as error:
            return self.shaped(of_error(error))

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
        small = len(body) <= _LARGEST_BATCHED_BODY and "idempotency-key" not in request.headers
        if executors is not None and executors.appends is not None and self._appends and small:
            request.state.span = cast(Gate, request.app.state.gate).services.tracer.current()
            tenant = executors.known_callers.tenant_of(request.scope)
            note_waiting(request.scope)
            try:
                return await executors.appends.run((self, request, body), tenant=tenant)
            except Overloaded as error:
                return self.shaped(of_error(error))
        return await self.queued(request, lambda: self._answer(request, body), reads=self._need == "read")

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
                check_query(request, self.query_names, self.ignored_query_names)
            if self._refuses_body:
                refuse_fields(request, body)
            begun = self.endpoint(**{name: read(request, body) for name, read in self._arguments.items()})
            return self.shaped(begun) if isinstance(begun, Response) else begun
        except CloisterError as error:
            request.state.error = error
            return self.shaped(of_error(error))
        except RequestValidationError as error:
            return self.shaped(of_validation_error(error))

    def shaped(self, response: Response) -> Response:
        """An error in the format that the clients of this route understand."""
        return response

    def _refused_query(self, request: Request) -> Response | None:
        if not request.scope["query_string"]:
            return None
        try:
            check_query(request, self.query_names, self.ignored_query_names)
        except RequestValidationError as error:
            return self.shaped(of_validation_error(error))
        return None

    def _admit(self, request: Request, checked: Checked | None) -> None:
        gate = cast(Gate, request.app.state.gate)
        if self._need == "operator":
            gate.admit_operator(request)
            _note_caller(request, "operator")
        elif self._need != "nothing":
            self.admit_with(request, cast(Permission, self._need), checked)

    def admit_with(self, request: Request, permission: Permission, checked: Checked | None) -> None:
        """Admit a caller whose key has the permission, or raise."""
        gate = cast(Gate, request.app.state.gate)
        caller = gate.admit(request, permission, checked, allows_no_project=self.allows_no_project)
        request.state.caller, request.state.key_id = caller, format_key_id(caller.key.id)
        request.state.counted = gate.concurrency_limit.begin(caller.key.id)
        _note_caller(request, caller.reach.tenant)


class TurnRoute(GuardedRoute):
    """A route whose request is carried out also if its client left while it waited: a question is recorded and answered."""

    async def _run(self, request: Request, body: bytes) -> Response:
        return await self._in_turn(request, lambda: self._answer(request, body), reads=self._need == "read")


class UnqueuedRoute(GuardedRoute):
    """A route that runs on the framework's threads, and not in a queue: health, which has to be answered under load, and what a
    limit of its own keeps few. Its caller is admitted in the queue, if it needs one."""

    async def _run(self, request: Request, body: bytes) -> Response:
        is_admitted = "admitted" in request.scope.get("state", ())
        if self._need != "nothing" and not is_admitted and (refused := await self._admit_early(request)) is not None:
            return refused
        return await run_in_threadpool(self._answer, request, body)


_Arrived = tuple[GuardedRoute, Request, bytes]


def _note_caller(request: Request, tenant: Hashable) -> None:
    executors = cast(Executors | None, request.app.state.executors)
    if executors is not None:
        executors.known_callers.note(request.scope, tenant)


def finish(request: Request, appending: Appending, recorded: RecordResult | BaseException) -> Response:
    try:
        if isinstance(recorded, BaseException):
            raise recorded
        return appending.answer(recorded)
    except CloisterError as error:
        request.state.error = error
        return of_error(error)


def _answer_together(services: Services, arrived: Sequence[_Arrived]) -> list[Response | BaseException]:
    """Answer each request as if it were alone, but with one write for all, and one check of a key that several of them use: all of
    them had arrived before that check."""
    checked: Checked = {}
    begun = [outcome_of(_begin_in_batch, *each, checked) for each in arrived]
    appends = [
        replace(entry.append, parent=request.state.span)
        for (_, request, _), entry in zip(arrived, begun, strict=True)
        if isinstance(entry, Appending)
    ]
    recorded = iter(services.record.all(appends) if appends else ())
    return [
        outcome_of(finish, request, entry, next(recorded)) if isinstance(entry, Appending) else entry
        for (_, request, _), entry in zip(arrived, begun, strict=True)
    ]


def _begin_in_batch(route: GuardedRoute, request: Request, body: bytes, checked: Checked) -> Response | Appending:
    refuse_abandoned(request.scope)
    return route.begin(request, body, checked)


def _is_small(request: Request) -> bool:
    """Whether the announced body is small enough to be buffered before its caller is admitted."""
    length = request.headers.get("content-length", "")
    if not length:
        return "transfer-encoding" not in request.headers
    return length.isdecimal() and len(length) < 20 and int(length) <= LARGEST_UNASKED_BODY


async def _small_body(request: Request) -> bytes | None:
    """The body of a request that needs no key, or none if it is too large."""
    if not (_is_small(request) or "transfer-encoding" in request.headers):
        return None
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_UNASKED_BODY:
            return None
    return body
