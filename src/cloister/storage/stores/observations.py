"""Observations of sessions."""

import json
from collections.abc import Sequence
from typing import Any, cast

from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, ObservationId, PoolId, SessionId, format_observation_id
from cloister.domain.observation import Observation, StoredObservation
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction


class ObservationStore:
    """The observations of sessions that the caller found through `SessionStore`."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, observation: Observation, first: MessageId, last: MessageId) -> None:
        """Add an observation. It summarises the messages from `first` to `last`, and is deleted with any of them."""
        self._transaction.execute(
            "insert_observation",
            observation_id=observation.id,
            session_id=observation.session,
            first_message_id=first,
            last_message_id=last,
            created_at=observation.created_at,
            said_at=observation.said_at,
            sources=json.dumps(observation.sources),
            content=observation.content,
        )

    def of_session(self, session: SessionId, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[StoredObservation]:
        """A page of observations, in order; `after` is the (said_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "session_observations",
            session_id=session,
            limit=limit,
            after_said_at=after[0],
            after_observation_id=after[1],
        )
        return [stored_observation(row) for row in rows]

    def count(self, session: SessionId) -> int:
        """The number of observations of the session."""
        row = self._transaction.row("count_session_observations", session_id=session)
        return 0 if row is None else cast(int, row[0])

    def cursor_key(self, session: SessionId, observation: ObservationId) -> CursorKey:
        """The (said_at, id) of an observation of the session, by which pages are ordered."""
        row = self._transaction.row("observation_cursor_key", session_id=session, observation_id=observation)
        if row is None:
            raise NotFound("observation", format_observation_id(observation))
        return cast(CursorKey, row)

    def recent(self, session: SessionId, pool: PoolId, *, limit: int) -> list[StoredObservation]:
        """The newest observations of the session, oldest first."""
        rows = self._transaction.rows("recent_observations", session_id=session, pool_id=pool, limit=limit)
        return [stored_observation(row) for row in reversed(rows)]

    def recent_of_user(self, user: str, pool: PoolId, *, limit: int) -> list[StoredObservation]:
        """The newest observations of all sessions of a user in one pool (TAB-7), oldest first."""
        rows = self._transaction.rows("recent_observations_of_user", user_id=user, pool_id=pool, limit=limit)
        return [stored_observation(row) for row in reversed(rows)]

    def contents(self, session: SessionId, message: MessageId | None = None) -> list[str]:
        """The contents of all notes of a session, or of those that came from one message."""
        rows = cast(list[tuple[str, str]], self._transaction.rows("observation_contents", session_id=session))
        return [content for content, sources in rows if message is None or message in json.loads(sources)]

    def forget_session(self, session: SessionId) -> int:
        return self._transaction.execute("delete_session_observations", session_id=session)

    def forget_message(self, session: SessionId, message: MessageId) -> list[ObservationId]:
        """Delete the observations that cover a message, and all later ones of the session, and return their ids; the other messages
        are observed again."""
        row = self._transaction.row("first_observation_of", session_id=session, message_id=message)
        if row is None or row[0] is None:
            return []
        first = cast(int, row[0])
        rows = self._transaction.rows("delete_observations_from", session_id=session, message_id=first)
        self._transaction.execute("observe_again", session_id=session, message_id=first)
        return [ObservationId(cast(int, row[0])) for row in rows]

    def forget_from(self, session: SessionId, message: MessageId) -> list[ObservationId]:
        """Delete the observations that cover a message or later ones, because the current branch changed there, and return their
        ids; the messages of the branch are observed again from then on."""
        row = self._transaction.row("first_observation_until", session_id=session, message_id=message)
        first = message if row is None or row[0] is None else min(message, cast(int, row[0]))
        rows = self._transaction.rows("delete_observations_from", session_id=session, message_id=first)
        self._transaction.execute("observe_again", session_id=session, message_id=first)
        return [ObservationId(cast(int, row[0])) for row in rows]


def stored_observation(row: Row) -> StoredObservation:
    observation, session, content, sources, said_at, created_at, name, user = cast(tuple[Any, ...], row)
    return StoredObservation(
        observation=Observation(
            id=ObservationId(observation),
            session=SessionId(session),
            content=content,
            sources=tuple(map(MessageId, cast(Sequence[int], json.loads(sources)))),
            said_at=said_at,
            created_at=created_at,
        ),
        session=name,
        user=user,
    )
