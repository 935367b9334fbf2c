"""Move a session between pools, with everything that counts or derives by where it is."""

from cloister.domain.scope import Scope
from cloister.storage.extraction import Extraction
from cloister.storage.interface import Transaction
from cloister.storage.memories import Memories
from cloister.storage.pools import Pools, move_between
from cloister.storage.sessions import Sessions, Tail


class SessionMover:
    """Inside one transaction, which holds the session."""

    def __init__(self, transaction: Transaction, generation: int, now: int) -> None:
        self._sessions = Sessions(transaction)
        self._extraction = Extraction(transaction)
        self._memories = Memories(transaction)
        self._pools = Pools(transaction, generation)
        self._now = now

    def move(self, tail: Tail, scope: Scope) -> None:
        """To the pool of this scope: its history and its memories by the next request (ISO-5). Entities stay in the project they
        were extracted in, and those still to be extracted go to the project in which they were said (ISO-6)."""
        session = tail.session
        pool = self._pools.ensure(scope.pool)
        if pool == session.pool:
            return
        if tail.unchecked:
            self._extraction.note_past(session.id, tail.last_message, session.project)
        version = move_between(self._pools, session.pool, pool)
        self._sessions.place(session.id, project=scope.project, pool=pool, version=version, now=self._now)
        if session.memory_count:
            for changed in sorted((session.pool, pool)):
                self._memories.note_change(changed)
            self._memories.move(session.memory_count, old=session.project, new=scope.project)
