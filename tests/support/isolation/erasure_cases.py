"""The stores that erase, method by method, as `test_store_isolation` runs them. Both tenants have a user called ann."""

from cloister.domain.scope import PoolKey
from cloister.storage.stores.erasure import TenantErasureStore, UserErasureStore
from support.isolation.twin_tenants import GARDEN, MOMENT, Case, pools

ERASING_CASES: dict[str, Case] = {
    "UserErasureStore.counts": Case(act=lambda t, h: UserErasureStore(t, "ann").counts()),
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
    "TenantErasureStore.counts": Case(act=lambda t, h: TenantErasureStore(t).counts()),
    "TenantErasureStore.lock_sessions": Case(act=lambda t, h: TenantErasureStore(t).lock_sessions()),
    "TenantErasureStore.entities": Case(act=lambda t, h: TenantErasureStore(t).entities()),
    "TenantErasureStore.remove_all": Case(act=lambda t, h: TenantErasureStore(t).remove_all(MOMENT), writes=True),
}
