"""The changes that people made of one memory, and the change itself (MEM-13)."""

import json
from typing import Any, cast

from cloister.domain.identifiers import MemoryId, RevisionId, new_revision_id
from cloister.domain.memory import Memory
from cloister.domain.truth.revision import MemoryState, Revision, RevisionAction, state_from_json
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction
from cloister.storage.stores.memories import thousandths


class RevisionStore:
    """The revisions of one memory, which the caller found through `MemoryStore`."""

    def __init__(self, transaction: Transaction, memory: MemoryId) -> None:
        self._transaction = transaction
        self._memory = memory

    def add(
        self, action: RevisionAction, before: MemoryState, *, by: str | None, at: int, replaced: bytes | None = None
    ) -> None:
        """Record a change. `replaced` is the digest of the text before, if the text was changed."""
        self._transaction.execute(
            "insert_memory_revision",
            revision_id=new_revision_id(),
            memory_id=self._memory,
            action=action,
            changed_at=at,
            changed_by=by,
            digest=replaced,
            before=before.as_json(),
        )

    def page(self, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[Revision]:
        """A page of changes, oldest first; `after` is the (changed_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "memory_revisions",
            memory_id=self._memory,
            limit=limit,
            after_changed_at=after[0],
            after_revision_id=after[1],
        )
        return [self._revision(row) for row in rows]

    def last(self) -> Revision | None:
        """The last change that was not undone, other than the undoing of one."""
        row = self._transaction.row("last_memory_revision", memory_id=self._memory)
        return None if row is None else self._revision(row)

    def replaced(self) -> list[bytes]:
        """The digests of the texts that people replaced."""
        rows = self._transaction.rows("replaced_digests", memory_id=self._memory)
        return [cast(bytes, row[0]) for row in rows]

    def set_undone(self, revision: RevisionId, at: int) -> None:
        self._transaction.execute("set_revision_undone", memory_id=self._memory, revision_id=revision, undone_at=at)

    def set_state(self, memory: Memory, state: MemoryState, digest: bytes | None) -> None:
        """Give the memory another state. Without a `digest` its digest stays, as its text does."""
        self._transaction.execute(
            "change_memory",
            session_id=memory.session,
            memory_id=self._memory,
            importance=thousandths(state.importance),
            expires_at=state.expires_at,
            pinned=int(state.pinned),
            categories=json.dumps(state.categories, ensure_ascii=False),
            metadata=json.dumps(state.metadata, ensure_ascii=False),
            source=state.source,
            retracted_at=state.retracted_at,
        )
        if digest is not None:
            self._transaction.execute(
                "set_memory_text",
                session_id=memory.session,
                memory_id=self._memory,
                content=state.content,
                subject=state.subject,
                digest=digest,
            )

    def _revision(self, row: Row) -> Revision:
        revision, action, changed_at, changed_by, undone_at, before = cast(tuple[Any, ...], row)
        return Revision(
            id=RevisionId(revision),
            memory=self._memory,
            action=action,
            changed_at=changed_at,
            changed_by=changed_by,
            undone_at=undone_at,
            before=state_from_json(before),
        )
