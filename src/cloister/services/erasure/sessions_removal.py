"""Remove many sessions with all that derives from them inside one transaction, and count what was removed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from cloister.domain.conversation import Session
from cloister.domain.erasure import Removal, UserCounts
from cloister.domain.identifiers import EntityId, PoolId, ProjectId, SessionId
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.quotations import QuotationRemoval
from cloister.services.events.bus import MOST_AT_ONCE
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Transaction
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.sessions import SessionStore

T = TypeVar("T")
_CHUNK = 200


@dataclass(kw_only=True, slots=True)
class RemovedSessions:
    """What was removed so far, and what has to be done at the end. `sessions` are all sessions with their numbers of messages;
    `named` are those for the events, of which there are at most `MOST_AT_ONCE` + 1; `quoting` are other sessions with messages
    that quoted the removed ones."""

    rows: Removal
    sessions: list[tuple[SessionId, int]] = field(default_factory=list[tuple[SessionId, int]])
    episodes: int = 0
    memories: int = 0
    observations: int = 0
    entries: int = 0
    files: int = 0
    named: list[Session] = field(default_factory=list[Session])
    projects: set[ProjectId | None] = field(default_factory=set[ProjectId | None])
    pools: set[PoolId] = field(default_factory=set[PoolId])
    quoting: list[Session] = field(default_factory=list[Session])
    entities_left: set[EntityId] = field(default_factory=set[EntityId])
    entities_gone: set[EntityId] = field(default_factory=set[EntityId])

    def counts(self) -> UserCounts:
        return UserCounts(
            sessions=len(self.sessions),
            messages=sum(messages for _, messages in self.sessions),
            episodes=self.episodes,
            memories=self.memories,
            observations=self.observations,
            entities=len(self.entities_gone),
            entries=self.entries,
            files=self.files,
            removal=self.rows,
        )


class SessionsRemoval:
    """Removes sessions inside the transaction of the caller, who has locked them: first the contents of each, then the entries of
    the index, and last the rows of the sessions, because that locks the tenant's usage row, for which every recording waits."""

    def __init__(
        self,
        transaction: Transaction,
        forgetting: Forgetting,
        entities: EntityIndexing,
        generation: int,
        rows: Removal,
    ) -> None:
        self._transaction = transaction
        self._forgetting = forgetting
        self._entities = entities
        self._quotations = QuotationRemoval(transaction, generation)
        self.removed = RemovedSessions(rows=rows)

    def remove_contents(self, session: Session) -> None:
        removed = self.removed
        forgotten, entities = self._forgetting.remove_contents(
            self._transaction, session, self._quotations, removed.rows, is_deleted=True
        )
        removed.sessions.append((session.id, forgotten.messages))
        removed.episodes += forgotten.episodes
        removed.memories += forgotten.memories
        removed.observations += forgotten.observations
        removed.files += forgotten.files
        removed.pools.add(session.pool)
        removed.projects.add(session.project)
        removed.entities_left.update(entities.left)
        removed.entities_gone.update(entities.gone)
        if len(removed.named) <= MOST_AT_ONCE:
            removed.named.append(session)

    def remove_quotations(self) -> None:
        """Remove what other sessions quoted of the contents that were removed so far."""
        self.removed.quoting = self._quotations.apply()

    def index_entities(self) -> None:
        """Take the removed entities out of the index, and index each entity that is left once, however many of the sessions
        mentioned it."""
        removed = self.removed
        for gone in chunks(sorted(removed.entities_gone)):
            self._entities.index_again(self._transaction, (), gone=gone)
        for left in chunks(sorted(removed.entities_left - removed.entities_gone)):
            self._entities.index_again(self._transaction, left)

    def remove_sessions(self) -> None:
        for session, messages in self.removed.sessions:
            IdempotencyStore(self._transaction).forget_session(session)
            SessionStore(self._transaction).remove(session, messages=messages)


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for begin in range(0, len(items), _CHUNK):
        yield items[begin : begin + _CHUNK]
