"""Events between the processes of one data directory, by datagrams to those that have subscribers.

Such a process has a socket in a folder of the data directory; whoever can write there could write the database. All are on one
machine, since the log of SQLite is in memory that they share. Nothing is stored, so there is nothing to forget.

A process that was killed may not have sent its last events, and where there are no such sockets none are sent. Therefore
`data_version` is polled too, and what changed without an event is looked for in the tables.
"""

import logging
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from cloister.domain.events import Event, reset
from cloister.domain.identifiers import TenantId
from cloister.domain.patterns import anchored
from cloister.domain.timestamps import now
from cloister.storage.event_payloads import TenantEvents, packed, unpacked
from cloister.storage.event_sender import EventSender
from cloister.storage.notifications import OnEvents, PollingNotifier, Publisher

LOGGER = logging.getLogger("cloister.events")
FOLDER = "events"
_LARGEST_BYTES = 60_000
_SECONDS_TO_SEND = 1.0
# A process that takes nothing is not asked again for so long.
_SECONDS_SKIPPED = 10.0
_SECONDS_TO_LISTEN = 1.0
_WAIT_SECONDS = 5.0
_SOCKET = anchored(r"[0-9a-f]{16}\.socket")
_LONGEST_PATH = 100
# A file system may give two changes of a folder the same time, so a list is used again only if the change before it is older.
_SETTLED_NANOSECONDS = 1_000_000_000


class SqliteNotifier:
    """Publishes events to the sockets of other processes, and receives theirs at its own. Starts no thread before it is used."""

    polls = True

    def __init__(self, directory: Path, data_version: Callable[[], object]) -> None:
        self._folder = directory / FOLDER
        self._text = str(self._folder)
        self._name = f"{token_hex(8)}.socket"
        self._poller = PollingNotifier(data_version)
        self._sender = EventSender("cloister-notify", self._send)
        self._stopping = threading.Event()
        self._receiver: threading.Thread | None = None
        self._others: list[str] = []
        self._listed: int | None = None
        self._descriptor: int | None = None
        self._unsent: dict[str, set[TenantId]] = {}
        self._skipped_until: dict[str, float] = {}

    @property
    def publisher(self) -> Publisher:
        return self

    @property
    def is_wanted(self) -> bool:
        return bool(self._listening())

    def publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        self._sender.publish(tenant, events)

    def subscribe(
        self, on_events: OnEvents, on_missed: Callable[[], None], on_look: Callable[[], None] = lambda: None
    ) -> None:
        try:
            bound = self._bound()
        except OSError as error:
            LOGGER.warning("events of other processes are polled for", extra={"fields": {"problem": str(error)}})
        else:
            self._receiver = threading.Thread(
                target=self._receive, args=(bound, on_events), name="cloister-listen", daemon=True
            )
            self._receiver.start()
        self._poller.subscribe(on_events, on_missed, on_look)

    def close(self) -> None:
        self._sender.close()
        self._poller.close()
        self._stopping.set()
        if self._receiver is not None:
            with suppress(OSError), self._outgoing() as outgoing:
                outgoing.sendto(b"", self._address(self._name))
            self._receiver.join(_WAIT_SECONDS)
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _listening(self) -> list[str]:
        """The sockets of other processes. Called for every event, so the folder is listed only when it has changed."""
        if not os.access(self._text, os.F_OK):  # which costs a tenth of the exception of `stat`
            return []
        try:
            changed = os.stat(self._text).st_mtime_ns  # noqa: PTH116 - half the time of `Path.stat`
        except OSError:
            return []
        if changed != self._listed:
            with suppress(OSError):
                names = os.listdir(self._text)  # noqa: PTH208 - only names
                self._others = [name for name in names if _SOCKET.fullmatch(name) and name != self._name]
                self._listed = changed if time.time_ns() - changed > _SETTLED_NANOSECONDS else None
        return self._others

    def _bound(self) -> socket.socket:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        found = self._folder.stat()
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"{self._text} is not ours alone: what others send there would be believed")
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        bound.settimeout(_SECONDS_TO_LISTEN)
        try:
            bound.bind(self._address(self._name))
        except OSError:
            bound.close()
            raise
        return bound

    def _address(self, name: str) -> str:
        """The path of a socket, which may have some hundred bytes. A longer one is named by its open folder, where that works."""
        path = self._folder / name
        if len(os.fsencode(path)) <= _LONGEST_PATH:
            return str(path)
        if self._descriptor is None:
            self._descriptor = os.open(self._folder, os.O_RDONLY)
        return f"/proc/self/fd/{self._descriptor}/{name}"

    def _outgoing(self) -> socket.socket:
        outgoing = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        outgoing.settimeout(_SECONDS_TO_SEND)
        return outgoing

    def _send(self, batch: Sequence[TenantEvents]) -> None:
        """Send a batch to every socket. If one takes none, its tenants get a `reset` later; the socket of a process that was killed
        is removed."""
        payloads = [text.encode() for text in packed(self._name, batch, _LARGEST_BYTES)]
        listening = self._listening()
        for table in (self._unsent, self._skipped_until):
            for ended in table.keys() - set(listening):
                del table[ended]
        for name in listening:
            unsent = self._unsent.setdefault(name, set())
            if time.monotonic() < self._skipped_until.get(name, 0.0):
                unsent.update(tenant for tenant, _ in batch)
                continue
            lost = [(tenant, [reset(now(), wide=True)]) for tenant in unsent]
            try:
                # Connected, so that it waits for a full receiver: sending by address would ask again and again without a pause.
                with self._outgoing() as outgoing:
                    outgoing.connect(self._address(name))
                    for text in packed(self._name, lost, _LARGEST_BYTES):
                        outgoing.send(text.encode())
                    for payload in payloads:
                        outgoing.send(payload)
                self._unsent.pop(name, None)
            except (ConnectionRefusedError, FileNotFoundError):
                self._unsent.pop(name, None)
                with suppress(OSError):
                    (self._folder / name).unlink(missing_ok=True)
            except OSError:
                self._unsent[name] = {tenant for tenant, _ in (*batch, *lost)}
                self._skipped_until[name] = time.monotonic() + _SECONDS_SKIPPED

    def _receive(self, bound: socket.socket, on_events: OnEvents) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    text = bound.recv(2 * _LARGEST_BYTES).decode(errors="replace")
                except TimeoutError:
                    continue
                for tenant, events in unpacked(text, self._name) or ():
                    on_events(tenant, events)
        finally:
            (self._folder / self._name).unlink(missing_ok=True)
            bound.close()
