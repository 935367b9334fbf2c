"""The queue of an additional embedder: messages that have no vector of it yet. It follows the versions of pools, so that a message
is in it whatever process recorded it, and after a crash.

Writes never wait for it: a message is recalled by the table as soon as it is committed, and by both embedders once it has its
vector.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from cloister.domain.errors import ModelUnavailable
from cloister.domain.identifiers import MessageId, PoolId, SessionId, TenantId
from cloister.domain.prompts.recalled_text import own_words
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.models.interface import AdditionalEmbedder
from cloister.models.unit_vectors import UnitVector, stored
from cloister.services.indexing.embedding_model import EmbeddingModel
from cloister.services.lease import Leases
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.indexing.vectors import EmbeddingClaim, PoolVectors, VectorStore

_POOLS = 200
_SESSIONS = 20
_MESSAGES = 64
_PROBE = "memory"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
    """Some messages of a pool, and the version of the pool up to which it is embedded when they are."""

    texts: Mapping[SessionId, Sequence[tuple[MessageId, str]]]
    embedded_version: int


class VectorQueue:
    """Every step is idempotent. Several processes may drain it at once: each pool is leased, so that no text is embedded twice.

    `embedded` and `failures` count what this process did.
    """

    def __init__(self, database: Database, embedder: AdditionalEmbedder, leases: Leases, clock: Clock) -> None:
        self._database = database
        self._embedder = embedder
        self._leases = leases
        self._model = EmbeddingModel(database, embedder.name, clock)
        self.model = self._model.id
        self.name = embedder.name
        self.embedded = 0
        self.failures = 0

    def waiting(self) -> int:
        """How many messages have no vector yet. Deleted ones may be counted until their pool is looked at."""
        return cast(int, self._database.maintenance.rows("count_unembedded", model_id=self.model)[0][0])

    def drain(
        self, stopped: Callable[[], bool] = lambda: False, report: Callable[[int], object] = lambda done: None
    ) -> int:
        """Embed all messages without a vector, or until stopped, a batch of each pool in turn; returns how many, and reports it
        after each batch. Raises `ModelUnavailable` if the embedder fails: what is embedded by then stays."""
        self._model.note_use()
        done, again = 0, True
        while again:
            again = False
            for reach, pool in self._pools("pools_to_embed"):
                if stopped():
                    return done
                count = self._embed_some(reach, pool)
                done += count or 0
                report(done)
                again = again or count is not None
        return done

    def check(self) -> str | None:
        """Ask the embedder once; returns why it cannot be used now, or None."""
        try:
            self._model.require_dimension(len(self._embedder.embed_query(_PROBE)))
        except ModelUnavailable as error:
            return str(error)
        return None

    def start_over(self) -> None:
        """Remove the vectors of all models, so that everything is embedded again. The caller has to rebuild the index rows of all
        sessions too: by that, other processes notice."""
        for reach, pool in self._pools("pools"):
            self._clear(reach, pool, VectorStore.remove_all)
            self._database.write(
                reach, lambda transaction, pool=pool: VectorStore(transaction, self.model).release(pool, -1)
            )
        self._model.forget_dimension()

    def remove_unused(self, *, at_once: bool = False) -> None:
        """When everything is embedded, remove the vectors of models that no process has used for an hour; with `at_once`, of all
        other models."""
        if not self._model.has_unused(at_once=at_once) or self.waiting():
            return
        for reach, pool in self._pools("pools"):
            self._clear(reach, pool, VectorStore.remove_others)
        self._model.remove_unused(at_once=at_once)

    def _pools(self, query: str) -> Iterator[tuple[Reach, PoolId]]:
        maintenance = self._database.maintenance
        last = (0, 0)
        while True:
            after = {"after_tenant": last[0], "after": last[1]}
            if query == "pools":
                rows = maintenance.rows("pools", limit=_POOLS, **after)
            else:
                rows = maintenance.rows("pools_to_embed", model_id=self.model, limit=_POOLS, **after)
            for last in cast(list[tuple[int, int]], rows):
                yield Reach(tenant=TenantId(last[0])), PoolId(last[1])
            if len(rows) < _POOLS:
                return

    def _embed_some(self, reach: Reach, pool: PoolId) -> int | None:
        """Embed some messages of a pool; None if another process is at it. No transaction is open while the embedder works."""
        now, until = self._leases.term()
        claim = self._database.write(
            reach, lambda transaction: VectorStore(transaction, self.model).claim(pool, now=now, until=until)
        )
        if claim is None:
            return None
        try:
            with self._database.read(reach) as transaction:
                batch = _batch(VectorStore(transaction, self.model), pool, claim)
            vectors = self._embed(batch)
        except BaseException as error:  # raised again: the pool is released, so that another worker can take it
            self.failures += isinstance(error, ModelUnavailable)
            self._database.write(
                reach, lambda transaction: VectorStore(transaction, self.model).release(pool, claim.embedded_version)
            )
            raise

        def work(transaction: Transaction) -> None:
            store = VectorStore(transaction, self.model)
            store.add(vectors)
            store.release(pool, batch.embedded_version)

        self._database.write(reach, work)
        count = sum(map(len, vectors.values()))
        self.embedded += count
        return count

    def _embed(self, batch: _Batch) -> dict[SessionId, list[tuple[MessageId, bytes]]]:
        texts = [own_words(content).strip() for entries in batch.texts.values() for _, content in entries]
        asked = [text for text in texts if text]
        found = iter(self._embedder.embed(asked) if asked else [])
        vectors: list[UnitVector | None] = [next(found) if text else None for text in texts]
        for dimension in {len(vector) for vector in vectors if vector is not None}:
            self._model.require_dimension(dimension)
        each = iter(vectors)
        return {
            session: [(message, stored(next(each))) for message, _ in entries]
            for session, entries in batch.texts.items()
        }

    def _clear(self, reach: Reach, pool: PoolId, remove: Callable[[VectorStore, SessionId], object]) -> None:
        """Remove vectors of a pool's sessions, a few sessions in each transaction."""
        with self._database.read(reach) as transaction:
            sessions = PoolVectors(transaction, pool, self.model).members()

        def work(transaction: Transaction, first: int) -> None:
            for session in sessions[first : first + _SESSIONS]:
                remove(VectorStore(transaction, self.model), session)

        for first in range(0, len(sessions), _SESSIONS):
            self._database.write(reach, partial(work, first=first))


def _batch(store: VectorStore, pool: PoolId, claim: EmbeddingClaim) -> _Batch:
    """The first messages of a pool without a vector, of as many sessions as are needed to fill a batch."""
    texts: dict[SessionId, Sequence[tuple[MessageId, str]]] = {}
    room = _MESSAGES
    for session, changed_version in store.sessions_to_embed(pool, claim.embedded_version):
        waiting = store.waiting(session, limit=room)
        if waiting:
            texts[session] = waiting
        room -= len(waiting)
        if not room:  # this session may have more, as may others that changed with the same version
            return _Batch(texts=texts, embedded_version=max(changed_version - 1, claim.embedded_version))
    return _Batch(texts=texts, embedded_version=claim.version)
