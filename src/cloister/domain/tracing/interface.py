"""The interface of tracing: what services, models and the HTTP interface say of an operation, and the tracer that ignores it.

Nothing here names OpenTelemetry. A span gets counts, opaque ids and codes of errors. Text is passed as a function, which a tracer
calls only if the operator has asked for content.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeVar

from cloister.domain.identifiers import ProjectId, SessionId, TenantId

T = TypeVar("T")

Operation = Literal["create_memory", "search_memory", "update_memory", "upsert_memory", "delete_memory"]
"""The names of the GenAI conventions: messages recorded or memories added, a context or search, a memory changed by hand, an
extraction, and whatever is forgotten."""


class TracedRecord(NamedTuple):
    """A message, memory or entity that was stored or found: its public id, its text, and how well it matches."""

    id: str
    content: str
    score: float | None = None


Records = Callable[[], Iterable[TracedRecord]]


class MemorySpan(Protocol):
    """The span of one operation on memory."""

    def store(self, project: ProjectId | None) -> None:
        """The operation was on this project, or on what is in no project."""
        ...

    def result(
        self,
        count: int,
        *,
        session: SessionId | None = None,
        record_id: str | None = None,
        records: Records | None = None,
    ) -> None:
        """The operation concerned so many records, and of this session if it was of one. `record_id` is the public id of the one
        that the caller named. `records` returns them."""
        ...

    def fail(self, error: BaseException) -> None:
        """The operation failed. The text of the error is not used: it may quote ids and contents."""
        ...

    def end(self) -> None: ...


class ModelSpan(Protocol):
    """The span of one call of a model."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The W3C trace context to send with the request to the model's server."""
        ...

    def result(self, finish_reason: str, input_tokens: int | None, output_tokens: int | None) -> None: ...


class RequestSpan(Protocol):
    """The span of one HTTP request."""

    def result(self, route: str, status: int) -> None:
        """The request was answered with this status. `route` is the pattern of the route, never the path."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCall:
    """What is known of a call of a model before it: never a message."""

    model: str
    interface: Literal["chat", "messages", "embeddings"]
    url: str


class Tracer(Protocol):
    """Starts spans. Thread-safe. A span that is started here is a child of the span around it, in the same request."""

    def start(self, operation: Operation, tenant: TenantId, *, parent: object | None = None) -> MemorySpan:
        """A span that the caller ends. `parent` is what `current` returned in the request, if that ran on another thread."""
        ...

    def memory(
        self,
        operation: Operation,
        tenant: TenantId,
        *,
        question: str | None = None,
        caused_by: SessionId | None = None,
    ) -> AbstractContextManager[MemorySpan]:
        """A span around a block. An extraction is linked to the last request that recorded something in the session
        `caused_by`, if this process knows it."""
        ...

    def model(self, call: ModelCall) -> AbstractContextManager[ModelSpan]: ...

    def request(self, method: str, headers: Mapping[str, str]) -> AbstractContextManager[RequestSpan]:
        """A span around an HTTP request, as a child of the span that its `traceparent` names."""
        ...

    def current(self) -> object | None:
        """The span around the caller, for `start` on another thread."""
        ...

    def bind(self, call: Callable[[], T]) -> Callable[[], T]:
        """The call with the span around the caller as its parent, for another thread."""
        ...

    def close(self) -> None:
        """Send the spans that are still waiting."""
        ...


class _NoSpan:
    """A span that ignores everything."""

    headers: Mapping[str, str] = {}

    def store(self, project: ProjectId | None) -> None: ...

    def result(self, *_: object, **__: object) -> None: ...

    def fail(self, error: BaseException) -> None: ...

    def end(self) -> None: ...


_NO_SPAN = _NoSpan()
_NO_BLOCK: AbstractContextManager[_NoSpan] = nullcontext(_NO_SPAN)


class NoTracing:
    """The tracer of an installation without tracing."""

    def start(self, operation: Operation, tenant: TenantId, *, parent: object | None = None) -> MemorySpan:
        return _NO_SPAN

    def memory(
        self,
        operation: Operation,
        tenant: TenantId,
        *,
        question: str | None = None,
        caused_by: SessionId | None = None,
    ) -> AbstractContextManager[MemorySpan]:
        return _NO_BLOCK

    def model(self, call: ModelCall) -> AbstractContextManager[ModelSpan]:
        return _NO_BLOCK

    def request(self, method: str, headers: Mapping[str, str]) -> AbstractContextManager[RequestSpan]:
        return _NO_BLOCK

    def current(self) -> object | None:
        return None

    def bind(self, call: Callable[[], T]) -> Callable[[], T]:
        return call

    def close(self) -> None: ...


NO_TRACING = NoTracing()
