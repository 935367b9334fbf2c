"""What memories that a person wrote or corrected are facts of, compared with what is known of that person (MEM-12)."""

from collections.abc import Sequence

from cloister.domain.conversation import Session
from cloister.domain.extraction import FactOfMemory, KnownMemory, ManualMemory
from cloister.domain.identifiers import PoolId, SessionId
from cloister.domain.memory import StoredMemory, same_as
from cloister.domain.timestamps import Clock
from cloister.models.interface import FactReader
from cloister.storage.interface import Transaction
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.sessions import SessionStore

_NO_SESSION = SessionId(0)
MOST_KNOWN = 200
"""With how many memories of the person a new one is compared: those of its session first, each the newest first."""


class ManualFacts:
    """Reads memories as an extraction would, with the same known ones in sight."""

    def __init__(self, reader: FactReader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    def of(self, transaction: Transaction, external_id: str, manual: Sequence[ManualMemory]) -> list[FactOfMemory]:
        """The facts of memories that are about to be added to a session."""
        session = SessionStore(transaction).get(external_id)
        return self._read(transaction, session, manual, self._known(transaction, session))

    def of_new_session(
        self, transaction: Transaction, pool: PoolId | None, user: str | None, manual: Sequence[ManualMemory]
    ) -> list[FactOfMemory]:
        """The facts of memories that are about to be added to a session of a user that does not exist yet, nor perhaps its pool."""
        known: list[KnownMemory] = []
        if pool is not None and user is not None:
            known = MemoryStore(transaction).known(_NO_SESSION, pool, user, MOST_KNOWN, self._clock()).of_user
        return self._reader.read(manual, known, user, ())

    def subject(self, transaction: Transaction, stored: StoredMemory, content: str) -> str | None:
        """The subject of a memory whose text is corrected to this one. A subject that only a model could give stays as it was."""
        memory, session = stored.memory, SessionStore(transaction).get(stored.session)
        before = ManualMemory(content=memory.content, said_at=memory.valid_from)
        if memory.subject is not None and self._read(transaction, session, [before])[0].subject != memory.subject:
            return memory.subject
        statement = same_as(memory.content)
        known = [one for one in self._known(transaction, session) if same_as(one.content) != statement]
        after = ManualMemory(content=content, said_at=memory.valid_from)
        return self._read(transaction, session, [after], known)[0].subject

    def _known(self, transaction: Transaction, session: Session) -> list[KnownMemory]:
        memories = MemoryStore(transaction)
        known = memories.known(session.id, session.pool, session.user_id, MOST_KNOWN, self._clock())
        return [*known.of_session, *known.of_user]

    def _read(
        self,
        transaction: Transaction,
        session: Session,
        manual: Sequence[ManualMemory],
        known: Sequence[KnownMemory] = (),
    ) -> list[FactOfMemory]:
        authors = MessageStore(transaction).recent_authors(session.id)
        return self._reader.read(manual, known, session.user_id, authors)
