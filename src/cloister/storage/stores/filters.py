"""Which rows a filter lets pass (MEM-14): of one pool, of one session, or of one project, in one snapshot.

Each query reads the rows of one pool, session or project only, so a filter that matches rows of others finds none of them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cloister.domain.identifiers import SEQUENCE_BITS, MessageId, PoolId, ProjectId, SessionId
from cloister.domain.recall.filter import (
    Condition,
    Entry,
    Filter,
    FilteredRow,
    FilterKind,
    Mask,
    asks_for,
    created_range,
    has_entry,
    matches,
    may_match_unlabelled,
    possible,
    selected,
)
from cloister.domain.text import Metadata
from cloister.storage.interface import Row, Transaction, Value, integers
from cloister.storage.stores.messages import span

Ids = npt.NDArray[np.int64]
_NO_IDS: Ids = np.empty(0, np.int64)
_BATCH = 4_000


class SessionNames(NamedTuple):
    """What conditions on a session see of it."""

    external_id: str
    user: str | None

    def fulfils(self, condition: Condition) -> bool | None:
        """Whether a condition is true for all messages of the session, or for none; None if it depends on the message."""
        if condition.field == "session_id":
            return condition.value == self.external_id
        return condition.value == self.user if condition.field == "user_id" else None


class PassingMessages(NamedTuple):
    """The messages that a filter lets pass, in the order of their ids."""

    ids: Ids
    created_at: Ids
    roles: Sequence[str]

    def newest(self, role: str, limit: int) -> list[MessageId]:
        """The last messages of a role, newest first."""
        of_role = np.flatnonzero(np.array([each == role for each in self.roles], np.bool_))
        order = np.lexsort((-self.ids[of_role], -self.created_at[of_role]))[:limit]
        return [MessageId(id) for id in self.ids[of_role[order]].tolist()]


class FilterStore:
    """Evaluates filters on the rows of pools, sessions and projects that the caller found through a scope or a `SessionStore`."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def pool_messages(self, pool: PoolId, wanted: Filter) -> PassingMessages:
        """The messages of a pool that can be recalled and that the filter lets pass."""
        if not _may_be(wanted, "message"):
            return _passing([], {}, wanted)
        sessions: dict[int, SessionNames] = {}
        candidates: list[int] | None = None
        if asks_for(wanted, "session_id", "user_id"):
            rows = cast(list[tuple[int, str, str | None]], self._transaction.rows("filter_sessions", pool_id=pool))
            sessions = {session: SessionNames(name, user) for session, name, user in rows}
            candidates = [id for id, names in sessions.items() if possible(wanted, names.fulfils) is not False]
        found = self._transaction.stream(
            "filter_messages",
            pool_id=pool,
            any_session=int(candidates is None or len(candidates) == len(sessions)),
            session_ids=integers(candidates or []),
            **_bounds(wanted),
        )
        return _passing(found, sessions, wanted)

    def session_messages(
        self, session: SessionId, names: SessionNames, wanted: Filter, *, after: int, all_branches: bool = False
    ) -> list[MessageId]:
        """The ids of the messages of a session after an id that the filter lets pass, in order: of its current branch, or of
        all."""
        first, last = span(session)
        if possible(wanted, names.fulfils) is False:
            return []
        rows = self._transaction.stream(
            "filter_session_messages",
            after=max(first, after),
            last=last,
            all_branches=int(all_branches),
            **_bounds(wanted),
        )
        return [MessageId(id) for id in _passing(rows, {session: names}, wanted).ids.tolist()]

    def pool_memories(self, pool: PoolId, wanted: Filter) -> list[int]:
        """The memories of a pool that the filter lets pass."""
        if not _may_be(wanted, "memory"):
            return []
        passing: list[int] = []
        for row in self._transaction.rows("filter_memories", pool_id=pool):
            memory, said_at, session, user, categories, metadata = cast(tuple[Any, ...], row)
            filtered = FilteredRow(
                kind="memory",
                created_at=said_at,
                session=session,
                user=user,
                categories=() if categories == "[]" else json.loads(categories),
                metadata={} if metadata == "{}" else json.loads(metadata),
            )
            if matches(wanted, filtered):
                passing.append(memory)
        return passing

    def project_entities(self, project: ProjectId, user: str | None, wanted: Filter) -> list[int]:
        """The entities of a project, or of one user's part of it, that the filter lets pass."""
        if not _may_be(wanted, "entity"):
            return []
        rows = self._transaction.rows("filter_entities", project_id=project, user_id=user)
        return [
            entity
            for entity, created_at, of_user in cast(list[tuple[int, int, str | None]], rows)
            if matches(wanted, FilteredRow(kind="entity", created_at=created_at, user=of_user))
        ]


