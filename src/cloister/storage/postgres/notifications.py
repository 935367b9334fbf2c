"""Events between the processes of one PostgreSQL database, by NOTIFY and LISTEN.

Writers do not wait for it: a thread gathers what was told and sends it in one small transaction, which writes nothing. A NOTIFY
inside each write would make all commits of the database follow one another. Whoever listens has a connection of its own.

Every role that can connect may LISTEN and NOTIFY, so what is sent is sealed (`notification_envelopes`). What was not, because it is
forged or an older version's, costs at most one `reset` a minute.
"""

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from cloister.domain.errors import CloisterError, StorageError
from cloister.domain.events import Event, reset
from cloister.domain.identifiers import TenantId
from cloister.domain.timestamps import now
from cloister.storage.notifications import Heard
from cloister.storage.postgres.connections import Connection, Connections, conninfo_to_dict, make_conninfo, psycopg
from cloister.storage.postgres.notification_envelopes import LARGEST_TEXT, Envelopes
from cloister.storage.postgres.row_security import TENANT_ROLE

LOGGER = logging.getLogger("cloister.events")
_GATHER_SECONDS = 0.02
_NOTICE_SECONDS = 0.5
_AFTER_TROUBLE_SECONDS = 1.0
_PATIENCE_SECONDS = 5.0
_FORGED_SECONDS = 60.0
_FORM = 1
# By the schema too: another Cloister in the same database may have a tenant of the same number.
_CHANNEL = "'cloister_events_' || CAST(CAST(to_regnamespace(quote_ident(current_schema())) AS oid) AS text)"
_NOTIFY = f"SELECT count(pg_notify({_CHANNEL}, payload)) FROM unnest(CAST(%s AS text[])) AS payload".encode()
_OWN_CHANNEL = f"SELECT {_CHANNEL}".encode()
_KEY = b"SELECT secret FROM notification_key"
# A server that is gone without a word is noticed within half a minute.
_KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}

_Told = tuple[TenantId, Sequence[Event]]


