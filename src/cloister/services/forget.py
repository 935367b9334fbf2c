"""Forget: storage first, in one transaction, with everything derived; then the index. From the commit on it is unreachable."""

from dataclasses import dataclass

from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, message_name
from cloister.domain.scope import Reach
from cloister.index.interface import Index
from cloister.storage.interface import Database, Transaction
from cloister.storage.messages import Messages
from cloister.storage.pools import Pools
from cloister.storage.sessions import Sessions


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """How much is gone."""

    messages: int
    episodes: int


class Forgetter:
    """One transaction a call."""

    def __init__(self, database: Database, index: Index, generation: int) -> None:
        self._database = database
        self._index = index
        self._generation = generation

    def session(self, reach: Reach, external_id: str) -> Forgotten:
        """The session and all that was said in it."""

        def work(transaction: Transaction) -> tuple[int, Forgotten]:
            sessions = Sessions(transaction)
            session = sessions.lock(external_id).session
            messages = Messages(transaction)
            episodes = messages.count_episodes(session.id)
            removed = messages.remove_all(session.id)
            sessions.remove(session.id)
            Pools(transaction, self._generation).note_departure(session.pool)
            return session.id, Forgotten(messages=removed, episodes=episodes)

        session_id, forgotten = self._database.write(reach, work)
        self._index.forget_sessions([session_id])
        return forgotten

    def contents(self, reach: Reach, external_id: str) -> Forgotten:
        """All that was said in a session; the session itself stays, empty."""

        def work(transaction: Transaction) -> tuple[int, Forgotten]:
            sessions = Sessions(transaction)
            session = sessions.lock(external_id).session
            messages = Messages(transaction)
            episodes = messages.count_episodes(session.id)
            removed = messages.remove_all(session.id)
            version = Pools(transaction, self._generation).raise_version(session.pool)
            sessions.note_removal(session.id, removed=removed, version=version)
            return session.id, Forgotten(messages=removed, episodes=episodes)

        session_id, forgotten = self._database.write(reach, work)
        self._index.forget_sessions([session_id])
        return forgotten

    def message(self, reach: Reach, message: MessageId) -> None:
        """One message."""

        def work(transaction: Transaction) -> None:
            messages = Messages(transaction)
            external_id = messages.session_name(message)
            sessions = Sessions(transaction)
            session = sessions.lock(external_id).session
            removed = messages.remove(session.id, [message])
            if not removed:
                raise NotFound("message", message_name(message))
            version = Pools(transaction, self._generation).raise_version(session.pool)
            sessions.note_removal(session.id, removed=removed, version=version)

        self._database.write(reach, work)
        self._index.forget_messages([message])
