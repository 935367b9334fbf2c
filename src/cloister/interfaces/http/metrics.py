"""Prometheus metrics. No label ever names a tenant, a project, a user or a session."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from cloister.bootstrap import Services
from cloister.domain.errors import StorageError
from cloister.interfaces.http.queueing.fair_queue import FairQueue

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
        self._registry.register(_QueueMetrics(self))
        self.queues: Mapping[str, FairQueue[Any]] = {}
        """The queues of requests, once the app is started."""

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
        """What is known without the database is always there; what has to be read is left out while it cannot be."""
        stored = _StoredMetrics(self._services)
        found = list(stored.collect())
        up = GaugeMetricFamily("cloister_storage_up", "0 if the database could not be read for these metrics.")
        up.add_metric([], int(stored.is_up))
        yield up
        yield from self._writes()
        yield from found
        foreign = CounterMetricFamily(
            "cloister_index_foreign_hits",
            "Hits of the index that storage did not find in the pool, or found damaged; never shown.",
        )
        foreign.add_metric([], self._services.recall.foreign_hits)
        yield foreign
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
        """What this process did with the additional embedder, if there is one."""
        vectors, additional = self._services.vectors, self._services.recall.additional
        if vectors is None or additional is None:
            return
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


class _QueueMetrics(Collector):
    """The queues in which requests wait."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        waiting = GaugeMetricFamily(
            "cloister_queue_waiting", "Requests that wait in this process, by kind of request.", labels=["queue"]
        )
        refused = CounterMetricFamily(
            "cloister_queue_refused", "Requests of this process that were refused as overloaded.", labels=["queue"]
        )
        for name, queue in self._metrics.queues.items():
            waiting.add_metric([name], len(queue))
            refused.add_metric([name], queue.refused)
        yield waiting
        yield refused


class _StoredMetrics:
    """The gauges that are read from the database, for one scrape. A gauge that cannot be read is left out; once the database does
    not answer at all, the rest is not tried."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.is_up = True

    def collect(self) -> Iterator[Metric]:
        services = self._services
        vectors = services.vectors
        reads: tuple[tuple[str, str, Callable[[], int | None]], ...] = (
            ("index_waiting", "Messages that no index knows yet.", services.queue.waiting),
            (
                "index_stale",
                "Messages, memories and entities that another version indexed, and this one not yet again.",
                services.health.stale,
            ),
            ("wal_bytes", "Size of the write-ahead log of SQLite.", services.health.log_bytes),
            (
                "embedding_waiting",
                "Messages without a vector of the additional embedder.",
                lambda: None if vectors is None else vectors.waiting(),
            ),
            ("extraction_waiting", "Sessions that wait for extraction.", services.claims.waiting),
            (
                "extraction_failing",
                "Sessions whose last extraction failed; they are tried again.",
                services.claims.failing,
            ),
        )
        for name, help_text, read in reads:
            if (number := self._number(read)) is not None:
                yield GaugeMetricFamily(f"cloister_{name}", help_text, value=number)

    def _number(self, read: Callable[[], int | None]) -> int | None:
        if not self.is_up:
            return None
        try:
            return read()
        except StorageError:
            self.is_up = self._services.health.answers()
            return None
