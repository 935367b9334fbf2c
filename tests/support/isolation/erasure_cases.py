"""The stores that erase, method by method, as `test_store_isolation` runs them. Both tenants have a user called ann."""

from cloister.domain.scope import PoolKey
from cloister.storage.stores.erasure import TenantRows, UserRows
from support.isolation.twin_tenants import GARDEN, MOMENT, Case, pools

ERASING_CASES: dict[str, Case] = {
    "UserRows.counts": Case(act=lambda t, h: UserRows(t, "ann").counts()),
    "UserRows.lock_sessions": Case(act=lambda t, h: UserRows(t, "ann").lock_sessions()),
    "UserRows.sessions": Case(act=lambda t, h: UserRows(t, "ann").sessions([h.first.session]), nothing=[]),
    "UserRows.entities": Case(act=lambda t, h: UserRows(t, "ann").entities()),
    "UserRows.remove_entities": Case(
        act=lambda t, h: UserRows(t, "ann").remove_entities([h.second.entity]), nothing=[], writes=True
    ),
    "UserRows.lock_pools": Case(act=lambda t, h: UserRows(t, "ann").lock_pools()),
    "UserRows.remove_pools": Case(
        act=lambda t, h: (
            pools(t).ensure(PoolKey(project=GARDEN, user="ann")),
            UserRows(t, "ann").remove_pools([place.pool for place in h.places]),
        ),
        writes=True,
    ),
    "UserRows.remove_keys": Case(act=lambda t, h: UserRows(t, "ann").remove_keys(), writes=True),
    "TenantRows.counts": Case(act=lambda t, h: TenantRows(t).counts()),
    "TenantRows.lock_sessions": Case(act=lambda t, h: TenantRows(t).lock_sessions()),
    "TenantRows.entities": Case(act=lambda t, h: TenantRows(t).entities()),
    "TenantRows.remove_all": Case(act=lambda t, h: TenantRows(t).remove_all(MOMENT), writes=True),
}
