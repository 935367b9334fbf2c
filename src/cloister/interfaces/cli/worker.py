"""`cloister worker`: extracts queued sessions, alongside any number of servers."""

import logging
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from cloister.bootstrap import build_services
from cloister.interfaces.cli.options import Data, Json, named
from cloister.interfaces.cli.terminal import answer, counted, progress_bar
from cloister.interfaces.http.logs import JsonLines, log_to_stderr
from cloister.interfaces.memory_arenas import limit_arenas
from cloister.interfaces.stop_signals import stop_signals
from cloister.services.memories.extract import Outcome
from cloister.settings import read_settings
from cloister.worker import Worker, WorkerCounts, log_outcome, log_start


def worker(
    once: Annotated[
        bool, typer.Option("--once", help="Extract what is due now, and exit.", show_default=False)
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads", metavar="N", min=1, max=256, help=named("CLOISTER_WORKER_THREADS"), show_default=False
        ),
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Extract memories, entities and notes in the background.

    Any number of workers and servers may share one database: no session is extracted twice. SIGTERM or Ctrl-C stops it; sessions
    that do not finish within seconds are released for another worker. With --once the exit code is 1 if a session failed; it is
    tried again later.
    """
    limit_arenas()
    settings = read_settings(data)
    services = build_services(settings)
    bar = progress_bar("extracting", shown=once)

    def report(outcome: Outcome, seconds: float) -> None:
        bar.advance(task)
        if not once or outcome.error is not None:
            log_outcome(outcome, seconds)

    try:
        running = Worker(services, threads=threads or settings.worker_threads, report=report)
        with _on_the_console(running.ask_to_stop, JsonLines() if json else _ReadableLines()), bar:
            task = bar.add_task("", total=services.claims.waiting() if once else None)
            if once:
                running.drain()
            else:
                running.start()
                log_start(services.extractor.name)
                running.wait_until_asked_to_stop()
            let_go = running.stop()
        done = running.done
    finally:
        services.close()
    answer({**asdict(done), "let_go": let_go}, json, _summary(done, let_go))
    if once and done.failed:
        raise typer.Exit(1)


class _ReadableLines(logging.Formatter):
    """A log line for people: the time, the event, and the fields that a JSON line has."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%d %H:%M:%S")
        fields: dict[str, Any] = getattr(record, "fields", {})
        known = "  ".join(f"{name}={value}" for name, value in fields.items() if name not in ("result", "problem"))
        said = [moment, str(record.msg).strip(), str(fields.get("result", "")), known, str(fields.get("problem", ""))]
        return "  ".join(part for part in said if part)


@contextmanager
def _on_the_console(ask_to_stop: Callable[[], None], lines: logging.Formatter) -> Generator[None]:
    """Log to standard error. The first signal asks the worker to stop; a second one ends the process at once, and leases expire."""

    def first(*_: object) -> None:
        for stop in usual:
            signal.signal(stop, signal.SIG_DFL)
        ask_to_stop()

    loggers = logging.getLogger().handlers[:]
    log_to_stderr(lines)
    usual = {stop: signal.signal(stop, first) for stop in stop_signals()}
    try:
        yield
    finally:
        for stop, handler in usual.items():
            signal.signal(stop, handler)
        logging.getLogger().handlers[:] = loggers


def _summary(done: WorkerCounts, let_go: int) -> str:
    tried = done.succeeded + done.failed + done.lost
    sentences = ["Nothing was extracted." if tried else "Nothing was due."]
    if done.succeeded:
        memories = counted(done.memories, "new memory", "new memories")
        sessions, messages = counted(done.succeeded, "session"), counted(done.checked_messages, "message")
        sentences = [f"Extracted {sessions}: {memories} from {messages}."]
    if done.failed:
        sentences.append(f"{counted(done.failed, 'session')} failed, and will be tried again.")
    if let_go:
        sentences.append(f"Let go of {counted(let_go, 'session')} for another worker.")
    if done.embedded:
        sentences.append(f"Embedded {counted(done.embedded, 'message')}.")
    if done.forgotten:
        sentences.append(
            f"Forgot {counted(done.forgotten, 'old message, memory or file', 'old messages, memories and files')}."
        )
    if done.indexed:
        sentences.append(f"Indexed {counted(done.indexed, 'text')}.")
    return " ".join(sentences)
