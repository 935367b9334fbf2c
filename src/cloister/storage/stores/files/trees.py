"""The files of Anthropic's memory tool. They belong to a session that the caller found through `SessionStore`, in one pool."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.files.tree import Change, Moved, Path, Stored, from_stored, stored_path
from cloister.domain.identifiers import PoolId, SessionId
from cloister.domain.prompts.recalled_text import QUOTATION_STAYED, own_words
from cloister.storage.interface import Transaction


class FileStore:
    """The tree of one session in one pool: the files that it stored while it was in another pool are not found (ISO-12)."""

    def __init__(self, transaction: Transaction, session: SessionId, pool: PoolId) -> None:
        self._transaction = transaction
        self._session = session
        self._pool = pool

    def sizes(self) -> dict[Path, int | None]:
        """All files with their sizes in bytes, and all directories with None."""
        rows = self._transaction.rows("file_sizes", session_id=self._session, pool_id=self._pool)
        return {from_stored(path): size for path, size in cast(list[tuple[str, int | None]], rows)}

    def text(self, path: Path) -> str:
        row = self._transaction.row(
            "file_content", session_id=self._session, pool_id=self._pool, path=stored_path(path)
        )
        return "" if row is None else cast(str, row[0])

    def apply(self, changes: Sequence[Change], now: int) -> None:
        """Store what commands have changed, in order."""
        for change in changes:
            named = {"session_id": self._session, "pool_id": self._pool, "path": stored_path(change.path)}
            if isinstance(change, Stored):
                size = 0 if change.text is None else len(change.text.encode())
                stored = {**named, "size": size, "content": change.text, "updated_at": now}
                if not self._transaction.execute("update_file", **stored):
                    self._transaction.execute("insert_file", **stored)
            elif isinstance(change, Moved):
                self._transaction.execute("move_file", **named, target=stored_path(change.target))
            else:
                self._transaction.execute("delete_file", **named)

    def move_to(self, target: "FileStore", directory: str) -> None:
        """Move the whole tree of a session to another pool, into a new directory if one is named."""
        self._transaction.execute(
            "move_tree",
            session_id=self._session,
            pool_id=self._pool,
            target_id=target._pool,
            directory=f"{directory}/" if directory else "",
        )

    def remove_quotations(self) -> None:
        """Take recalled text out of the files that quote it, as it is taken out of replies (ISO-12)."""
        for path, size in self.sizes().items():
            text = self.text(path) if size else ""
            own = own_words(text)
            if own != text:
                kept = own or QUOTATION_STAYED
                self._transaction.execute(
                    "set_file_content",
                    session_id=self._session,
                    pool_id=self._pool,
                    path=stored_path(path),
                    size=len(kept.encode()),
                    content=kept,
                )


def remove_files(transaction: Transaction, session: SessionId) -> int:
    """Remove all files of a session, in whichever pool they were stored; returns how many. Directories are not counted."""
    files = count_files_of_session(transaction, session)
    transaction.execute("delete_files_of_session", session_id=session)
    return files


def count_files_of_session(transaction: Transaction, session: SessionId) -> int:
    return cast(int, transaction.rows("count_files_of_session", session_id=session)[0][0])


def count_files(transaction: Transaction) -> int:
    """How many files the tenant has, for its quota. Directories are not counted."""
    return cast(int, transaction.rows("count_files")[0][0])


def remove_old_files(transaction: Transaction, session: SessionId, before: int) -> int:
    """Remove the files of a session that were not changed since then; directories stay."""
    return transaction.execute("delete_old_files", session_id=session, before=before)
