"""The store of idempotency keys, method by method, as `test_store_isolation` runs it: with our own ids, and with foreign ones."""

from cloister.domain.errors import StorageError
from cloister.storage.stores.idempotency import FirstAnswer, IdempotencyStore
from support.isolation.twin_tenants import ITEM, MOMENT, Case

IDEMPOTENCY_CASES: dict[str, Case] = {
    "IdempotencyStore.find": Case(act=lambda t, h: IdempotencyStore(t).find(b"once", MOMENT)),
    "IdempotencyStore.drop_expired": Case(act=lambda t, h: IdempotencyStore(t).drop_expired(MOMENT + 1), writes=True),
    "IdempotencyStore.keep": Case(
        act=lambda t, h: IdempotencyStore(t).keep(
            b"twice", b"f", FirstAnswer("sessions", "[]", session=h.first.session), expires_at=MOMENT
        ),
        nothing=StorageError,
        writes=True,
    ),
    "IdempotencyStore.forget_session": Case(
        act=lambda t, h: IdempotencyStore(t).forget_session(h.first.session), writes=True
    ),
    "IdempotencyStore.forget_contents": Case(
        act=lambda t, h: IdempotencyStore(t).forget_contents(h.first.session), writes=True
    ),
    "IdempotencyStore.forget_message": Case(
        act=lambda t, h: IdempotencyStore(t).forget_message(h.first.session, h.first.messages[0]), writes=True
    ),
    "IdempotencyStore.forget_recording": Case(
        act=lambda t, h: IdempotencyStore(t).forget_recording(h.first.session, h.first.messages[0]), writes=True
    ),
    "IdempotencyStore.forget_item": Case(
        act=lambda t, h: IdempotencyStore(t).forget_item(h.first.session, ITEM), writes=True
    ),
    "IdempotencyStore.forget_memories": Case(
        act=lambda t, h: IdempotencyStore(t).forget_memories(h.first.session), writes=True
    ),
    "IdempotencyStore.forget_key": Case(act=lambda t, h: IdempotencyStore(t).forget_key(h.key), writes=True),
}
