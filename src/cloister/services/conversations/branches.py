"""Change the current branch of a session. What is not on it is kept, but is neither the current conversation, nor recalled, nor
extracted, until it is chosen again.

What was extracted from messages that leave the branch goes with them, as if they were forgotten, except what a person wrote,
corrected or pinned. It is extracted again when they come back.
"""

from collections.abc import Sequence

from cloister.domain.branches import NO_MESSAGE
from cloister.domain.conversation import Session
from cloister.domain.errors import NotFound, TurnInProgress
from cloister.domain.identifiers import MessageId, format_message_id, session_of
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.conversations.forget import Forgetting
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.turn_leases import TurnLeases
from cloister.services.wakeup import WakeUp
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.branches.withdrawals import WithdrawalStore
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.turns import TurnStore


class Branches:
    """`choose` is one transaction; the other methods work in the transaction of a larger use case, which has locked the session."""

    def __init__(
        self,
        database: Database,
        forgetting: Forgetting,
        entities: EntityIndexing,
        leases: TurnLeases,
        clock: Clock,
        events: EventBus,
        wake_up: WakeUp,
    ) -> None:
        self._database = database
        self._forgetting = forgetting
        self._entities = entities
        self._leases = leases
        self._clock = clock
        self._events = events
        self._wake_up = wake_up

    def choose(self, reach: Reach, external_id: str, message: MessageId) -> Session:
        """Make the branch that contains a message current, down to the newest message below it. Nothing changes if it is on the
        current branch already. Raises `TurnInProgress` while a reply is being made in the session."""

        def work(transaction: Transaction) -> tuple[Session, bool]:
            session = SessionStore(transaction).lock(external_id).session
            is_current = check_message(transaction, session, message)
            now, _ = self._leases.term()
            if TurnStore(transaction).is_running(session.id, now=now):
                raise TurnInProgress(external_id)
            if is_current:
                return session, False
            return self.open(transaction, session, message), True

        session, is_changed = self._leases.without_ended(reach, lambda: self._database.write(reach, work))
        if is_changed:
            self.publish(session)
        return session

    def open(self, transaction: Transaction, session: Session, message: MessageId) -> Session:
        """Make the branch of a message of the session current, down to the newest message below it."""
        store = BranchStore(transaction)
        return self.switch(transaction, session, store.last_in(store.tree(session.id).below(message)))

    def switch(self, transaction: Transaction, session: Session, leaf: MessageId) -> Session:
        """Make the branch that ends with this message of the session current, or with `NO_MESSAGE` none; returns the session as
        it is then."""
        store = BranchStore(transaction)
        tree = store.tree(session.id)
        path = tree.path(leaf)
        leaving, arriving = store.current_in(tree.outside(path)), store.others_in(path)
        if not leaving and not arriving:
            return session
        pools = PoolStore(transaction, self._entities.generation)
        pools.lock(session.pool)
        losing = self._withdraw(transaction, session, leaving) if leaving else set[MessageId]()
        ObservationStore(transaction).forget_from(session.id, min([*leaving, *arriving]))
        store.move(session.id, tree, path)
        staying = sorted(losing.difference(leaving))
        store.uncheck(session.id, staying)
        store.note_change(
            session.id,
            leaf,
            is_forked=store.has_others(session.id),
            version=pools.raise_version(session.pool),
            is_due=bool(arriving or staying),
            now=self._clock(),
        )
        ExtractionStore(transaction).recount_unchecked(session.id)
        self._forgetting.note_branch(transaction, session.id, leaving, arriving)
        return SessionStore(transaction).by_ids([session.id])[0]

    def publish(self, session: Session) -> None:
        """After the commit of another current branch: publish it, and have the index and the memories follow."""
        self._events.changed(session)
        self._forgetting.drain()
        self._wake_up.notify()

    def _withdraw(self, transaction: Transaction, session: Session, messages: Sequence[MessageId]) -> set[MessageId]:
        """Remove what was extracted from messages, and return all messages that it was extracted from."""
        derived = WithdrawalStore(transaction, session.id, messages)
        memories = derived.memories()
        sources = derived.sources(memories)
        self._forgetting.remove_memories(transaction, session, memories)
        entities, mentioning = derived.entities()
        self._entities.index_again(transaction, entities.left, gone=entities.gone)
        return sources | mentioning


def check_message(transaction: Transaction, session: Session, message: MessageId) -> bool:
    """Whether a message is on the current branch of a session. `NotFound` if it is not a message of the session."""
    extraction = ExtractionStore(transaction)
    if session_of(message) != session.id or not extraction.present(session.id, [message], all_branches=True):
        raise NotFound("message", format_message_id(message))
    return bool(extraction.present(session.id, [message]))


def parent_of(transaction: Transaction, session: Session, message: MessageId) -> MessageId:
    """The message that a message of the session follows, or `NO_MESSAGE`."""
    return BranchStore(transaction).parents(session.id, [message]).get(message, NO_MESSAGE)
