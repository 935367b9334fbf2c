"""The rows of a tenant that have text, with their checksums: read as bytes, compared, and set aside where they differ."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from cloister.domain.conversation import ROLES
from cloister.domain.identifiers import MessageId, SessionId, format_memory_id, format_message_id
from cloister.domain.maintenance.checksum import bytes_checksum, text_checksum
from cloister.storage.interface import Row, Transaction, Value

BLANK = "[This message was damaged, and set aside.]"
_BLANK_TOKENS = 10
# The parameters that name a row, in the order of the key columns that the queries of the table return.
KEYS: Mapping[str, tuple[str, ...]] = {
    "message": ("message_id",),
    "memory": ("memory_id",),
    "observation": ("observation_id",),
    "session_item": ("message_id", "position"),
    "memory_file": ("session_id", "pool_id", "path"),
    "entry": ("entry_id",),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TextRow:
    """A row with text. `key` names it in its table; `texts` are bytes, because a damaged text may be none."""

    table: str
    session: SessionId | None
    checksum: int | None
    key: tuple[int | bytes, ...]
    texts: tuple[bytes | None, ...]

    @property
    def is_damaged(self) -> bool:
        return self.checksum is not None and self.checksum != self.computed

    @property
    def computed(self) -> int:
        return bytes_checksum(*self.key, *self.texts)

    @property
    def id(self) -> str:
        """The key as people and the API write it."""
        first = self.key[0]
        if self.table == "message":
            return format_message_id(MessageId(cast(int, first)))
        if self.table == "memory":
            return format_memory_id(cast(int, first))  # pyright: ignore[reportArgumentType]
        return "/".join(
            part.decode("utf-8", "backslashreplace") if isinstance(part, bytes) else str(part) for part in self.key
        )

    @property
    def parameters(self) -> dict[str, Value]:
        """The key as parameters of the table's queries."""
        named = zip(KEYS[self.table], self.key, strict=True)
        return {name: part.decode("utf-8", "replace") if isinstance(part, bytes) else part for name, part in named}


class TextRowStore:
    """The rows with text of the whole tenant. Transactions of a narrower reach are refused."""

    def __init__(self, transaction: Transaction) -> None:
        if not transaction.reach.is_whole_tenant:
            raise ValueError("rows outside the transaction's reach")
        self._transaction = transaction

    def all(self, table: str) -> Iterator[TextRow]:
        """Every row of a table, one by one."""
        for row in _QUERIES[table].texts(self._transaction):
            yield _text_row(table, row)

    def fill(self, table: str, limit: int) -> int:
        """Compute the checksums of some rows that have none; returns how many."""
        rows = [_text_row(table, row) for row in _QUERIES[table].unsummed(self._transaction, limit)]
        _QUERIES[table].set_checksums(self._transaction, [{**row.parameters, "checksum": row.computed} for row in rows])
        return len(rows)

    def locked(self, row: TextRow) -> TextRow | None:
        """The row as it is now, locked until the transaction ends; None if it was removed."""
        found = _QUERIES[row.table].locked(self._transaction, row.parameters)
        return None if found is None else _text_row(row.table, found)

    def session_name(self, session: SessionId) -> str | None:
        """The external id of a session; None if it was deleted."""
        row = self._transaction.row("session_external_id", session_id=session)
        return None if row is None else cast(str | None, row[0])

    def blank_message(self, row: TextRow) -> None:
        """Replace a damaged message by a sentence that says so. It keeps its number, and is not recalled."""
        given = row.texts[0] or b""
        role = next((role for role in ROLES if role.encode() == given), "user")
        checksum = text_checksum(cast(int, row.key[0]), role, None, "{}", BLANK, "[]")
        self._transaction.execute(
            "blank_message",
            **row.parameters,
            role=role,
            content=BLANK,
            tokens=_BLANK_TOKENS,
            vector=b"",
            terms=b"",
            checksum=checksum,
        )

    def remove(self, row: TextRow) -> int:
        """Remove a row that nothing else points at: all but messages and memories, of which 0 are removed."""
        session: dict[str, Value] = {} if row.session is None else {"session_id": row.session}
        return _QUERIES[row.table].remove(self._transaction, {**session, **row.parameters})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Queries:
    """The queries of one table."""

    texts: Callable[[Transaction], Iterator[Row]]
    unsummed: Callable[[Transaction, int], list[Row]]
    locked: Callable[[Transaction, dict[str, Value]], Row | None]
    set_checksums: Callable[[Transaction, list[dict[str, Value]]], None]
    remove: Callable[[Transaction, dict[str, Value]], int] = lambda _, key: 0


