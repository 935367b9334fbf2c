"""Move a session between pools, with its messages, memories and notes, and update the counts of both."""

from dataclasses import dataclass, field

from cloister.domain.conversation import Session
from cloister.domain.erasure import NO_READERS, Readers, Removal
from cloister.domain.identifiers import PoolId
from cloister.domain.scope import Scope
from cloister.domain.truth.supersession import Person
from cloister.services.memories.supersession import Supersession
from cloister.storage.interface import Transaction
from cloister.storage.stores.certificates.readers import ReaderStore
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore, move_between
from cloister.storage.stores.sessions import LockedSession, SessionStore


@dataclass(frozen=True, kw_only=True, slots=True)
class MovePreview:
    """What would move along with a session, and how many of its replies quote text of the pool that it would leave, or were given
    such text: their own words move along, and the quotations do not (ISO-12). All zero if it would not move. `readers` are the
    others that would recall it from then on: those of the pool that it would enter; None for a caller that is bound to one user."""

    messages: int
    memories: int
    observations: int
    replies_given_recalled_text: int
    readers: Readers | None = NO_READERS


@dataclass(frozen=True, kw_only=True, slots=True)
class MoveCounts:
    """How many sessions, memories, files and entries of a deleted project moved to the shared pool. `readers` would recall them
    there from then on; None unless it was a dry run."""

    sessions: int
    memories: int
    files: int
    entries: int
    removal: Removal = field(default_factory=Removal, compare=False, repr=False)
    readers: Readers | None = field(default=None, compare=False)


def preview_move(
    transaction: Transaction, session: Session, scope: Scope, generation: int, *, names_users: bool
) -> MovePreview:
    """What a move of the session to the pool of this scope would do, and to whom it would become visible. Nothing is changed."""
    if scope.project == session.project:
        return MovePreview(messages=0, memories=0, observations=0, replies_given_recalled_text=0)
    is_bound = transaction.reach.user is not None
    pool = None if is_bound else PoolStore(transaction, generation).find(scope.pool)
    there = ReaderStore(transaction, names_users=names_users)
    return MovePreview(
        readers=None if is_bound else NO_READERS if pool is None else there.of_pool(pool),
        messages=session.message_count,
        memories=session.memory_count,
        observations=ObservationStore(transaction).count(session.id),
        replies_given_recalled_text=MessageStore(transaction).count_given_recalled_text(session.id, session.pool),
    )


class SessionMove:
    """Moves sessions in a transaction that has locked them; after the last one, `finish`."""

    def __init__(self, transaction: Transaction, generation: int, now: int) -> None:
        self._sessions = SessionStore(transaction)
        self._extraction = ExtractionStore(transaction)
        self._memories = MemoryStore(transaction)
        self._pools = PoolStore(transaction, generation)
        self._supersession = Supersession(transaction)
        self._people: dict[tuple[PoolId, str], Person] = {}
        self._now = now

    def move(self, locked: LockedSession, scope: Scope) -> None:
        """Move a session to the pool of this scope, with its messages and memories (ISO-5). Entities stay in the project in which
        they were extracted; what was said is noted as said in the old project, where its entities go if it is read later, or again
        (ISO-6)."""
        session = locked.session
        pool = self._pools.ensure(scope.pool)
        if pool == session.pool:
            return
        if locked.next_sequence > 1:
            self._extraction.note_past(session.id, locked.last_message, session.project)
        version = move_between(self._pools, session.pool, pool)
        self._sessions.move(session.id, project=scope.project, pool=pool, version=version, now=self._now)
        if session.memory_count:
            for changed in sorted((session.pool, pool)):
                self._memories.note_change(changed)
            self._memories.move(session.memory_count, old=session.project, new=scope.project)
            self._note_people(session, pool)

    def finish(self) -> None:
        """Compute again which memories are true, in the pools that sessions left and in those that they entered (MEM-12)."""
        for _, person in sorted(self._people.items()):
            self._supersession.update_all(person)

    def _note_people(self, session: Session, pool: PoolId) -> None:
        """The memories of a session without a user are compared with each other only, and move together."""
        if session.user_id is not None:
            for at in (session.pool, pool):
                person = Person(pool=at, user=session.user_id, session=session.id)
                self._people.setdefault((at, session.user_id), person)
