"""Idempotency keys: a request that is repeated with the same key is executed once. Only ids and times of the answer are stored.

A different request with the same key is detected by a fingerprint: an HMAC with the tenant's secret and the idempotency key, which
itself is not stored. It is removed with the data that the request created: docs/decisions/035.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from cloister.domain.errors import Conflict, IdempotencyMismatch
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.idempotency import FirstAnswer, IdempotencyStore

T = TypeVar("T")
HOUR = 3_600 * 1_000_000
_KEPT_MICROSECONDS = 24 * HOUR


class _KeyTaken(Exception):
    """Another request with the same key was committed meanwhile; its answer can be read now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request with its idempotency key. `digest` is the hash of its content, which is never stored."""

    key: str
    digest: bytes

    def lookup_hash(self, reach: Reach, namespace: Sequence[str | int], *, is_sessions: bool) -> bytes:
        """The hash under which the answer is stored. Where the key is a session's, all callers that reach the session have it in
        common; else confined and bound callers have keys of their own, so that they do not see the answers to other callers."""
        caller = (None, None) if is_sessions else (reach.confined_to, reach.user)
        text = json.dumps([*namespace, *caller, self.key], ensure_ascii=False)
        return hashlib.sha256(text.encode()).digest()

    def fingerprint(self, secret: bytes) -> bytes:
        return hmac.digest(secret + self.key.encode(), self.digest, "sha256")


def request(key: str, *parts: object) -> Request:
    """`parts` is the content of the request: two requests of one namespace with equal parts are the same."""
    checked_name(key, "idempotency_key")
    text = json.dumps(parts, sort_keys=True)
    return Request(key=key, digest=hashlib.sha256(text.encode()).digest())


def done_once(
    transaction: Transaction,
    given: Request,
    namespace: Sequence[str | int],
    clock: Clock,
    *,
    first: Callable[[], tuple[T, FirstAnswer]],
    again: Callable[[Sequence[Any]], T],
    is_sessions: bool = False,
    kept_for: int = _KEPT_MICROSECONDS,
    gone: str = "was deleted since. To store it again, use a new key.",
) -> T:
    """Execute a request once, in a transaction that `write_once` runs. `first` executes it, and returns the answer with the ids and
    times to store; `again` makes the same answer from these. `namespace` separates the keys of different kinds of requests, and of
    different sessions; `is_sessions` says that it names one, which the transaction has locked. `gone` says what happened to an
    answer that was blanked."""
    store = IdempotencyStore(transaction)
    request_hash = given.lookup_hash(transaction.reach, namespace, is_sessions=is_sessions)
    now = clock()
    secret, known = store.find(request_hash, now)
    if known is not None:
        if known.fingerprint is None or known.answer is None:
            raise Conflict(f"What was stored under the idempotency key {given.key!r} {gone}")
        if not hmac.compare_digest(known.fingerprint, given.fingerprint(secret)):
            raise IdempotencyMismatch(given.key)
        return again(json.loads(known.answer))
    try:
        result, answer = first()
    except Conflict:
        if store.find(request_hash, now)[1] is None:
            raise
        raise _KeyTaken from None  # the conflict is with the same request, which was committed meanwhile
    store.drop_expired(now)
    if not store.keep(request_hash, given.fingerprint(secret), answer, expires_at=now + kept_for):
        raise _KeyTaken
    return result


def write_once(database: Database, reach: Reach, work: Callable[[Transaction], T]) -> T:
    """Run `work`, which calls `done_once`, in a transaction. Of two concurrent requests, the second is run again, and reads the
    answer of the first."""
    try:
        return database.write(reach, work)
    except _KeyTaken:
        return database.write(reach, work)