def _may_be(wanted: Filter, kind: FilterKind) -> bool:
    """Whether the filter can let rows of this kind pass."""
    return possible(wanted, lambda known: known.value == kind if known.field == "kind" else None) is not False


def _bounds(wanted: Filter) -> dict[str, Value]:
    """The parameters of queries that leave out rows which cannot pass."""
    first, last = created_range(wanted)
    return {
        "created_from": first,
        "created_until": last,
        "labels": int(asks_for(wanted, "category", "metadata")),
        "labelled": int(not may_match_unlabelled(wanted)),
    }


def _passing(rows: Iterable[Row], sessions: Mapping[int, SessionNames], wanted: Filter) -> PassingMessages:
    """The rows that pass. They are read in batches, so that a large pool needs little memory and other threads can run."""
    remaining = iter(rows)
    ids, created_at, roles = [_NO_IDS], [_NO_IDS], list[str]()
    while batch := list(islice(remaining, _BATCH)):
        columns = _MessageColumns(batch, sessions)
        passing = np.flatnonzero(selected(wanted, columns.mask))
        ids.append(columns.ids[passing])
        created_at.append(columns.created_at[passing])
        roles += [columns.roles[at] for at in passing.tolist()]
    order = np.argsort(found := np.concatenate(ids))
    return PassingMessages(found[order], np.concatenate(created_at)[order], [roles[at] for at in order.tolist()])


class _MessageColumns:
    """Messages as columns, so that a condition is evaluated for all at once."""

    def __init__(self, rows: Sequence[Row], sessions: Mapping[int, SessionNames]) -> None:
        ids, self.roles, self._authors, created_at, self._categories, self._metadata = cast(
            tuple[Any, ...], tuple(zip(*rows, strict=True))
        )
        self.ids: Ids = np.array(ids, np.int64)
        self.created_at: Ids = np.array(created_at, np.int64)
        self._sessions = sessions

    def mask(self, condition: Condition) -> Mask:
        value = condition.value
        match condition.field:
            case "created_after":
                return self.created_at > np.int64(cast(int, value))
            case "created_before":
                return self.created_at < np.int64(cast(int, value))
            case "session_id" | "user_id":
                chosen = [id for id, names in self._sessions.items() if names.fulfils(condition)]
                return np.isin(self._session_ids, np.array(chosen, np.int64))
            case "role":
                return np.array([role == value for role in self.roles], np.bool_)
            case "author":
                return np.array([author == value for author in self._authors], np.bool_)
            case "category":
                return self._where([at for at, found in self._parsed_categories.items() if value in found])
            case "metadata":
                entry = cast(Entry, value)
                return self._where([at for at, found in self._parsed_metadata.items() if has_entry(found, entry)])
            case "kind":
                return np.full(len(self.ids), value == "message")

    def _where(self, rows: Sequence[int]) -> Mask:
        mask = np.zeros(len(self.ids), np.bool_)
        mask[np.array(rows, np.intp)] = True
        return mask

    @cached_property
    def _session_ids(self) -> Ids:
        return self.ids >> SEQUENCE_BITS

    @cached_property
    def _parsed_categories(self) -> dict[int, list[str]]:
        """The categories of the messages that have some, by position."""
        return {at: json.loads(text) for at, text in enumerate(self._categories) if text != "[]"}

    @cached_property
    def _parsed_metadata(self) -> dict[int, Metadata]:
        return {at: json.loads(text) for at, text in enumerate(self._metadata) if text != "{}"}
