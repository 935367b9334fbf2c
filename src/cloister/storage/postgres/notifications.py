"""Events between the processes of one PostgreSQL database, by NOTIFY and LISTEN.

Behind a pooler in transaction mode nothing can be received: without the address of the server itself, changes are polled for, and
events still published for processes that have it.

Events are queued, and a sender thread publishes each batch in one small transaction that writes no rows. A NOTIFY inside each write
would serialise all commits of the database, because PostgreSQL takes a global lock for it. A subscriber has its own connection.

Every role that can connect may LISTEN and NOTIFY, so payloads are encrypted and authenticated (`notification_envelopes`). A payload
that is not, because it is forged or from an older version, causes at most one `reset` a minute.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence

from cloister.domain.errors import CloisterError, StorageError
from cloister.domain.events import Event, reset
from cloister.domain.identifiers import TenantId
from cloister.domain.timestamps import now
from cloister.storage.event_payloads import TenantEvents, packed, unpacked
from cloister.storage.event_sender import EventSender
from cloister.storage.notifications import OnEvents, PollingNotifier, Publisher
from cloister.storage.postgres.connections import Connections
from cloister.storage.postgres.driver import Connection, conninfo_to_dict, make_conninfo, psycopg
from cloister.storage.postgres.notification_envelopes import LARGEST_TEXT, Envelopes
from cloister.storage.postgres.row_security import TENANT_ROLE

LOGGER = logging.getLogger("cloister.events")
_LISTEN_SECONDS = 0.5
_RECONNECT_SECONDS = 1.0
_WAIT_SECONDS = 5.0
_FORGED_SECONDS = 60.0
# The channel is named by the schema, because another Cloister in the same database may have a tenant with the same id.
_CHANNEL = "'cloister_events_' || CAST(CAST(to_regnamespace(quote_ident(current_schema())) AS oid) AS text)"
_NOTIFY = f"SELECT count(pg_notify({_CHANNEL}, payload)) FROM unnest(CAST(%s AS text[])) AS payload".encode()
_OWN_CHANNEL = f"SELECT {_CHANNEL}".encode()
_SNAPSHOT = b"SELECT CAST(pg_current_snapshot() AS text)"
_KEY = b"SELECT secret FROM notification_key"
# TCP keepalive: a lost connection is noticed within half a minute.
_KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


class PostgresNotifier:
    """Publishes and receives events over NOTIFY and LISTEN. Starts no thread and no connection before it is used. If it `polls`,
    it receives none, and notices that transactions were committed."""

    def __init__(self, conninfo: str, connections: Connections, *, polls: bool) -> None:
        self.polls = polls
        self._poller = PollingNotifier(self._snapshot)
        self._conninfo = make_conninfo("", **{**_KEEPALIVE, **conninfo_to_dict(conninfo)})
        self._connections = connections
        self._origin = secrets.token_hex(8)
        self._stopping = threading.Event()
        self._sender = EventSender("cloister-notify", lambda batch: self._send(batch))
        self._listener: threading.Thread | None = None
        self._unsent: set[TenantId] = set()
        self._outgoing: Envelopes | None = None
        self._next_forged = 0.0

    @property
    def publisher(self) -> Publisher:
        return self

    @property
    def is_wanted(self) -> bool:
        """True: which other processes listen is not known."""
        return True

    def publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        self._sender.publish(tenant, events)

    def subscribe(
        self, on_events: OnEvents, on_missed: Callable[[], None], on_look: Callable[[], None] = lambda: None
    ) -> None:
        if self.polls:
            LOGGER.warning("behind a pooler, changes of other processes are polled for: set CLOISTER_POSTGRES_DIRECT")
            self._poller.subscribe(on_events, on_missed)
            return
        ready = threading.Event()
        self._listener = _started("cloister-listen", lambda: self._listen(on_events, on_missed, on_look, ready))
        # If the server cannot be reached now, `on_missed` is called once it can.
        ready.wait(_WAIT_SECONDS)

    def close(self) -> None:
        self._stopping.set()
        self._sender.close()
        self._poller.close()
        if self._listener is not None:
            self._listener.join(_WAIT_SECONDS)

    def _snapshot(self) -> str:
        """Which transactions are committed and which are not, which every write changes, also one of this process."""
        with self._connections.transaction("BEGIN READ ONLY") as connection:
            row = connection.execute(_SNAPSHOT).fetchone()
            assert row is not None
            return row[0]

    def _send(self, batch: Sequence[TenantEvents]) -> None:
        """Publish a batch. If it fails, its tenants get a `reset` with the next batch that is sent."""
        lost = [(tenant, [reset(now(), wide=True)]) for tenant in self._unsent]
        try:
            with self._connections.transaction("BEGIN") as connection:
                if self._outgoing is None:
                    self._outgoing = self._envelopes(connection)
                connection.execute(
                    _NOTIFY, [[*map(self._outgoing.seal, packed(self._origin, [*batch, *lost], LARGEST_TEXT))]]
                )
            self._unsent.clear()
        except CloisterError:
            self._unsent.update(tenant for tenant, _ in batch)

    def _listen(
        self, on_events: OnEvents, on_missed: Callable[[], None], on_look: Callable[[], None], ready: threading.Event
    ) -> None:
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._conninfo, autocommit=True) as connection:
                    envelopes = self._open(connection)
                    on_missed()
                    ready.set()
                    while not self._stopping.is_set():
                        self._receive(connection, envelopes, on_events, on_missed)
                        on_look()
            except (psycopg.Error, StorageError) as error:
                LOGGER.warning("listening was interrupted", extra={"fields": {"problem": type(error).__name__}})
                self._stopping.wait(_RECONNECT_SECONDS)

    def _open(self, connection: Connection) -> Envelopes:
        """LISTEN under the tenants' role, which sees no rows while no tenant is set: this connection only listens."""
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

    def _receive(
        self, connection: Connection, envelopes: Envelopes, on_events: OnEvents, on_missed: Callable[[], None]
    ) -> None:
        """Receive for half a second."""
        for notice in connection.notifies(timeout=_LISTEN_SECONDS):
            text = envelopes.open(notice.payload, lambda: self._note_forged(on_missed))
            received = [] if text is None else unpacked(text, self._origin)
            if received is None:
                on_missed()
            for tenant, events in received or ():
                on_events(tenant, events)

    def _note_forged(self, on_missed: Callable[[], None]) -> None:
        """Treat the payload as a missed event, since an older version may have sent it; at most once a minute, so that forged ones
        cannot cause load."""
        if time.monotonic() < self._next_forged:
            return
        self._next_forged = time.monotonic() + _FORGED_SECONDS
        LOGGER.warning("a notification that was not sealed with this database's key")
        on_missed()


def _started(name: str, work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread
