"""Spans of OpenTelemetry, by its GenAI conventions for memory and for model calls. The only module that makes spans.

A span has counts, codes of errors, and ids that are random: never words, names of users, external ids, paths or texts of errors.
With `content`, which the operator sets, spans of memory also have the question and the records. Scope is never read from a trace:
of a request's headers only `traceparent` and `tracestate` are read, and only for the parent of its span.
"""

import json
from asyncio import CancelledError
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from itertools import islice
from threading import Lock
from typing import TypeVar
from urllib.parse import urlsplit

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import ProjectId, SessionId, TenantId, format_project_id, format_tenant_id
from cloister.domain.tracing.interface import ModelCall, Operation, Records

PROVIDER = "cloister"
_TRACE_HEADERS = ("traceparent", "tracestate")
_LONGEST_TEXT = 2_000
_MOST_RECORDS = 64
# Sessions whose last recording request is remembered, so that their extraction is linked to it. In memory, and nowhere stored.
_MOST_CAUSES = 4_096
_SERVER_ERROR = 500
# Closing a generator is how a reply ends, finished or not, and a cancelled call is one that nobody waits for any more.
_NO_ERRORS = (GeneratorExit, CancelledError)
_ENDED_EARLY = (KeyboardInterrupt, SystemExit)
T = TypeVar("T")


class OtelMemorySpan:
    """A span of one operation on memory."""

    def __init__(self, tracer: "OtelTracer", span: Span, operation: Operation, tenant: TenantId) -> None:
        self._tracer = tracer
        self._operation: Operation = operation
        self._tenant = tenant
        self.span = span

    def store(self, project: ProjectId | None) -> None:
        named = f"{format_tenant_id(self._tenant)}/none" if project is None else format_project_id(project)
        self.span.set_attribute("gen_ai.memory.store.id", named)

    def result(
        self,
        count: int,
        *,
        session: SessionId | None = None,
        record_id: str | None = None,
        records: Records | None = None,
    ) -> None:
        self.span.set_attribute("gen_ai.memory.record.count", count)
        if record_id is not None:
            self.span.set_attribute("gen_ai.memory.record.id", record_id)
        if session is not None:
            self.span.set_attribute("gen_ai.conversation.id", f"{session:016x}")
            if self._operation == "create_memory":
                self._tracer.remember_cause(self._tenant, session, self.span.get_span_context())
        if records is not None and self.span.is_recording():
            if count == 1:
                for record in records():
                    self.span.set_attribute("gen_ai.memory.record.id", record.id)
            if self._tracer.content:
                self.span.set_attribute("gen_ai.memory.records", _records_text(records))

    def fail(self, error: BaseException) -> None:
        fail(self.span, error)

    def end(self) -> None:
        self.span.end()


class OtelModelSpan:
    """A span of one call of a model. It is not made current, because the caller is a generator that others resume."""

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def headers(self) -> Mapping[str, str]:
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier, trace.set_span_in_context(self._span))
        return carrier

    def result(self, finish_reason: str, input_tokens: int | None, output_tokens: int | None) -> None:
        self._span.set_attribute("gen_ai.response.finish_reasons", [finish_reason])
        for name, tokens in (("input", input_tokens), ("output", output_tokens)):
            if tokens is not None:
                self._span.set_attribute(f"gen_ai.usage.{name}_tokens", tokens)


class OtelRequestSpan:
    """A span of one HTTP request."""

    def __init__(self, span: Span, method: str) -> None:
        self._span = span
        self._method = method

    def result(self, route: str, status: int) -> None:
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute("http.route", route)
        self._span.set_attribute("http.response.status_code", status)
        if status >= _SERVER_ERROR:
            self._span.set_attribute("error.type", str(status))
            self._span.set_status(Status(StatusCode.ERROR))


