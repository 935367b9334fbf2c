"""Prometheus metrics. No label ever names a tenant, a project, a user or a session."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from cloister.bootstrap import Services

_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """The metrics of one app, in a registry of its own, so that two apps in one process do not share counters."""

    def __init__(self, services: Services) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "cloister_http_requests_total", "Requests answered.", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "cloister_http_request_seconds",
            "Time from the first byte of a request to the last of its answer.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._running = Gauge("cloister_http_requests_running", "Requests being answered now.", registry=self._registry)
        self._registry.register(_ServiceMetrics(services))

    def began(self) -> None:
        self._running.inc()

    def ended(self, method: str, route: str, status: int, seconds: float) -> None:
        self._running.dec()
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _ServiceMetrics(Collector):
    """Collects the counters that the services keep themselves, at every scrape."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterator[Metric]:
        foreign = CounterMetricFamily(
            "cloister_index_foreign_hits",
            "Hits of the index that storage did not find in the pool, or found damaged; never shown.",
        )
        foreign.add_metric([], self._services.recall.foreign_hits)
        yield foreign
        waiting = GaugeMetricFamily("cloister_index_waiting", "Messages that no index knows yet.")
        waiting.add_metric([], self._services.queue.waiting())
        yield waiting
        stale = GaugeMetricFamily(
            "cloister_index_stale",
            "Messages, memories and entities that another version indexed, and this one not yet again.",
        )
        stale.add_metric([], self._services.health.stale())
        yield stale
        yield from self._writes()
        if (size := self._services.health.log_bytes()) is not None:
            yield GaugeMetricFamily("cloister_wal_bytes", "Size of the write-ahead log of SQLite.", value=size)
        yield from self._embedding()
        extractions = CounterMetricFamily(
            "cloister_extractions", "Extractions that ended in this process, by how they ended.", labels=["result"]
        )
        for result, number in self._services.extraction.results.items():
            extractions.add_metric([result], number)
        yield extractions
        forgotten = CounterMetricFamily(
            "cloister_retention_forgotten",
            "What this process forgot because it was older than its project or tenant keeps, by kind.",
            labels=["kind"],
        )
        for kind, number in self._services.retention.forgotten.items():
            forgotten.add_metric([kind], number)
        yield forgotten
        for name, help_text, number in (
            ("waiting", "Sessions that wait for extraction.", self._services.claims.waiting()),
            (
                "failing",
                "Sessions whose last extraction failed; they are tried again.",
                self._services.claims.failing(),
            ),
        ):
            gauge = GaugeMetricFamily(f"cloister_extraction_{name}", help_text)
            gauge.add_metric([], number)
            yield gauge

    def _writes(self) -> Iterator[Metric]:
        health = self._services.health
        failing = GaugeMetricFamily(
            "cloister_storage_writes_failing", "1 if the last write of this process failed because of the database."
        )
        failing.add_metric([], int(health.write_problem() is not None))
        yield failing
        failures = CounterMetricFamily(
            "cloister_storage_write_failures", "Writes of this process that failed because of the database."
        )
        failures.add_metric([], health.write_failures)
        yield failures

    def _embedding(self) -> Iterator[Metric]:
        """Of the additional embedder, if there is one."""
        vectors, additional = self._services.vectors, self._services.recall.additional
        if vectors is None or additional is None:
            return
        waiting = GaugeMetricFamily(
            "cloister_embedding_waiting", "Messages without a vector of the additional embedder."
        )
        waiting.add_metric([], vectors.waiting())
        yield waiting
        for name, help_text, number in (
            ("messages", "Messages that this process embedded with the additional embedder.", vectors.embedded),
            ("failures", "Failures of the additional embedder at messages; they are tried again.", vectors.failures),
        ):
            counter = CounterMetricFamily(f"cloister_embedding_{name}", help_text)
            counter.add_metric([], number)
            yield counter
        questions = CounterMetricFamily(
            "cloister_embedding_questions",
            "Questions by what the additional embedder did; failed and skipped ones were answered by the table alone.",
            labels=["result"],
        )
        for result in ("embedded", "cached", "failed", "skipped"):
            questions.add_metric([result], additional.outcomes[result])
        yield questions
