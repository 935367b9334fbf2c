"""Counts, locks and removes everything of one user, or of the transaction's tenant."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.conversation import Session
from cloister.domain.erasure import TenantCounts, UserCounts
from cloister.domain.identifiers import EntityId, KeyId, PoolId, ProjectId, SessionId
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.sessions import session_of_row


class UserErasureStore:
    """All rows of one user of the tenant, in all projects and in the shared pool."""

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
        """Lock all sessions of the user against other writers, in id order to avoid deadlock."""
        return [
            SessionId(number) for number in _numbers(self._transaction.rows("lock_user_sessions", user_id=self._user))
        ]

    def sessions(self, ids: Sequence[SessionId]) -> list[Session]:
        """The sessions with these ids that are the user's."""
        rows = self._transaction.rows("sessions_by_id", session_ids=integers(ids), user_id=self._user)
        return [session_of_row(row) for row in rows]

    def entities(self) -> list[EntityId]:
        """The entities of the user's parts of projects, including those that other users' sessions mention."""
        return [EntityId(number) for number in _numbers(self._transaction.rows("entities_of_user", user_id=self._user))]

    def remove_entities(self, entities: Sequence[EntityId]) -> list[ProjectId]:
        """Delete locked entities with all their mentions; returns their projects."""
        ids = integers(entities)
        projects = _numbers(self._transaction.rows("projects_of_entities", entity_ids=ids))
        self._transaction.execute("delete_mentions_of", entity_ids=ids)
        self._transaction.execute("delete_entities", entity_ids=ids)
        return [ProjectId(number) for number in sorted(projects)]

    def lock_pools(self) -> list[PoolId]:
        """Lock the pools of the user's sessions, and the user's parts of projects and of the shared pool, in id order. No session
        can enter them until the transaction ends. Lock order: sessions before pools."""
        return [PoolId(number) for number in _numbers(self._transaction.rows("lock_user_pools", user_id=self._user))]

    def remove_pools(self, pools: Sequence[PoolId]) -> None:
        """Delete those of the locked pools that are the user's own and have no sessions."""
        self._transaction.execute("delete_empty_pools", pool_ids=integers(pools), user_id=self._user)

    def remove_keys(self) -> list[KeyId]:
        """Delete the API keys that are bound to the user, including revoked ones; returns their ids."""
        keys = [KeyId(number) for number in _numbers(self._transaction.rows("keys_of_user", user_id=self._user))]
        self._transaction.execute("delete_user_keys", user_id=self._user)
        return keys


class TenantErasureStore:
    """All rows of the transaction's tenant."""

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
        """Lock all sessions against other writers, in id order to avoid deadlock."""
        return [SessionId(number) for number in _numbers(self._transaction.rows("lock_sessions"))]

    def entities(self) -> list[EntityId]:
        return [EntityId(number) for number in _numbers(self._transaction.rows("tenant_entities"))]

    def remove_all(self, now: int) -> None:
        """Delete everything except messages, which are deleted before, session by session, and the queue of removals from an
        external index. The rows of sessions and of the tenant are blanked but keep their ids, which no API returns."""
        self._transaction.execute("erase_mentions")
        self._transaction.execute("erase_entity_relations")
        self._transaction.execute("erase_entity_changes")
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
