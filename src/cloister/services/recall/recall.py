"""Recall messages, memories and entities: ask the index of one scope, rank, and read the best back from storage.

The index names ids, and storage decides: an id that is not found under the same scope is never shown.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from cloister.domain.context import Item
from cloister.domain.entity import Entity
from cloister.domain.identifiers import MessageId, SessionId
from cloister.domain.memory import StoredMemory
from cloister.domain.prompts.recalled_text import shown_outside_session
from cloister.domain.recall.filter import Mask
from cloister.domain.recall.ranking import Evidence, Weights, best, rank
from cloister.domain.recall.relevance import STRONG, matches, relevance
from cloister.domain.scope import Reach, Scope
from cloister.domain.sessions.exclusions import NOTHING_EXCLUDED
from cloister.domain.truth.asked_facts import asked_facts
from cloister.index.interface import ExternalIndex, Ids, Index, PoolIndex
from cloister.services.recall.current_rows import CurrentRows
from cloister.services.recall.embeddings.additional import AdditionalRecall, QueryVector
from cloister.services.recall.selection import Pick, Question, Recalled, RecallTrace, Selection
from cloister.services.recall.validity import MOST_PINNED, Validities
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.filters import FilterStore
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.pools import PoolStore, StoredPool

T = TypeVar("T")
Id = TypeVar("Id", bound=int)
_DERIVED_WEIGHTS = Weights(author=0, date=0, session_prior=0, favour_author=False)
_DIGITS = 6
_MOST_ASKED = 8

# An index of candidates answers for so many more than are picked, so that others can take the places of duplicates.
_SPARE = 64


class Found(NamedTuple, Generic[T]):
    """A memory or an entity that was recalled."""

    what: T
    score: float
    relevance: float


class IndexedIds(NamedTuple):
    """What an index names, by kind."""

    messages: frozenset[int] = frozenset()
    memories: frozenset[int] = frozenset()
    entities: frozenset[int] = frozenset()


class Recall:
    """`foreign_hits` counts the ids that an index returned and storage did not find in the scope, or found damaged. It is zero if
    all is well."""

    def __init__(
        self,
        index: Index,
        generation: int,
        additional: AdditionalRecall | None = None,
        current: CurrentRows | None = None,
    ) -> None:
        """With `current`, rows of other generations are recalled too, made anew while they are read; an external index has only
        rows of its own."""
        self._index = index
        self._is_external = isinstance(index, ExternalIndex)
        self._generation = generation
        self._current = current
        self.additional = additional
        self._lock = threading.Lock()
        self._validities = Validities(index.cache)
        self.foreign_hits = 0

    def query_vector(self, reach: Reach, question: str) -> QueryVector | None:
        """The question's vector by the additional embedder, if there is one and it answers. Call it before the snapshot is taken:
        the embedder may take a second."""
        return None if self.additional is None else self.additional.query_vector(reach, question)

    def pool(self, transaction: Transaction, scope: Scope) -> StoredPool | None:
        """The rows of the scope's pool; None if no session was ever in it."""
        return PoolStore(transaction, self._generation).rows(scope)

    def messages(
        self,
        transaction: Transaction,
        scope: Scope,
        question: Question,
        picks: Sequence[Pick],
        without: Collection[MessageId] = (),
        trace: RecallTrace | None = None,
    ) -> Recalled:
        """The best messages of the scope's pool, best first. `trace` is given how they were selected."""
        rows = PoolStore(transaction, self._generation).rows(scope)
        if rows is None:
            return Recalled()
        without = {*without, *map(MessageId, question.excluded.messages)}
        stale = self._stale(transaction, rows, scope)
        allowed = (
            None if question.filter is None else FilterStore(transaction).pool_messages(rows.pool, question.filter).ids
        )
        if allowed is not None and not len(allowed):
            return Recalled(stale=stale)
        evidence = self._of_messages(rows).evidence(
            question.text, question.asked_at, _depth(picks, without), _session(picks), allowed
        )
        vector = question.vector
        if vector is not None and vector.question == question.text and self.additional is not None:
            second = self.additional.similarities(transaction, rows.pool, evidence.ids, vector)
            if second is not None:
                evidence = replace(evidence, second=second.windowed, own_second=second.own, usual_second=second.usual)
        read, mask = partial(self._items, rows), _mask(evidence, allowed)
        selection = Selection(evidence, rank(evidence), question, read, rows.speakers, mask)
        if trace is not None:
            trace.selection, trace.evidence, trace.picks = selection, evidence, picks
        select = selection.nothing if question.is_small_talk else selection.select
        found = select(picks, without)
        return replace(found, stale=stale) if stale else found

    def stale(self, transaction: Transaction, scope: Scope) -> int:
        """How many messages, memories and entities of the scope were indexed by another generation, and not yet again, and how
        many messages and entities an external index does not have yet."""
        rows = PoolStore(transaction, self._generation).rows(scope)
        return 0 if rows is None else self._stale(transaction, rows, scope)

    def _of_messages(self, rows: StoredPool) -> PoolIndex:
        """The index of a pool's messages, always of the same rows: it keeps what it read."""
        return self._index.within(rows if self._current is None else self._current.messages(rows))

    def _of_memories(self, rows: StoredMemories) -> PoolIndex:
        return self._index.memories_within(rows if self._current is None else self._current.memories(rows))

    def _of_entities(self, rows: StoredEntities) -> PoolIndex:
        return self._index.entities_within(rows if self._current is None else self._current.entities(rows))

    def _stale(self, transaction: Transaction, rows: StoredPool, scope: Scope) -> int:
        """Memories and entities are rebuilt before messages, so that they are counted only where a pool has stale messages."""
        waiting = self._waiting(transaction, rows, scope) if self._is_external else 0
        if not rows.is_stale:
            return waiting
        count = waiting + rows.stale() + StoredMemories(transaction, rows.pool, self._generation).stale()
        if scope.entities is None:
            return count
        return count + StoredEntities(transaction, scope.entities, scope.pool.user, self._generation).stale()

    def _waiting(self, transaction: Transaction, rows: StoredPool, scope: Scope) -> int:
        if scope.entities is None:
            return rows.waiting()
        entities = StoredEntities(transaction, scope.entities, scope.pool.user, self._generation)
        return rows.waiting() + entities.waiting()

    def count_excluded(self, transaction: Transaction, scope: Scope, question: Question) -> int:
        """How many items of the scope the session that asks does not recall."""
        excluded = question.excluded
        rows = None if excluded == NOTHING_EXCLUDED else PoolStore(transaction, self._generation).rows(scope)
        if rows is None:
            return 0
        found = len(rows.messages(list(map(MessageId, excluded.messages)))) if excluded.messages else 0
        if excluded.memories:
            memories = StoredMemories(transaction, rows.pool, self._generation)
            found += len(memories.found(list(excluded.memories), question.now))
        if excluded.entities and scope.entities is not None:
            entities = StoredEntities(transaction, scope.entities, scope.pool.user, self._generation)
            found += len(entities.found(list(excluded.entities), question.now))
        return found

    def is_larger(self, transaction: Transaction, scope: Scope, most: int) -> bool:
        """Whether the scope's pool has more messages than `most`."""
        rows = PoolStore(transaction, self._generation).rows(scope)
        return rows is not None and rows.size() > most

    def indexed(self, transaction: Transaction, scope: Scope, text: str, now: int, most: int) -> IndexedIds | None:
        """The ids that the index itself names for a text in the scope's pool, and of the entities of its project, before storage is
        asked; None if the pool has more messages than `most`."""
        rows, named = PoolStore(transaction, self._generation).rows(scope), IndexedIds()
        if rows is not None:
            if rows.size() > most:
                return None
            memories = self._of_memories(StoredMemories(transaction, rows.pool, self._generation))
            named = named._replace(
                messages=_ids(self._of_messages(rows), text, now), memories=_ids(memories, text, now)
            )
        if scope.entities is None:
            return named
        entities = StoredEntities(transaction, scope.entities, scope.pool.user, self._generation)
        return named._replace(entities=_ids(self._of_entities(entities), text, now))

    def memories(
        self, transaction: Transaction, scope: Scope, question: Question, limit: int, *, with_pinned: bool = False
    ) -> Sequence[Found[StoredMemory]]:
        """The best memories of the scope's pool that are true, best first; before them, with `with_pinned`, the pinned ones
        (MEM-13), whether they match or not."""
        pool = PoolStore(transaction, self._generation).rows(scope)
        if pool is None:
            return ()
        rows = StoredMemories(transaction, pool.pool, self._generation)
        validity = self._validities.of(rows)
        true = validity.true_at(question.now, as_of=question.as_of, with_past=question.asks_about_past)
        if question.filter is not None:
            passing = FilterStore(transaction).pool_memories(pool.pool, question.filter)
            true &= validity.among(_sorted(passing))
        if question.among is not None:
            true &= validity.among(_sorted(question.among))
        if question.excluded.memories:
            true &= ~validity.among(_sorted(question.excluded.memories))
        true = validity.distinct(true)
        allowed = None if true.all() else validity.ids[true]
        found = self._best(self._of_memories(rows), lambda ids: rows.found(ids, question.now), question, limit, allowed)
        asked = validity.about(asked_facts(question.text), true)
        # Many people may meet in a pool, and whose fact is asked for is not known here.
        if 0 < len(asked) <= min(limit, _MOST_ASKED):
            find = partial(self._read_back, lambda ids: rows.found(ids, question.now))
            found = _answers(asked, found, find, question.floor)[:limit]
        pinned = validity.pinned(true)[:MOST_PINNED] if with_pinned else []
        return _first(pinned, found, lambda ids: rows.found(ids, question.now)) if pinned else found

    def entities(
        self, transaction: Transaction, scope: Scope, question: Question, limit: int
    ) -> Sequence[Found[Entity]]:
        """The best entities of the scope's project, best first: of a private project, those of the scope's user (ISO-10); outside a
        project there are none (ISO-3)."""
        if scope.entities is None or not transaction.reach.covers(scope):
            return ()
        rows = StoredEntities(transaction, scope.entities, scope.pool.user, self._generation)
        allowed = None
        if question.filter is not None:
            allowed = _sorted(FilterStore(transaction).project_entities(rows.project, rows.user, question.filter))
        find = partial(rows.found, now=question.now)
        without = question.excluded.entities
        return self._best(self._of_entities(rows), find, question, limit, allowed, without)

    def _best(
        self,
        index: PoolIndex,
        find: Callable[[Sequence[int]], Mapping[int, T]],
        question: Question,
        limit: int,
        allowed: Ids | None = None,
        without: Collection[int] = (),
    ) -> Sequence[Found[T]]:
        if not limit or not question.text or question.is_small_talk or (allowed is not None and not len(allowed)):
            return ()
        evidence = index.evidence(question.text, question.asked_at, limit + len(without), allowed=allowed)
        mask = _mask(evidence, allowed)
        if without:
            others = ~np.isin(evidence.ids, _sorted(without))
            mask = others if mask is None else mask & others
        if not len(evidence) or (mask is not None and not mask.any()):
            return ()
        scores, matched = rank(evidence, _DERIVED_WEIGHTS), matches(evidence)
        highest = float(matched.max() if mask is None else matched[mask].max())
        chosen = {
            int(evidence.ids[at]): (float(scores[at]), found)
            for at in best(evidence, scores, limit, where=mask).tolist()
            if (found := relevance(float(matched[at]), highest)) >= question.floor
        }
        there = self._read_back(find, list(chosen))
        return [
            Found(there[id], round(score, _DIGITS), round(found, _DIGITS))
            for id, (score, found) in chosen.items()
            if id in there
        ]

    def _items(self, rows: StoredPool, ids: Sequence[MessageId]) -> Mapping[MessageId, Item | None]:
        """The messages of these ids as other sessions may see them; None for one without words of its own."""
        return {
            id: None
            if (message := shown_outside_session(said)) is None
            else Item(message, session, "semantic", None, user)
            for id, (said, session, user) in self._read_back(rows.messages, ids).items()
        }

    def _read_back(self, find: Callable[[Sequence[Id]], Mapping[Id, T]], ids: Sequence[Id]) -> Mapping[Id, T]:
        """The rows of these ids that storage finds in the scope."""
        found: Mapping[Id, T] = find(ids) if ids else {}
        if len(found) < len(ids):
            with self._lock:
                self.foreign_hits += len(ids) - len(found)
        return found


