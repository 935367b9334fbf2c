"""The stores that erase, method by method, as `test_store_isolation` runs them. Both tenants have a user called ann."""

from cloister.domain.identifiers import SessionId
from cloister.domain.scope import PoolKey
from cloister.storage.stores.erasure import (
    OldCounts,
    ProjectErasureStore,
    RetentionStore,
    SessionAge,
    TenantErasureStore,
    UserErasureStore,
)
from support.isolation.twin_tenants import GARDEN, MOMENT, Case, Home, pools

LATER = MOMENT + 1


def age(home: Home) -> SessionAge:
    """Of a session that was not looked at yet."""
    return SessionAge(
        id=home.first.session,
        name=home.first.name,
        known_sequence=0,
        next_sequence=3,
        oldest_at=MOMENT,
        has_old_contents=False,
    )


ERASING_CASES: dict[str, Case] = {
    "UserErasureStore.lock_sessions": Case(act=lambda t, h: UserErasureStore(t, "ann").lock_sessions()),
    "UserErasureStore.sessions": Case(
        act=lambda t, h: UserErasureStore(t, "ann").sessions([h.first.session]), nothing=[]
    ),
    "UserErasureStore.entities": Case(act=lambda t, h: UserErasureStore(t, "ann").entities()),
    "UserErasureStore.remove_entities": Case(
        act=lambda t, h: UserErasureStore(t, "ann").remove_entities([h.second.entity]), nothing=[], writes=True
    ),
    "UserErasureStore.lock_pools": Case(act=lambda t, h: UserErasureStore(t, "ann").lock_pools()),
    "UserErasureStore.remove_pools": Case(
        act=lambda t, h: (
            pools(t).ensure(PoolKey(project=GARDEN, user="ann")),
            UserErasureStore(t, "ann").remove_pools([place.pool for place in h.places]),
        ),
        writes=True,
    ),
    "UserErasureStore.remove_keys": Case(act=lambda t, h: UserErasureStore(t, "ann").remove_keys(), writes=True),
    "ProjectErasureStore.lock_pools": Case(act=lambda t, h: ProjectErasureStore(t, h.cellar).lock_pools()),
    "ProjectErasureStore.entities": Case(act=lambda t, h: ProjectErasureStore(t, h.cellar).entities(), nothing=[]),
    "ProjectErasureStore.remove_entities": Case(
        act=lambda t, h: ProjectErasureStore(t, h.cellar).remove_entities([h.second.entity]), writes=True
    ),
    "ProjectErasureStore.remove_files": Case(
        act=lambda t, h: ProjectErasureStore(t, h.cellar).remove_files(), nothing=([], 0), writes=True
    ),
    "ProjectErasureStore.remove_entries": Case(
        act=lambda t, h: ProjectErasureStore(t, h.cellar).remove_entries(), nothing=([], 0), writes=True
    ),
    "ProjectErasureStore.remove_receipts": Case(
        act=lambda t, h: ProjectErasureStore(t, h.cellar).remove_receipts(), nothing=[], writes=True
    ),
    "ProjectErasureStore.remove": Case(act=lambda t, h: ProjectErasureStore(t, h.cellar).remove(MOMENT), writes=True),
    "TenantErasureStore.counts": Case(act=lambda t, h: TenantErasureStore(t).counts()),
    "TenantErasureStore.lock_sessions": Case(act=lambda t, h: TenantErasureStore(t).lock_sessions()),
    "TenantErasureStore.entities": Case(act=lambda t, h: TenantErasureStore(t).entities()),
    "TenantErasureStore.remove_all": Case(act=lambda t, h: TenantErasureStore(t).remove_all(MOMENT), writes=True),
}

RETENTION_CASES: dict[str, Case] = {
    "RetentionStore.of_tenant": Case(act=lambda t, h: RetentionStore(t).of_tenant()),
    "RetentionStore.set_of_tenant": Case(act=lambda t, h: RetentionStore(t).set_of_tenant(3), writes=True),
    "RetentionStore.of_projects": Case(act=lambda t, h: RetentionStore(t).of_projects()),
    "RetentionStore.sessions": Case(
        act=lambda t, h: RetentionStore(t).sessions(h.cellar, LATER, after=SessionId(0), limit=9), nothing=[]
    ),
    "RetentionStore.note_ages": Case(act=lambda t, h: RetentionStore(t).note_ages([age(h)]), writes=True),
    "RetentionStore.note_oldest": Case(act=lambda t, h: RetentionStore(t).note_oldest(h.tail(h.first)), writes=True),
    "RetentionStore.messages": Case(
        act=lambda t, h: RetentionStore(t).messages(h.first.session, LATER + 9, 9), nothing=[]
    ),
    "RetentionStore.memories": Case(act=lambda t, h: RetentionStore(t).memories(h.first.session, LATER, 9), nothing=[]),
    "RetentionStore.observations": Case(
        act=lambda t, h: RetentionStore(t).observations(h.first.session, h.first.messages), nothing={}
    ),
    "RetentionStore.remove_observations": Case(
        act=lambda t, h: RetentionStore(t).remove_observations(h.first.session, [h.first.observation]),
        nothing=0,
        writes=True,
    ),
    "RetentionStore.searches": Case(act=lambda t, h: RetentionStore(t).searches(h.cellar, LATER, 9), nothing=[]),
    "RetentionStore.remove_searches": Case(
        act=lambda t, h: RetentionStore(t).remove_searches(RetentionStore(t).searches(h.cellar, LATER, 9)),
        nothing=0,
        writes=True,
    ),
    "RetentionStore.counts": Case(
        act=lambda t, h: RetentionStore(t).counts(h.cellar, LATER),
        nothing=OldCounts(sessions=0, messages=0, memories=0, observations=0),
    ),
    "RetentionStore.entities": Case(act=lambda t, h: RetentionStore(t).entities(h.cellar, 1 << 60, LATER), nothing=0),
}
