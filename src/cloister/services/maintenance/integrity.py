"""Check the text of every row against its checksum, and set damaged rows aside, so that everything else can be read (OPS-1)."""

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

from cloister.domain.conversation import Session
from cloister.domain.errors import NotFound, StorageError
from cloister.domain.identifiers import MemoryId, MessageId, TenantId, format_tenant_id
from cloister.domain.maintenance.backup import StepProgress, no_progress
from cloister.domain.maintenance.damage import DamagedText, RowCheck
from cloister.domain.scope import Reach
from cloister.services.conversations.forget import Forgetting
from cloister.services.events.bus import EventBus
from cloister.storage.backup_file import whole_file
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.integrity.text_rows import KEYS, TextRow, TextRowStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore

_ROWS_A_BATCH = 500
_ROWS_A_REPORT = 1_000


class RowIntegrity:
    """Reads the rows of one tenant at a time, in a transaction of that tenant."""

    def __init__(self, database: Database, forgetting: Forgetting, events: EventBus, generation: int) -> None:
        self._database = database
        self._forgetting = forgetting
        self._events = events
        self._generation = generation

    def fill(self) -> int:
        """Compute the checksums of some rows that have none yet; returns how many. 0 means that there are no more."""
        done = 0
        for (tenant,) in cast(list[tuple[int]], self._database.maintenance.rows("tenants_without_checksums")):
            reach = Reach(tenant=TenantId(tenant))
            done += self._database.write(reach, _fill_some)
        return done

    def check(self, *, set_aside: Path | None = None, progress: StepProgress = no_progress) -> RowCheck:
        """Read every row with text. With `set_aside`, damaged rows are copied to that new file, as JSON lines, and then taken out
        of the database: a message is replaced by a sentence that says so, other rows are removed."""
        (counts,) = self._database.maintenance.rows("count_texts")
        total = sum(cast(tuple[int, ...], counts))
        rows = unchecked = 0
        damaged: list[tuple[Reach, TextRow]] = []
        unreadable: list[str] = []
        for (tenant,) in cast(list[tuple[int]], self._database.maintenance.rows("tenant_ids")):
            reach = Reach(tenant=TenantId(tenant))
            for table in KEYS:
                try:
                    for row in self._rows(reach, table):
                        rows += 1
                        unchecked += row.checksum is None
                        if row.is_damaged:
                            damaged.append((reach, row))
                        if rows % _ROWS_A_REPORT == 0:
                            progress("reading rows", rows, max(rows, total))
                except StorageError as error:
                    unreadable.append(f"{table}: not all rows of {format_tenant_id(reach.tenant)} can be read. {error}")
        progress("reading rows", rows, rows)
        found = [(reach, row, self._named(reach, row)) for reach, row in damaged]
        if set_aside is not None and found:
            _write(set_aside, [(row, named) for _, row, named in found])
            found = [(reach, row, self._set_aside(reach, row, named)) for reach, row, named in found]
            self._forgetting.clean_up()
        return RowCheck(
            rows=rows,
            unchecked=unchecked,
            damaged=tuple(named for _, _, named in found),
            unreadable=tuple(unreadable),
            file=str(set_aside) if set_aside is not None and found else None,
        )

    def _rows(self, reach: Reach, table: str) -> Iterator[TextRow]:
        with self._database.read(reach) as transaction:
            yield from TextRowStore(transaction).all(table)

    def _named(self, reach: Reach, row: TextRow) -> DamagedText:
        with self._database.read(reach) as transaction:
            name = None if row.session is None else TextRowStore(transaction).session_name(row.session)
        return DamagedText(table=row.table, id=row.id, tenant_id=format_tenant_id(reach.tenant), session_id=name)

    def _set_aside(self, reach: Reach, row: TextRow, named: DamagedText) -> DamagedText:
        def work(transaction: Transaction) -> tuple[bool, Session | None]:
            store = TextRowStore(transaction)
            session = None if named.session_id is None else SessionStore(transaction).lock(named.session_id).session
            now = store.locked(row)
            if now is None or not now.is_damaged:
                return False, None
            if row.table == "message" and session is not None:
                store.blank_message(row)
                version = PoolStore(transaction, self._generation).raise_version(session.pool)
                SessionStore(transaction).note_removal(session.id, removed=0, version=version)
                self._forgetting.note_removal(transaction, session.id, MessageId(cast(int, row.key[0])))
            elif row.table == "memory" and session is not None:
                self._forgetting.remove_memories(transaction, session, [MemoryId(cast(int, row.key[0]))])
            elif not store.remove(row):
                return False, None
            return True, session

        is_done, session = False, None
        with suppress(NotFound):
            is_done, session = self._database.write(reach, work)
        if session is not None:
            self._events.changed(session)
        return replace(named, set_aside=is_done)


def _fill_some(transaction: Transaction) -> int:
    return sum(TextRowStore(transaction).fill(table, _ROWS_A_BATCH) for table in KEYS)


def _write(target: Path, rows: Sequence[tuple[TextRow, DamagedText]]) -> None:
    """Write the raw bytes of damaged rows, before they are taken out of the database."""
    with whole_file(target) as partial, partial.open("w", encoding="utf-8") as file:
        for row, named in rows:
            texts = [None if text is None else base64.b64encode(text).decode() for text in row.texts]
            line = {
                "table": named.table,
                "id": named.id,
                "tenant_id": named.tenant_id,
                "session_id": named.session_id,
                "checksum": row.checksum,
                "texts_base64": texts,
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