class PostgresNotifier:
    """Starts no thread and no connection before it is used."""

    publishes = True

    def __init__(self, conninfo: str, connections: Connections) -> None:
        self._conninfo = make_conninfo("", **{**_KEEPALIVE, **conninfo_to_dict(conninfo)})
        self._connections = connections
        self._origin = secrets.token_hex(8)
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._told: SimpleQueue[_Told | None] = SimpleQueue()
        self._sender: threading.Thread | None = None
        self._listener: threading.Thread | None = None
        self._untold: set[TenantId] = set()
        self._outgoing: Envelopes | None = None
        self._next_forged = 0.0

    def publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        self._told.put((tenant, events))
        if self._sender is None:
            with self._lock:
                if self._sender is None and not self._stopping.is_set():
                    self._sender = _started("cloister-notify", self._keep_sending)

    def subscribe(self, heard: Heard, missed: Callable[[], None]) -> None:
        ready = threading.Event()
        self._listener = _started("cloister-listen", lambda: self._keep_listening(heard, missed, ready))
        # Where the server cannot be reached now, `missed` is called as soon as it can.
        ready.wait(_PATIENCE_SECONDS)

    def close(self) -> None:
        with self._lock:
            self._stopping.set()
            self._told.put(None)
        for thread in (self._sender, self._listener):
            if thread is not None:
                thread.join(_PATIENCE_SECONDS)

    def _keep_sending(self) -> None:
        while (first := self._told.get()) is not None:
            self._stopping.wait(_GATHER_SECONDS)
            told, is_last = self._gathered(first)
            self._send(told)
            if is_last:
                return

    def _gathered(self, first: _Told) -> tuple[list[_Told], bool]:
        told = [first]
        while True:
            try:
                following = self._told.get_nowait()
            except Empty:
                return told, False
            if following is None:
                return told, True
            told.append(following)

    def _send(self, told: Sequence[_Told]) -> None:
        """What could not be sent is made good by a `reset` with the next that can."""
        lost = [(tenant, [reset(now(), wide=True)]) for tenant in self._untold]
        try:
            with self._connections.transaction("BEGIN") as connection:
                if self._outgoing is None:
                    self._outgoing = self._envelopes(connection)
                connection.execute(_NOTIFY, [[*map(self._outgoing.close, packed(self._origin, [*told, *lost]))]])
            self._untold.clear()
        except CloisterError:
            self._untold.update(tenant for tenant, _ in told)

    def _keep_listening(self, heard: Heard, missed: Callable[[], None], ready: threading.Event) -> None:
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._conninfo, autocommit=True) as connection:
                    envelopes = self._open(connection)
                    missed()
                    ready.set()
                    self._hear(connection, envelopes, heard, missed)
            except (psycopg.Error, StorageError) as error:
                LOGGER.warning("listening was interrupted", extra={"fields": {"problem": type(error).__name__}})
                self._stopping.wait(_AFTER_TROUBLE_SECONDS)

    def _open(self, connection: Connection) -> Envelopes:
        """Under the role that sees nothing where no tenant is named: this connection only listens."""
        connection.execute(f"SET ROLE {TENANT_ROLE}".encode())
        row = connection.execute(_OWN_CHANNEL).fetchone()
        assert row is not None
        envelopes = self._envelopes(connection)
        connection.execute(f'LISTEN "{row[0]}"'.encode())
        return envelopes

    def _envelopes(self, connection: Connection) -> Envelopes:
        row = connection.execute(_KEY).fetchone()
        if row is None:
            raise StorageError(
                "The table notification_key is empty: restore it, or open the database once as its owner."
            )
        return Envelopes(bytes(row[0]), self._origin, now)

    def _hear(self, connection: Connection, envelopes: Envelopes, heard: Heard, missed: Callable[[], None]) -> None:
        while not self._stopping.is_set():
            for notice in connection.notifies(timeout=_NOTICE_SECONDS):
                text = envelopes.open(notice.payload, lambda: self._note_forged(missed))
                told = [] if text is None else unpacked(text, self._origin)
                if told is None:
                    missed()
                for tenant, events in told or ():
                    heard(tenant, events)

    def _note_forged(self, missed: Callable[[], None]) -> None:
        """It may be an older version that told of something; whoever sends more of it wakes nobody more often."""
        if time.monotonic() < self._next_forged:
            return
        self._next_forged = time.monotonic() + _FORGED_SECONDS
        LOGGER.warning("a notification that was not sealed with this database's key")
        missed()


def packed(origin: str, told: Iterable[_Told]) -> Iterator[str]:
    """As few payloads as hold all, in order."""
    head = json.dumps([_FORM, origin])[:-1]
    entries: list[str] = []
    size = 0
    for tenant, events in told:
        for event in events:
            entry = json.dumps([tenant, *event], ensure_ascii=False, separators=(",", ":"))
            if entries and size + len(entry.encode()) + 1 > LARGEST_TEXT - len(head) - 1:
                yield f"{head},{','.join(entries)}]"
                entries, size = [], 0
            entries.append(entry)
            size += len(entry.encode()) + 1
    if entries:
        yield f"{head},{','.join(entries)}]"


def unpacked(payload: str, own: str) -> list[_Told] | None:
    """What another process said, nothing where it was ourselves; none where it cannot be read, because it is of another version."""
    try:
        form, origin, *entries = json.loads(payload)
        if origin == own:
            return []
        if form != _FORM:
            return None
        return [(tenant, [_event(*fields)]) for tenant, *fields in entries]
    except (ValueError, TypeError, RecursionError):
        return None


def _event(*fields: Any) -> Event:
    if len(fields) != len(Event._fields):
        raise ValueError("an event of another form")
    return Event(*fields)


def _started(name: str, work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread
