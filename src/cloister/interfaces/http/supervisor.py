"""`cloister serve --processes N`: one process that starts N others, which accept connections on one socket (OPS-4).

A process that ends by itself is started again. SIGHUP replaces all, one after another: the new one answers before the old one
finishes its requests and ends. One that was asked to end and has not after a minute is killed. The others end with this one,
however it ends: their standard input is a pipe from it.
"""

import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from cloister.interfaces.http.dispatch.shared_buckets import SharedBuckets
from cloister.interfaces.http.logs import log
from cloister.interfaces.stop_signals import stop_signals
from cloister.settings import DESCRIPTORS, inherited_descriptors

READY = b"ready\n"
_LOOK_SECONDS = 0.2
_SECONDS_TO_START = 120.0
_SECONDS_TO_END = 60.0
"""Longer than a process takes to finish or cut its requests, and to close its database."""
_FEWEST_SECONDS_ALIVE = 5.0
_PAUSE_SECONDS = 1.0


class _Child:
    """A process that serves. It reports on its standard output when it answers requests."""

    def __init__(self, descriptors: Sequence[int], environment: Mapping[str, str]) -> None:
        self.started = time.monotonic()
        self._ready = threading.Event()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cloister", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=descriptors,
            env={**environment, DESCRIPTORS: ",".join(map(str, descriptors))},
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                if line == READY:
                    self._ready.set()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def wait_until_ready(self, is_stopping: Callable[[], bool]) -> bool:
        """Return when it answers requests; false if it, or the supervisor, ends before."""
        until = time.monotonic() + _SECONDS_TO_START
        while self.is_running and time.monotonic() < until and not is_stopping():
            if self._ready.wait(_LOOK_SECONDS):
                return True
        return False

    def stop(self) -> None:
        """Ask it to finish its requests and end."""
        if self.is_running:
            self.process.send_signal(signal.SIGTERM)

    def wait_until_ended(self, is_stopping: Callable[[], bool]) -> bool:
        """Wait for a process that was asked to end, which is killed if it does not; false if the supervisor ends before."""
        until = _deadline()
        while self.is_running and time.monotonic() < until:
            if is_stopping():
                return False
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_LOOK_SECONDS)
        self.join(until)
        return True

    def join(self, until: float | None = None) -> int:
        """Wait until it has ended, and return its status. At the time `until` it is killed: it has not ended by itself."""
        try:
            return self.process.wait(max(0.0, (_deadline() if until is None else until) - time.monotonic()))
        except subprocess.TimeoutExpired:
            log(logging.ERROR, "process did not end, and is killed", process=self.process.pid)
            self.process.kill()
            return self.process.wait()
        finally:
            assert self.process.stdin is not None
            self.process.stdin.close()


def _deadline() -> float:
    """By when a process that was asked to end now has to have ended."""
    return time.monotonic() + _SECONDS_TO_END


class Supervisor:
    """Keeps a number of processes running until a stop signal."""

    def __init__(self, listening: socket.socket, environment: Mapping[str, str], processes: int) -> None:
        listening.set_inheritable(True)
        self._buckets = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this process
        self._descriptors = (listening.fileno(), self._buckets.fileno())
        self._environment = environment
        self._count = processes
        self._children: list[_Child] = []
        self._exchanged: list[_Child] = []
        self._stopping = False
        self._replacing = False

    def run(self, on_ready: Callable[[], None]) -> None:
        """Run until a stop signal. Raises `ChildProcessError` if the processes cannot start."""
        for stop in stop_signals():
            signal.signal(stop, self._stop)
        signal.signal(signal.SIGHUP, self._replace)
        try:
            self._children = [self._start() for _ in range(self._count)]
            if not all(child.wait_until_ready(self._is_stopping) for child in self._children) and not self._stopping:
                raise ChildProcessError("A process of the server could not start; what it printed says why.")
            if not self._stopping:
                on_ready()
            while not self._stopping:
                time.sleep(_LOOK_SECONDS)
                self._look()
        finally:
            every = [*self._children, *self._exchanged]
            for child in every:
                child.stop()
            until = _deadline()
            for child in every:
                child.join(until)
            self._buckets.close()

    def _start(self) -> _Child:
        return _Child(self._descriptors, self._environment)

    def _is_stopping(self) -> bool:
        return self._stopping

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _replace(self, *_: object) -> None:
        self._replacing = True

    def _look(self) -> None:
        if self._replacing:
            self._replacing = False
            self._replace_all()
        for at, child in enumerate(self._children):
            if child.is_running or self._stopping:
                continue
            log(logging.ERROR, "process ended, and is started again", status=child.join())
            if time.monotonic() - child.started < _FEWEST_SECONDS_ALIVE:
                time.sleep(_PAUSE_SECONDS)
            self._children[at] = self._start()

    def _replace_all(self) -> None:
        """Replace one process after the other. A stop signal ends this; then the process that starts, or the one that ends, is left
        in `_exchanged` to be ended with the others."""
        for at, old in enumerate(self._children):
            new = self._start()
            self._exchanged = [new]
            if not new.wait_until_ready(self._is_stopping):
                if not self._stopping:
                    log(logging.ERROR, "new process could not start, the old ones stay")
                new.stop()
                if new.wait_until_ended(self._is_stopping):
                    self._exchanged = []
                return
            self._children[at], self._exchanged = new, [old]
            old.stop()
            if not old.wait_until_ended(self._is_stopping):
                return
            self._exchanged = []


@dataclass(frozen=True, kw_only=True, slots=True)
class Inherited:
    """What the processes of one supervisor have in common."""

    listening: socket.socket
    buckets: SharedBuckets


def inherited() -> Inherited | None:
    """What the supervisor has given to this process, or none if there is no supervisor."""
    given = inherited_descriptors()
    if given is None:
        return None
    listening, buckets = given
    return Inherited(listening=socket.socket(fileno=listening), buckets=SharedBuckets(buckets))


def end_with_supervisor() -> None:
    """Stop this process when the supervisor has ended."""

    def wait() -> None:
        with suppress(OSError):
            while os.read(
                sys.stdin.fileno(), 1
            ):  # not by its buffer, which this thread would hold when the process ends
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def report_ready() -> None:
    """Tell the supervisor that this process answers requests."""
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
