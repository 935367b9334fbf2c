"""Observations: dated notes that compress what has fallen out of a session's recent window (TAB-7)."""

from dataclasses import dataclass

from cloister.domain.identifiers import MessageId, ObservationId, SessionId


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """`said_at` is when the last of the messages it came from was said."""

    id: ObservationId
    session: SessionId
    content: str
    sources: tuple[MessageId, ...]
    said_at: int
    created_at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredObservation:
    """A note with the outside id of its session, and the user of that."""

    observation: Observation
    session: str
    user: str | None
