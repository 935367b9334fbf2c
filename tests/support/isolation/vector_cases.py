"""The stores of vectors, method by method, as `test_store_isolation` runs them: with our own ids, and with foreign ones."""

from cloister.storage.interface import Transaction
from cloister.storage.stores.indexing.vectors import PoolVectors, VectorStore
from support.isolation.twin_tenants import MODEL, MOMENT, VECTOR, Case, Home


def vectors(transaction: Transaction) -> VectorStore:
    return VectorStore(transaction, MODEL)


def pool_vectors(transaction: Transaction, home: Home) -> PoolVectors:
    return PoolVectors(transaction, home.first.pool, MODEL)


VECTOR_CASES: dict[str, Case] = {
    "VectorStore.claim": Case(
        act=lambda t, h: vectors(t).claim(h.first.pool, now=MOMENT, until=MOMENT + 1), nothing=None, writes=True
    ),
    "VectorStore.release": Case(act=lambda t, h: vectors(t).release(h.first.pool, 1), writes=True),
    "VectorStore.sessions_to_embed": Case(
        act=lambda t, h: list(vectors(t).sessions_to_embed(h.first.pool, -1)), nothing=[]
    ),
    "VectorStore.waiting": Case(act=lambda t, h: vectors(t).waiting(h.first.session, limit=9), nothing=[]),
    "VectorStore.add": Case(
        act=lambda t, h: vectors(t).add({h.first.session: [(message, VECTOR) for message in h.first.messages]}),
        writes=True,
    ),
    "VectorStore.remove_others": Case(
        act=lambda t, h: VectorStore(t, MODEL + 1).remove_others(h.first.session), nothing=0, writes=True
    ),
    "VectorStore.remove_all": Case(act=lambda t, h: vectors(t).remove_all(h.first.session), nothing=0, writes=True),
    "PoolVectors.state": Case(act=lambda t, h: pool_vectors(t, h).state(), nothing=None),
    "PoolVectors.members": Case(act=lambda t, h: pool_vectors(t, h).members(), nothing=[]),
    "PoolVectors.rebuilt": Case(act=lambda t, h: pool_vectors(t, h).rebuilt(-1), nothing=[]),
    "PoolVectors.extended": Case(act=lambda t, h: pool_vectors(t, h).extended(0), nothing=[]),
    "PoolVectors.all_rows": Case(act=lambda t, h: list(pool_vectors(t, h).all_rows()), nothing=[]),
    "PoolVectors.session_rows": Case(act=lambda t, h: pool_vectors(t, h).session_rows(h.first.session, 0), nothing=[]),
}
