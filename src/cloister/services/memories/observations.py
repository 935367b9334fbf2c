"""List the observations of a session: notes on its messages, in the order of these."""

from functools import partial

from cloister.domain.identifiers import ObservationId
from cloister.domain.observation import StoredObservation
from cloister.domain.recall.filter import Filter
from cloister.domain.scope import Reach
from cloister.services.memories.filtered_list import observation_page
from cloister.storage.interface import FIRST_PAGE, Database
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
        filter: Filter | None = None,
    ) -> list[StoredObservation]:
        """A page of a session's observations, after the cursor (said_at, id) or after an existing observation. With a
        filter, of those that it lets pass."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            observations = ObservationStore(transaction)
            if behind is not None:
                after = observations.cursor_key(session.id, behind)
            read = partial(observations.of_session, session.id)
            return observation_page(read, filter, limit=limit, after=after or FIRST_PAGE)