class OtelTracer:
    """Makes spans with a tracer of OpenTelemetry. `close` is called once, when no more spans are made."""

    def __init__(
        self, tracer: trace.Tracer, *, content: bool = False, close: Callable[[], object] = lambda: None
    ) -> None:
        self._tracer = tracer
        self.content = content
        self._close = close
        self._lock = Lock()
        self._causes: OrderedDict[tuple[TenantId, SessionId], SpanContext] = OrderedDict()

    def start(self, operation: Operation, tenant: TenantId, *, parent: object | None = None) -> OtelMemorySpan:
        return self._start(operation, tenant, parent if isinstance(parent, Context) else None)

    @contextmanager
    def memory(
        self,
        operation: Operation,
        tenant: TenantId,
        *,
        question: str | None = None,
        caused_by: SessionId | None = None,
    ) -> Generator[OtelMemorySpan]:
        cause = None if caused_by is None else self._take_cause(tenant, caused_by)
        started = self._start(operation, tenant, None, cause)
        if self.content and question is not None:
            started.span.set_attribute("gen_ai.memory.query.text", question[:_LONGEST_TEXT])
        with _ended(started.span), _current(started.span):
            yield started

    @contextmanager
    def model(self, call: ModelCall) -> Generator[OtelModelSpan]:
        attributes = _model_attributes(call)
        name = f"{attributes['gen_ai.operation.name']} {call.model}"
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        with _ended(span):
            yield OtelModelSpan(span)

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Generator[OtelRequestSpan]:
        carrier = {name: headers[name] for name in _TRACE_HEADERS if name in headers}
        parent = TraceContextTextMapPropagator().extract(carrier, Context())
        attributes = {"http.request.method": method}
        span = self._tracer.start_span(method, parent, SpanKind.SERVER, attributes)
        with _ended(span), _current(span):
            yield OtelRequestSpan(span, method)

    def current(self) -> Context:
        return contexts.get_current()

    def bind(self, call: Callable[[], T]) -> Callable[[], T]:
        copied = copy_context()
        return lambda: copied.run(call)

    def close(self) -> None:
        self._close()

    def remember_cause(self, tenant: TenantId, session: SessionId, cause: SpanContext) -> None:
        """Link the next extraction of the session to this span. Only the ids of trace and span are kept, in memory."""
        with self._lock:
            self._causes[tenant, session] = cause
            self._causes.move_to_end((tenant, session))
            while len(self._causes) > _MOST_CAUSES:
                self._causes.popitem(last=False)

    def _take_cause(self, tenant: TenantId, session: SessionId) -> SpanContext | None:
        with self._lock:
            return self._causes.pop((tenant, session), None)

    def _start(
        self, operation: Operation, tenant: TenantId, parent: Context | None, cause: SpanContext | None = None
    ) -> OtelMemorySpan:
        span = self._tracer.start_span(
            operation,
            parent,
            SpanKind.INTERNAL,
            {"gen_ai.operation.name": operation, "gen_ai.provider.name": PROVIDER},
            None if cause is None else [Link(cause)],
        )
        return OtelMemorySpan(self, span, operation, tenant)


def fail(span: Span, error: BaseException) -> None:
    """Mark the span as failed, by the code or the type of the error. Its text stays out, and so does the stack trace. Work that was
    ended because nobody waits for it has not failed."""
    if isinstance(error, _NO_ERRORS):
        return
    span.set_attribute("error.type", error.code if isinstance(error, CloisterError) else type(error).__name__)
    if not isinstance(error, _ENDED_EARLY):
        span.set_status(Status(StatusCode.ERROR))


@contextmanager
def _ended(span: Span) -> Generator[None]:
    """End the span with the block, and mark it as failed if the block raises."""
    try:
        yield
    except BaseException as error:  # raised again: a span says that its work failed, however that was
        fail(span, error)
        raise
    finally:
        span.end()


@contextmanager
def _current(span: Span) -> Generator[None]:
    token = contexts.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        contexts.detach(token)


def _model_attributes(call: ModelCall) -> dict[str, str | int]:
    address = urlsplit(call.url)
    return {
        "gen_ai.operation.name": "embeddings" if call.interface == "embeddings" else "chat",
        "gen_ai.provider.name": "anthropic" if call.interface == "messages" else "openai",
        "gen_ai.request.model": call.model,
        "server.address": address.hostname or "",
        "server.port": address.port or (443 if address.scheme == "https" else 80),
    }


def _records_text(records: Records) -> str:
    """The first records, by the conventions' schema, as JSON: attributes of OpenTelemetry cannot be objects."""
    return json.dumps(
        [
            {"id": record.id, "content": record.content[:_LONGEST_TEXT]}
            | ({} if record.score is None else {"score": record.score})
            for record in islice(records(), _MOST_RECORDS)
        ],
        ensure_ascii=False,
    )
