"""A request that comes twice under one idempotency key is done once. What is kept is ids and times, never what was said.

The fingerprint, by which a different request under the same key is known, is an HMAC under the tenant's secret and the
idempotency key itself, which is not stored. It goes with what was forgotten: docs/decisions/035.
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
    """The same key was committed by another request meanwhile; its answer can be read now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request under its key. `digest` is of all that makes two requests the same; it is never stored."""

    key: str
    digest: bytes

    def place(self, reach: Reach, parts: Sequence[str | int]) -> bytes:
        """Where it is looked for. A confined or bound caller has keys of its own: what others asked under the same key is none of
        its business."""
        text = json.dumps([*parts, reach.confined_to, reach.user, self.key], ensure_ascii=False)
        return hashlib.sha256(text.encode()).digest()

    def fingerprint(self, secret: bytes) -> bytes:
        return hmac.digest(secret + self.key.encode(), self.digest, "sha256")


def request(key: str, *parts: object) -> Request:
    """`parts` is all that makes two requests of one place the same."""
    checked_name(key, "idempotency_key")
    text = json.dumps(parts, sort_keys=True)
    return Request(key=key, digest=hashlib.sha256(text.encode()).digest())


def done_once(
    transaction: Transaction,
    given: Request,
    place: Sequence[str | int],
    clock: Clock,
    *,
    first: Callable[[], tuple[T, FirstAnswer]],
    again: Callable[[Sequence[Any]], T],
    kept_for: int = _KEPT_MICROSECONDS,
) -> T:
    """Inside a transaction that `write_once` runs. `first` does it, and gives the answer with the ids and times to keep; `again`
    makes the same answer of them. `place` keeps the keys of different kinds of requests, and of different sessions, apart."""
    store = IdempotencyStore(transaction)
    request_hash = given.place(transaction.reach, place)
    now = clock()
    secret, known = store.find(request_hash, now)
    if known is not None:
        if known.fingerprint is None or known.answer is None:
            raise Conflict(
                f"What was stored under the idempotency key {given.key!r} was deleted since. "
                "To store it again, use a new key."
            )
        if not hmac.compare_digest(known.fingerprint, given.fingerprint(secret)):
            raise IdempotencyMismatch(given.key)
        return again(json.loads(known.answer))
    result, answer = first()
    store.drop_expired(now)
    if not store.keep(request_hash, given.fingerprint(secret), answer, expires_at=now + kept_for):
        raise _KeyTaken
    return result


def write_once(database: Database, reach: Reach, work: Callable[[Transaction], T]) -> T:
    """Run `work`, which calls `done_once`, in a transaction; where two came at the same moment, the second reads the first
    answer."""
    try:
        return database.write(reach, work)
    except _KeyTaken:
        return database.write(reach, work)
