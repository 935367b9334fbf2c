"""Profiles: what is true now of a user in one pool, and what a project knows, read in one transaction, without a model (MEM-16).

Nothing is kept between requests: what is forgotten, retracted or superseded is gone by the next one.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from cloister.domain.context import HIGHEST_BUDGET
from cloister.domain.entity import Entity
from cloister.domain.errors import Forbidden
from cloister.domain.identifiers import ProjectId, SessionId
from cloister.domain.prompts.profile import (
    DEFAULT_PROFILE_TOKENS,
    Profile,
    ProfileFact,
    ProfileMemory,
    profile_of,
    stable_facts,
    with_equal,
)
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import CHARACTERS_A_TOKEN, checked_limit, checked_name
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.memories import ProfileStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.tenants import ProjectStore

_MOST_MEMORIES = 1_000
_FEWEST_MEMORIES = 40
# Facts of fewer characters are rare: so many memories of this length fill a budget.
_SHORT_FACT = 30
_MOST_DECISIONS = 200
_MOST_ENTITIES = 50


class Profiles:
    """Reads one pool for each profile, which has to be within the caller's reach."""

    def __init__(self, database: Database, generation: int, clock: Clock) -> None:
        self._database = database
        self._generation = generation
        self._clock = clock

    def of_user(
        self, reach: Reach, user_id: str, project: ProjectId | None, *, budget: int = DEFAULT_PROFILE_TOKENS
    ) -> Profile:
        """The profile of a user in a project, or outside all projects. Empty for a user of whom nothing is known."""
        checked_name(user_id, "user_id")
        checked_limit(budget, "budget_tokens", HIGHEST_BUDGET)
        with self._database.read(reach) as transaction:
            scope = _scope(transaction, project, reach.user_of(user_id))
            return self._of_user(transaction, scope, None, budget)

    def of_project(
        self, reach: Reach, project: ProjectId, *, user_id: str | None = None, budget: int = DEFAULT_PROFILE_TOKENS
    ) -> Profile:
        """The profile of a project: its pinned memories, its decisions, and the entities that are mentioned most. Of a project with
        private members the part of one user, or of the sessions without a user (ISO-10)."""
        if user_id is not None:
            checked_name(user_id, "user_id")
        checked_limit(budget, "budget_tokens", HIGHEST_BUDGET)
        with self._database.read(reach) as transaction:
            scope = _scope(transaction, project, reach.user_of(user_id))
            store = self._store(transaction, scope)
            entities = EntityStore(transaction, self._clock()).most_mentioned(
                project, scope.pool.user, limit=_MOST_ENTITIES
            )
            memories = [] if store is None else store.decisions(now=self._clock(), limit=_MOST_DECISIONS)
            return self._fitted(store, memories, entities, budget, named=scope.shared)

    def for_prompt(
        self,
        transaction: Transaction,
        scope: Scope,
        session: SessionId,
        budget: int,
        without: Collection[int] = (),
    ) -> tuple[ProfileFact, ...]:
        """The facts of the profile of a session's user, from the session's own pool, except the memories `without`."""
        return self._of_user(transaction, scope, session, budget, without).facts

    def _of_user(
        self,
        transaction: Transaction,
        scope: Scope,
        session: SessionId | None,
        budget: int,
        without: Collection[int] = (),
    ) -> Profile:
        store = self._store(transaction, scope)
        if store is None:
            return profile_of((), (), budget)
        limit = min(_MOST_MEMORIES, _FEWEST_MEMORIES + budget * CHARACTERS_A_TOKEN // _SHORT_FACT)
        found = store.of_user(scope.user, session, now=self._clock(), limit=limit + len(without))
        memories = [memory for memory in found if memory.id not in without]
        return self._fitted(store, memories, (), budget, named=scope.shared)

    def _fitted(
        self,
        store: ProfileStore | None,
        memories: Sequence[ProfileMemory],
        entities: Sequence[Entity],
        budget: int,
        *,
        named: bool,
    ) -> Profile:
        pinned = [memory.id for memory in memories if memory.pinned]
        facts = [*stable_facts(memories), *(_entity_fact(entity, named=named) for entity in entities)]
        profile = profile_of(facts, pinned, budget, named=named)
        if store is None:
            return profile
        chosen = [fact.memories[0] for fact in profile.facts if fact.memories]
        return replace(profile, facts=with_equal(profile.facts, store.equal(chosen, now=self._clock())))

    def _store(self, transaction: Transaction, scope: Scope) -> ProfileStore | None:
        """The memories of the scope's pool; None if there is no such pool, or it is out of the caller's reach."""
        pool = PoolStore(transaction, self._generation).find(scope.pool)
        return None if pool is None or not transaction.reach.covers(scope) else ProfileStore(transaction, pool)


def _scope(transaction: Transaction, project: ProjectId | None, user: str | None) -> Scope:
    reach = transaction.reach
    if project is None:
        if reach.confined_to is not None:
            raise Forbidden("This key is confined to its project: it cannot read what is in no project.")
        return Scope(tenant=reach.tenant, project=None, user=user)
    found = ProjectStore(transaction).get(project)
    return Scope(tenant=reach.tenant, project=found.id, user=user, visibility=found.member_visibility)


def _entity_fact(entity: Entity, *, named: bool) -> ProfileFact:
    notes = entity.notes_for(named=named)
    content = f"{entity.name} ({entity.type}){': ' if notes else ''}{notes}"
    return ProfileFact(content=content, memories=(), group="entities", user=entity.user)