def _ids(index: PoolIndex, text: str, now: int) -> frozenset[int]:
    return frozenset(map(int, index.evidence(text, now).ids))


def _answers(
    asked: Sequence[int],
    found: Sequence[Found[StoredMemory]],
    find: Callable[[Sequence[int]], Mapping[int, StoredMemory]],
    floor: float,
) -> list[Found[StoredMemory]]:
    """The memories about the fact that was asked for, the best matches first, then the others. The former are strong, however few
    words they share with the question."""
    matched = {int(each.what.memory.id): each for each in found}
    others = find([id for id in asked if id not in matched])
    highest = max((each.score for each in found), default=0.0)
    every = matched | {id: Found(stored, 0.0, 0.0) for id, stored in others.items()}
    answers = [
        each._replace(relevance=max(each.relevance, STRONG)) for id in asked if (each := every.get(id)) is not None
    ]
    answers.sort(key=lambda each: -each.score)
    return [
        *(each._replace(score=highest) for each in answers if each.relevance >= floor),
        *(each for each in found if each.what.memory.id not in asked),
    ]


def _first(
    pinned: Sequence[int],
    found: Sequence[Found[StoredMemory]],
    find: Callable[[Sequence[int]], Mapping[int, StoredMemory]],
) -> list[Found[StoredMemory]]:
    """The pinned memories in their order, then the others. A pinned one that was not found for the question has no relevance."""
    matched = {int(each.what.memory.id): each for each in found}
    others = find([id for id in pinned if id not in matched])
    unmatched = {id: Found(stored, 0.0, 0.0) for id, stored in others.items()}
    first = [each for id in pinned if (each := matched.get(id) or unmatched.get(id)) is not None]
    return [*first, *(each for each in found if each.what.memory.id not in pinned)]


def _sorted(ids: Collection[int]) -> Ids:
    return np.sort(np.fromiter(ids, np.int64, len(ids)))


def _mask(evidence: Evidence, allowed: Ids | None) -> Mask | None:
    """Which candidates are allowed; None if all are."""
    return None if allowed is None else np.isin(evidence.ids, allowed)


def _depth(picks: Sequence[Pick], without: Collection[MessageId]) -> int:
    return max((pick.limit for pick in picks), default=0) + len(without) + _SPARE


def _session(picks: Sequence[Pick]) -> SessionId | None:
    return next((pick.session for pick in picks if pick.session is not None), None)
