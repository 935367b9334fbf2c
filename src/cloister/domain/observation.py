"""Observations: dated notes that summarise messages older than a session's recent window (TAB-7)."""

from dataclasses import dataclass

from cloister.domain.identifiers import MessageId, ObservationId, SessionId


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """A note of one session. `said_at` is the time of the last message it summarises."""

    id: ObservationId
    session: SessionId
    content: str
    sources: tuple[MessageId, ...]
    said_at: int
    created_at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredObservation:
    """An observation with the outside id and the user of its session."""

    observation: Observation
    session: str
    user: str | None
