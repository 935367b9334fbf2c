"""A server with tracing: its spans go to OpenTelemetry's own in-memory exporter, and its model is a fake endpoint."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from cloister.bootstrap import Services, wire
from cloister.index.exact.index import ExactIndex
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.extractor import OpenAiExtractor
from cloister.telemetry.spans import OtelTracer
from cloister.worker import Worker
from support.databases.engines import EMBEDDER, Engine
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint, completed, completion, fake_endpoint
from support.servers.http_server import Server, Tenant, serving
from support.waiting import eventually

MODEL = "fake-model"
REMOTE_TRACE = "0af7651916cd43dd8448eb211c80319c"
REMOTE_SPAN = "b7ad6b7169203331"
TRACEPARENT = f"00-{REMOTE_TRACE}-{REMOTE_SPAN}-01"


@dataclass(kw_only=True)
class Traced:
    """A server with tracing, and the spans that it made since `clear`."""

    server: Server
    services: Services
    model: FakeEndpoint
    exporter: InMemorySpanExporter
    tracer: OtelTracer
    provider: TracerProvider = field(repr=False)

    def new_tenant(self) -> Tenant:
        tenant = self.server.new_tenant()
        self.clear()
        return tenant

    def clear(self) -> None:
        self.exporter.clear()
        self.model.asked.clear()

    def spans(self, name: str | None = None) -> list[ReadableSpan]:
        found = self.exporter.get_finished_spans()
        return [span for span in found if name in (None, span.name)]

    def some(self, name: str, count: int) -> list[ReadableSpan]:
        """So many spans of this name. The span of a request ends just after the client has its answer."""
        eventually(lambda: len(self.spans(name)) >= count)
        assert len(self.spans(name)) == count
        return self.spans(name)

    def one(self, name: str) -> ReadableSpan:
        return self.some(name, 1)[0]

    def extract(self) -> None:
        worker = Worker(self.services)
        worker.drain()
        worker.stop()


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def trace_of(span: ReadableSpan) -> str:
    context = span.get_span_context()
    assert context is not None
    return f"{context.trace_id:032x}"


def parent_of(span: ReadableSpan) -> str | None:
    return None if span.parent is None else f"{span.parent.span_id:016x}"


def id_of(span: ReadableSpan) -> str:
    context = span.get_span_context()
    assert context is not None
    return f"{context.span_id:016x}"


def everything(span: ReadableSpan) -> str:
    """All that a span would send, as text."""
    return span.to_json()


def answer(asked: Asked) -> Answer:
    """What the model says: a sentence in a chat, and no items to an extraction."""
    if "response_format" not in asked.body:
        return completion("Understood.")
    kind = asked.body["response_format"]["json_schema"]["schema"]["required"][0]
    return completed({kind: []})


@contextmanager
def traced_server(engine: Engine, *, content: bool) -> Generator[Traced]:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = OtelTracer(provider.get_tracer("cloister"), content=content, close=provider.shutdown)
    with fake_endpoint() as model:
        model.follows(answer)
        endpoint = Endpoint(url=model.url, model=MODEL, tries=1, tracer=tracer)
        services = wire(
            engine.database(),
            index=ExactIndex(EMBEDDER.embed_query, EMBEDDER.dimension, 50_000_000),
            embedder=EMBEDDER,
            extractor=OpenAiExtractor(endpoint),
            chat_model=OpenAiChatModel(endpoint),
            tracer=tracer,
        )
        with serving(services) as server:
            yield Traced(
                server=server, services=services, model=model, exporter=exporter, tracer=tracer, provider=provider
            )
        services.extractor.close()
