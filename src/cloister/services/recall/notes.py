"""The observations in a context: the newest of a session, or of all sessions of its user (TAB-7)."""

from cloister.domain.conversation import Session
from cloister.domain.observation import StoredObservation
from cloister.domain.recall.filter import Filter
from cloister.services.memories.filtered_list import observation_passes
from cloister.storage.interface import Transaction
from cloister.storage.stores.observations import ObservationStore

_MOST_OBSERVATIONS = 20
# Among so many of the newest observations a filter looks for those that it lets pass.
_MOST_FILTERED_OBSERVATIONS = 2_000


def recent_notes(
    transaction: Transaction, session: Session, user: str | None, wanted: Filter | None
) -> tuple[StoredObservation, ...]:
    """Those that the filter lets pass, oldest first; with a user, of all sessions of that user in the pool."""
    observations = ObservationStore(transaction)
    most = _MOST_OBSERVATIONS if wanted is None else _MOST_FILTERED_OBSERVATIONS
    if user is None:
        found = observations.recent(session.id, session.pool, limit=most)
    else:
        found = observations.recent_of_user(user, session.pool, limit=most)
    if wanted is not None:
        found = [stored for stored in found if observation_passes(wanted, stored)]
    return tuple(found[-_MOST_OBSERVATIONS:])
