"""The store of idempotency keys, method by method, as `test_store_isolation` runs it: with our own ids, and with foreign ones."""

from cloister.domain.errors import StorageError
from cloister.storage.stores.idempotency import FirstAnswer, Idempotency
from support.isolation.twin_tenants import MOMENT, Case

IDEMPOTENCY_CASES: dict[str, Case] = {
    "Idempotency.find": Case(act=lambda t, h: Idempotency(t).find(b"once", MOMENT)),
    "Idempotency.drop_expired": Case(act=lambda t, h: Idempotency(t).drop_expired(MOMENT + 1), writes=True),
    "Idempotency.keep": Case(
        act=lambda t, h: Idempotency(t).keep(
            b"twice", b"f", FirstAnswer("sessions", "[]", session=h.first.session), expires_at=MOMENT
        ),
        nothing=StorageError,
        writes=True,
    ),
    "Idempotency.forget_session": Case(act=lambda t, h: Idempotency(t).forget_session(h.first.session), writes=True),
    "Idempotency.forget_contents": Case(act=lambda t, h: Idempotency(t).forget_contents(h.first.session), writes=True),
    "Idempotency.forget_message": Case(
        act=lambda t, h: Idempotency(t).forget_message(h.first.session, h.first.messages[0]), writes=True
    ),
    "Idempotency.forget_memories": Case(act=lambda t, h: Idempotency(t).forget_memories(h.first.session), writes=True),
    "Idempotency.forget_key": Case(act=lambda t, h: Idempotency(t).forget_key(h.key), writes=True),
}
