"""List the observations of a session: notes on its messages, in the order of these."""

from cloister.domain.identifiers import ObservationId
from cloister.domain.observation import StoredObservation
from cloister.domain.scope import Reach
from cloister.storage.interface import Database
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.sessions import SessionStore


class Observations:
    """Observations are made by extraction only, and are removed with the messages that they came from."""

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
        """A page of a session's observations, after the cursor (said_at, id) or after an existing observation."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            observations = ObservationStore(transaction)
            if behind is not None:
                after = observations.cursor_key(session.id, behind)
            if after is None:
                return observations.of_session(session.id, limit=limit)
            return observations.of_session(session.id, limit=limit, after=after)