_QUERIES: Mapping[str, _Queries] = {
    "message": _Queries(
        texts=lambda transaction: transaction.stream("texts_of_message"),
        unsummed=lambda transaction, limit: transaction.rows("unsummed_message", limit=limit),
        locked=lambda transaction, key: transaction.row("locked_message", **key),
        set_checksums=lambda transaction, rows: transaction.execute_each("set_checksum_of_message", rows),
    ),
    "memory": _Queries(
        texts=lambda transaction: transaction.stream("texts_of_memory"),
        unsummed=lambda transaction, limit: transaction.rows("unsummed_memory", limit=limit),
        locked=lambda transaction, key: transaction.row("locked_memory", **key),
        set_checksums=lambda transaction, rows: transaction.execute_each("set_checksum_of_memory", rows),
    ),
    "observation": _Queries(
        texts=lambda transaction: transaction.stream("texts_of_observation"),
        unsummed=lambda transaction, limit: transaction.rows("unsummed_observation", limit=limit),
        locked=lambda transaction, key: transaction.row("locked_observation", **key),
        set_checksums=lambda transaction, rows: transaction.execute_each("set_checksum_of_observation", rows),
        remove=lambda transaction, key: transaction.execute("remove_observation_row", **key),
    ),
    "session_item": _Queries(
        texts=lambda transaction: transaction.stream("texts_of_session_item"),
        unsummed=lambda transaction, limit: transaction.rows("unsummed_session_item", limit=limit),
        locked=lambda transaction, key: transaction.row("locked_session_item", **key),
        set_checksums=lambda transaction, rows: transaction.execute_each("set_checksum_of_session_item", rows),
        remove=lambda transaction, key: transaction.execute("delete_item", **key),
    ),
    "memory_file": _Queries(
        texts=lambda transaction: transaction.stream("texts_of_memory_file"),
        unsummed=lambda transaction, limit: transaction.rows("unsummed_memory_file", limit=limit),
        locked=lambda transaction, key: transaction.row("locked_memory_file", **key),
        set_checksums=lambda transaction, rows: transaction.execute_each("set_checksum_of_memory_file", rows),
        remove=lambda transaction, key: transaction.execute("delete_file", **key),
    ),
    "entry": _Queries(
        texts=lambda transaction: transaction.stream("texts_of_entry"),
        unsummed=lambda transaction, limit: transaction.rows("unsummed_entry", limit=limit),
        locked=lambda transaction, key: transaction.row("locked_entry", **key),
        set_checksums=lambda transaction, rows: transaction.execute_each("set_checksum_of_entry", rows),
        remove=lambda transaction, key: transaction.execute("remove_entry_row", **key),
    ),
}


def _text_row(table: str, row: Row) -> TextRow:
    session, checksum, *rest = row
    keys = len(KEYS[table])
    return TextRow(
        table=table,
        session=None if session is None else SessionId(cast(int, session)),
        checksum=cast(int | None, checksum),
        key=tuple(_part(part) for part in rest[:keys]),
        texts=cast(tuple[bytes | None, ...], tuple(rest[keys:])),
    )


def _part(part: Value) -> int | bytes:
    return part if isinstance(part, int) else bytes(cast(bytes, part))
