"""A request that comes twice under one idempotency key is done once. What is kept is ids and times, never what was said."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from cloister.domain.errors import IdempotencyMismatch
from cloister.domain.moments import Clock
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.storage.idempotency import Idempotency
from cloister.storage.interface import Database, Transaction

T = TypeVar("T")
_KEPT_MICROSECONDS = 24 * 3_600 * 1_000_000


class _KeyTaken(Exception):
    """The same key was committed by another request meanwhile; its answer can be read now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request under its key. `place` keeps the keys of different kinds of requests apart."""

    key: str
    place: tuple[str, ...]
    fingerprint: str


def request(key: str, place: Sequence[str], *parts: object) -> Request:
    """`parts` is all that makes two requests of one place the same."""
    checked_name(key, "idempotency_key")
    text = json.dumps(parts, sort_keys=True)
    return Request(key=key, place=tuple(place), fingerprint=hashlib.sha256(text.encode()).hexdigest())


def write_once(
    database: Database,
    reach: Reach,
    given: Request,
    clock: Clock,
    *,
    first: Callable[[Transaction], tuple[T, Sequence[object]]],
    again: Callable[[Transaction, Sequence[Any]], T],
) -> T:
    """`first` does it, and gives the answer with the ids and times to keep; `again` makes the same answer of them. A confined
    or bound caller has keys of its own: what others asked under the same key is none of its business."""
    # Unescaped, because two long names would otherwise be more than an index of PostgreSQL holds.
    place = json.dumps([*given.place, reach.confined_to, reach.user, given.key], ensure_ascii=False)

    def work(transaction: Transaction) -> T:
        store = Idempotency(transaction)
        answer = store.answer(place)
        if answer is not None:
            if answer.fingerprint != given.fingerprint:
                raise IdempotencyMismatch(given.key)
            return again(transaction, json.loads(answer.kept))
        result, kept = first(transaction)
        now = clock()
        if not store.keep(place, given.fingerprint, json.dumps(kept), now):
            raise _KeyTaken
        store.drop_older(now - _KEPT_MICROSECONDS)
        return result

    try:
        return database.write(reach, work)
    except _KeyTaken:
        return database.write(reach, work)
