"""Observations: the notes of one session, in the order in which it was said."""

from cloister.domain.identifiers import ObservationId
from cloister.domain.observation import StoredObservation
from cloister.domain.scope import Reach
from cloister.storage.interface import Database
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.sessions import SessionStore


class Observations:
    """They are made by extraction, and go with what they came from; nobody writes them by hand."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_session(
        self,
        reach: Reach,
        external_id: str,
        *,
        limit: int,
        after: tuple[int, int] | None = None,
        behind: ObservationId | None = None,
    ) -> list[StoredObservation]:
        """From behind the (said_at, id) of the last one seen, or behind a note that is still there."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            observations = ObservationStore(transaction)
            if behind is not None:
                after = observations.cursor_key(session.id, behind)
            if after is None:
                return observations.of_session(session.id, limit=limit)
            return observations.of_session(session.id, limit=limit, after=after)
