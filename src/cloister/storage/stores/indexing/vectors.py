"""The vectors of additional embedders: which messages need one, and writing them. A pool is read for search by `PoolVectors`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from cloister.domain.identifiers import MessageId, PoolId, SessionId
from cloister.storage.interface import Row, Transaction
from cloister.storage.stores.messages import span

_PAGE = 100
_LAST_SESSION = (1 << 63) - 1


class EmbeddingClaim(NamedTuple):
    """The version of a pool that is leased, and the version up to which it was embedded before; -1 for nothing."""

    version: int
    embedded_version: int


class VectorStore:
    """The vectors of one model. Additions raise the pool's `vectors_version`, not its version: nothing that was said changes."""

    def __init__(self, transaction: Transaction, model: int) -> None:
        self._transaction = transaction
        self._model = model

    def claim(self, pool: PoolId, *, now: int, until: int) -> EmbeddingClaim | None:
        """Lease a pool; None if another process is embedding it, or it was removed."""
        row = self._transaction.row("claim_pool_embedding", pool_id=pool, model_id=self._model, now=now, until=until)
        return None if row is None else EmbeddingClaim(*cast(tuple[int, int], row))

    def release(self, pool: PoolId, embedded_version: int) -> None:
        """End the lease, and record the version of the pool up to which it is embedded."""
        self._transaction.execute(
            "release_pool_embedding", pool_id=pool, model_id=self._model, version=embedded_version
        )

    def sessions_to_embed(self, pool: PoolId, since: int) -> Iterator[tuple[SessionId, int]]:
        """The sessions that changed since a version of the pool and may have messages without a vector, each with the version of
        its change, in that order. Several may have changed with the same version."""
        after_version, after_session = since, _LAST_SESSION
        while True:
            rows = self._transaction.rows(
                "sessions_to_embed",
                pool_id=pool,
                model_id=self._model,
                after_version=after_version,
                after_session=after_session,
                limit=_PAGE,
            )
            found = cast(list[tuple[SessionId, int]], rows)
            yield from found
            if len(found) < _PAGE:
                return
            after_session, after_version = found[-1]

    def waiting(self, session: SessionId, *, limit: int) -> list[tuple[MessageId, str]]:
        """The id and content of a session's first messages without a vector."""
        after, last = span(session)
        rows = self._transaction.rows("words_to_embed", after=after, last=last, model_id=self._model, limit=limit)
        return cast(list[tuple[MessageId, str]], rows)

    def add(self, vectors: Mapping[SessionId, Sequence[tuple[MessageId, bytes]]]) -> None:
        """Write the vectors of sessions, except of messages and sessions that were deleted meanwhile. Locks sessions and then
        pools in id order, to avoid deadlock."""
        sessions: dict[PoolId, list[SessionId]] = {}
        for session in sorted(vectors):
            row = self._transaction.row("lock_session_by_id", session_id=session)
            if row is not None and row[0] is not None:
                sessions.setdefault(PoolId(cast(int, row[0])), []).append(session)
        for pool in sorted(sessions):
            raised = self._transaction.row("raise_vectors_version", pool_id=pool)
            if raised is None:
                continue
            for session in sessions[pool]:
                self._transaction.execute("note_vectors", session_id=session, version=raised[0])
                self._transaction.execute_each(
                    "insert_vector",
                    [
                        {"session_id": session, "message_id": message, "model_id": self._model, "vector": vector}
                        for message, vector in vectors[session]
                    ],
                )

    def remove_others(self, session: SessionId) -> int:
        """Remove the vectors of all other models from a session; returns how many."""
        after, last = span(session)
        return self._transaction.execute("delete_vectors", after=after, last=last, model_id=self._model)

    def remove_all(self, session: SessionId) -> int:
        after, last = span(session)
        return self._transaction.execute("delete_vectors", after=after, last=last, model_id=0)


class PoolVectors:
    """The vectors of one model in one pool in one snapshot. Its methods take no scope, so they cannot read another pool."""

    def __init__(self, transaction: Transaction, pool: PoolId, model: int) -> None:
        self._transaction = transaction
        self._model = model
        self.tenant = transaction.reach.tenant
        self.pool = pool

    def state(self) -> tuple[int, int, int]:
        """The pool's version, its version when a session last left, and its `vectors_version`."""
        return cast(tuple[int, int, int], self._transaction.row("vector_state", pool_id=self.pool))

    def members(self) -> list[SessionId]:
        return [SessionId(cast(int, row[0])) for row in self._transaction.rows("pool_members", pool_id=self.pool)]

    def rebuilt(self, version: int) -> list[SessionId]:
        """The sessions that changed since a version other than by an append."""
        rows = cast(list[tuple[int, int]], self._transaction.rows("pool_changes", pool_id=self.pool, version=version))
        return [SessionId(session) for session, rebuilt in rows if rebuilt > version]

    def extended(self, vectors_version: int) -> list[SessionId]:
        """The sessions that got vectors since a `vectors_version`."""
        rows = self._transaction.rows("vector_sessions", pool_id=self.pool, version=vectors_version)
        return [SessionId(cast(int, row[0])) for row in rows]

    def all_rows(self) -> Iterator[Row]:
        """(message id, vector, bytes of its terms) of every message with a vector, by session, in order."""
        return self._transaction.stream("pool_vectors", pool_id=self.pool, model_id=self._model)

    def session_rows(self, session: SessionId, after: int) -> list[Row]:
        """The same columns for one session's messages after an id."""
        first, last = span(session)
        return self._transaction.rows(
            "session_vectors",
            pool_id=self.pool,
            session_id=session,
            after=max(first, after),
            last=last,
            model_id=self._model,
        )
