"""Everything of one user, or of the one tenant of a transaction: found, counted, locked and removed."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.conversation import Session
from cloister.domain.erasure import TenantCounts, UserCounts
from cloister.domain.identifiers import EntityId, KeyId, PoolId, ProjectId, SessionId
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.sessions import session_of_row


class UserErasureStore:
    """Everything that carries the id of one user of the tenant, in all its projects and in none."""

    def __init__(self, transaction: Transaction, user: str) -> None:
        _refuse_narrow(transaction)
        self._transaction = transaction
        self._user = user

    def counts(self) -> UserCounts:
        """What erasing the user would remove."""
        numbers = self._transaction.rows("count_user", user_id=self._user)[0]
        sessions, messages, memories, observations, entities = cast(tuple[int, ...], numbers)
        return UserCounts(
            sessions=sessions,
            messages=messages,
            episodes=cast(int, self._transaction.rows("count_user_episodes", user_id=self._user)[0][0]),
            memories=memories,
            observations=observations,
            entities=entities,
        )

    def lock_sessions(self) -> list[SessionId]:
        """All sessions of the user, locked in the order of their ids against every other writer."""
        return [
            SessionId(number) for number in _numbers(self._transaction.rows("lock_user_sessions", user_id=self._user))
        ]

    def sessions(self, ids: Sequence[SessionId]) -> list[Session]:
        """Those of these that are the user's."""
        rows = self._transaction.rows("sessions_by_id", session_ids=integers(ids), user_id=self._user)
        return [session_of_row(row) for row in rows]

    def entities(self) -> list[EntityId]:
        """Those of the user's own parts of projects, whichever session mentions them."""
        return [EntityId(number) for number in _numbers(self._transaction.rows("entities_of_user", user_id=self._user))]

    def remove_entities(self, entities: Sequence[EntityId]) -> list[ProjectId]:
        """These, which are locked, with all their mentions; gives the projects they were in."""
        ids = integers(entities)
        projects = _numbers(self._transaction.rows("projects_of_entities", entity_ids=ids))
        self._transaction.execute("delete_mentions_of", entity_ids=ids)
        self._transaction.execute("delete_entities", entity_ids=ids)
        return [ProjectId(number) for number in sorted(projects)]

    def lock_pools(self) -> list[PoolId]:
        """The pools that the user's sessions are in, and the user's own parts of projects and of the shared pool, in the order of
        their ids. Nobody comes into one until the transaction ends. Lock the sessions first."""
        return [PoolId(number) for number in _numbers(self._transaction.rows("lock_user_pools", user_id=self._user))]

    def remove_pools(self, pools: Sequence[PoolId]) -> None:
        """Those of these, which are locked, that are the user's own. One that a new session came into before stays."""
        self._transaction.execute("delete_empty_pools", pool_ids=integers(pools), user_id=self._user)

    def remove_keys(self) -> list[KeyId]:
        """The keys that are bound to the user, revoked ones too; gives them."""
        keys = [KeyId(number) for number in _numbers(self._transaction.rows("keys_of_user", user_id=self._user))]
        self._transaction.execute("delete_user_keys", user_id=self._user)
        return keys


class TenantErasureStore:
    """Everything of the one tenant of the transaction."""

    def __init__(self, transaction: Transaction) -> None:
        _refuse_narrow(transaction)
        self._transaction = transaction

    def counts(self) -> TenantCounts:
        numbers = cast(tuple[int, ...], self._transaction.rows("count_tenant")[0])
        projects, sessions, messages, memories, observations, entities, api_keys = numbers
        return TenantCounts(
            projects=projects,
            sessions=sessions,
            messages=messages,
            episodes=cast(int, self._transaction.rows("count_tenant_episodes")[0][0]),
            memories=memories,
            observations=observations,
            entities=entities,
            api_keys=api_keys,
        )

    def lock_sessions(self) -> list[SessionId]:
        """All sessions, locked in the order of their ids against every other writer."""
        return [SessionId(number) for number in _numbers(self._transaction.rows("lock_sessions"))]

    def entities(self) -> list[EntityId]:
        return [EntityId(number) for number in _numbers(self._transaction.rows("tenant_entities"))]

    def remove_all(self, now: int) -> None:
        """Everything but messages, which go before, session by session, and what an index outside the database has yet to remove.
        Of sessions and of the tenant itself the bare ids stay, which no answer shows."""
        self._transaction.execute("erase_mentions")
        self._transaction.execute("erase_entities")
        self._transaction.execute("erase_memory_sources")
        self._transaction.execute("erase_memories")
        self._transaction.execute("erase_observations")
        self._transaction.execute("erase_session_pasts")
        self._transaction.execute("erase_idempotent_answers")
        self._transaction.execute("erase_usage")
        self._transaction.execute("erase_api_keys")
        self._transaction.execute("blank_sessions")
        self._transaction.execute("erase_pools")
        self._transaction.execute("erase_projects")
        self._transaction.execute("erase_tenant", now=now)


def _refuse_narrow(transaction: Transaction) -> None:
    if not transaction.reach.is_whole_tenant:
        raise ValueError("what is erased lies outside the transaction's reach")


def _numbers(rows: Sequence[Row]) -> list[int]:
    return [cast(int, row[0]) for row in rows]
