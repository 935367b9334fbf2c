"""The processes that serve one database over HTTP: each has a row with its address, by which the others find it, and a lock, which
ends with it.

A row says where a process was, not that it still is there: whoever asks it first demands a proof, made with the secret of the row.
"""

import hmac
import secrets
import socket
import time
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import cast
from urllib.parse import urlsplit

from cloister.domain.errors import StorageError
from cloister.domain.timestamps import Clock
from cloister.services.lease import new_lease_number
from cloister.storage.interface import Database, Row

CHALLENGE, PROOF = "x-cloister-challenge", "x-cloister-proof"
_BYTES = 32
_SECONDS_TO_ANSWER = 2.0
_LARGEST_HEAD = 1 << 14


class Presence(Enum):
    """What is at the address of a process."""

    HERE = "the process"
    GONE = "nothing, or another process"
    UNREACHABLE = "a network that refuses"
    SILENT = "no answer"


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """A process that serves, or has served, at an address."""

    id: int
    address: str
    secret: bytes = field(repr=False)

    def proof(self, challenge: str) -> str:
        """What only a process that knows the secret can answer."""
        return hmac.digest(self.secret, challenge.encode("utf-8", "surrogateescape"), "sha256").hex()

    def presence(self) -> Presence:
        """Ask at the address for a proof, for two seconds at most."""
        challenge = secrets.token_hex(16)
        try:
            head = self._answer_to(challenge, until=time.monotonic() + _SECONDS_TO_ANSWER)
        except ConnectionRefusedError:
            return Presence.GONE
        except TimeoutError:
            return Presence.SILENT
        except (OSError, ValueError):
            return Presence.UNREACHABLE
        if head is None:
            return Presence.SILENT
        lines = [line.partition(b":") for line in head.lower().split(b"\r\n")]
        given = next((value.strip() for name, _, value in lines if name == PROOF.encode()), b"")
        return Presence.HERE if hmac.compare_digest(given, self.proof(challenge).encode()) else Presence.GONE

    def _answer_to(self, challenge: str, *, until: float) -> bytes | None:
        """The status and headers that the address answers, or none if they do not come or do not end."""
        url = urlsplit(self.address)
        if url.hostname is None or url.port is None:
            raise ValueError(self.address)
        wanted = f"GET /livez HTTP/1.1\r\nHost: {url.netloc}\r\n{CHALLENGE}: {challenge}\r\nConnection: close\r\n\r\n"
        with socket.create_connection((url.hostname, url.port), _SECONDS_TO_ANSWER) as connection:
            connection.sendall(wanted.encode("ascii"))
            head = b""
            while b"\r\n\r\n" not in head:
                connection.settimeout(max(until - time.monotonic(), 0.001))
                try:
                    piece = connection.recv(4_096)
                except ConnectionError:
                    return None
                head += piece
                if not piece or len(head) > _LARGEST_HEAD or time.monotonic() > until:
                    return None
            return head.partition(b"\r\n\r\n")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """Which other processes had rows at the last look: those that were running, and those that were not."""

    running: Set[int] = frozenset()
    ended: Set[int] = frozenset()


class Processes:
    """Adds and finds rows of processes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._own: int | None = None

    def add(self, address: str) -> Process:
        """Add this process. Who had the address before is gone."""
        process = Process(id=new_lease_number(), address=address, secret=secrets.token_bytes(_BYTES))
        self._database.process_locks.take(process.id)
        maintenance = self._database.maintenance
        maintenance.write("delete_processes_of_address", address=address)
        maintenance.write(
            "insert_process",
            process_id=process.id,
            address=process.address,
            secret=process.secret,
            started_at=self._clock(),
        )
        self._own = process.id
        return process

    @property
    def own(self) -> int | None:
        """The number of this process, if the others notice its end."""
        return self._own if self._own is not None and self._database.process_locks.has(self._own) else None

    def others(self, own: Process) -> list[Process]:
        """All but this process, those that started last first."""
        return [process_of(row) for row in self._database.maintenance.rows("processes") if row[0] != own.id]

    def are_others_serving(self) -> bool:
        """Whether another process is known to serve the database, or was when it was last seen."""
        return any(row[0] != self._own for row in self._database.maintenance.rows("processes"))

    def ended_since(self, seen: "Seen") -> tuple[bool, "Seen"]:
        """Whether another process that serves the database has ended since the last look, and what is to be seen at the next look.
        One that lost its connection for a while counts as ended."""
        others = {cast(int, row[0]) for row in self._database.maintenance.rows("processes")} - {self._own}
        ended = self._database.process_locks.free(sorted(others)) if others else set[int]()
        now = Seen(running=others - ended, ended=frozenset(ended))
        return bool(ended - seen.ended or seen.running - others), now

    def has_ended(self, number: int) -> bool:
        """Whether this process has ended for certain: its lock is free, and nobody at its address has its secret. A lock alone may
        be free because the process lost its connection, and an address alone may refuse because the process is about to end."""
        if number == self._own or self._database.process_locks.is_taken(number) is not False:
            return False
        rows = self._database.maintenance.rows("process", process_id=number)
        return not rows or process_of(rows[0]).presence() is Presence.GONE

    def remove(self, process: Process) -> None:
        """Remove this process, which ends."""
        if process.id == self._own:
            self._own = None
        with suppress(StorageError):  # a database that is away must not keep a process from ending
            self._database.maintenance.write("delete_process", process_id=process.id)
        self._database.process_locks.release(process.id)

    def remove_gone(self, process: Process) -> None:
        """Remove a process that is not at its address, unless it is still running: it may be about to end."""
        with suppress(StorageError):
            if self._database.process_locks.is_taken(process.id) is not True:
                self._database.maintenance.write("delete_process", process_id=process.id)


def process_of(row: Row) -> Process:
    id, address, secret = row
    return Process(id=cast(int, id), address=cast(str, address), secret=bytes(cast(bytes, secret)))
