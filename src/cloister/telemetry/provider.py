"""Opens the tracer: with the provider of the application around the library if it has one, else with one of its own, which sends
spans to where the standard OTEL_* variables say."""

import sys
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from cloister.domain.errors import InvalidRequest
from cloister.domain.tracing.interface import Tracer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

Exporter = Literal["otlp", "console", "none"]
_LONGEST_CLOSE = 10.0


def open_tracer(*, content: bool, exporter: Exporter) -> Tracer:
    """Raises `InvalidRequest` if the packages of the extra are missing. An exporter that cannot be reached is not an error: spans
    are sent in the background, and lost if they cannot be."""
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider

        from cloister.telemetry.spans import PROVIDER, OtelTracer
    except ImportError as missing:
        raise _missing() from missing
    known = trace.get_tracer_provider()
    if not isinstance(known, trace.ProxyTracerProvider):
        return OtelTracer(known.get_tracer(PROVIDER, version(PROVIDER)), content=content)
    resource = Resource({SERVICE_NAME: PROVIDER}).merge(OTELResourceDetector().detect())
    # It is not set as the provider of the process: other packages would begin to trace, by rules of their own.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    if (processor := _processor(exporter)) is not None:
        provider.add_span_processor(processor)
    tracer = provider.get_tracer(PROVIDER, version(PROVIDER))
    return OtelTracer(tracer, content=content, close=lambda: close_in_time(provider.shutdown))


def open_trace_headers() -> Callable[[], Mapping[str, str]]:
    """The trace context of the span around the caller, as headers. The API of OpenTelemetry suffices: no span is made here."""
    try:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    except ImportError as missing:
        raise _missing() from missing
    propagator = TraceContextTextMapPropagator()

    def headers() -> Mapping[str, str]:
        carrier: dict[str, str] = {}
        propagator.inject(carrier)
        return carrier

    return headers


def close_in_time(shutdown: Callable[[], object], seconds: float = _LONGEST_CLOSE) -> None:
    """Send the spans that wait, for so many seconds at most: the SDK waits for the batch that is being sent, and for others."""
    closing = threading.Thread(target=shutdown, name="cloister-tracing-close", daemon=True)
    closing.start()
    closing.join(seconds)


def _missing() -> InvalidRequest:
    return InvalidRequest(
        "CLOISTER_TRACING", "needs OpenTelemetry: install it with `pip install 'cloister[otel]'`, or set it to off."
    )


def _processor(exporter: Exporter) -> "SpanProcessor | None":
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

    if exporter == "none":
        return None
    if exporter == "console":
        return SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr))
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return BatchSpanProcessor(OTLPSpanExporter())
