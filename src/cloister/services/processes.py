"""The processes that serve one database over HTTP: each has a row with its address, by which the others find it.

A row says where a process was, not that it still is there: whoever asks it first demands a proof, made with the secret of the row.
"""

import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from cloister.domain.errors import StorageError
from cloister.domain.timestamps import Clock
from cloister.services.lease import new_lease_number
from cloister.storage.interface import Database

_BYTES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """A process that serves, or has served, at an address."""

    id: int
    address: str
    secret: bytes = field(repr=False)

    def proof(self, challenge: str) -> str:
        """What only a process that knows the secret can answer."""
        return hmac.digest(self.secret, challenge.encode("utf-8", "surrogateescape"), "sha256").hex()


class Processes:
    """Adds and finds rows of processes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, address: str) -> Process:
        """Add this process. Who had the address before is gone."""
        process = Process(id=new_lease_number(), address=address, secret=secrets.token_bytes(_BYTES))
        maintenance = self._database.maintenance
        maintenance.write("delete_processes_of_address", address=address)
        maintenance.write(
            "insert_process",
            process_id=process.id,
            address=process.address,
            secret=process.secret,
            started_at=self._clock(),
        )
        return process

    def others(self, own: Process) -> list[Process]:
        """All but this process, those that started last first."""
        return [
            Process(id=cast(int, id), address=cast(str, address), secret=bytes(cast(bytes, secret)))
            for id, address, secret in self._database.maintenance.rows("processes")
            if id != own.id
        ]

    def remove(self, process: Process) -> None:
        """Remove a process that ends, or that is gone."""
        with suppress(StorageError):  # a database that is away must not keep a process from ending
            self._database.maintenance.write("delete_process", process_id=process.id)
