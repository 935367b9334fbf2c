"""What a copy carries of a tenant, method by method, as `test_store_isolation` runs them."""

from cloister.storage.stores.copying.carried_rows import CarriedExclusion, CarriedRows
from support.isolation.twin_tenants import MOMENT, Case, Home


def exclusion(home: Home, exclusion_id: int = 1) -> CarriedExclusion:
    return CarriedExclusion(
        exclusion_id=exclusion_id,
        session_id=home.first.session,
        created_at=MOMENT,
        message_id=home.first.messages[0],
        memory_id=None,
        entity_id=None,
    )


COPYING_CASES: dict[str, Case] = {
    "CarriedRows.tenant": Case(act=lambda t, h: CarriedRows(t).tenant()),
    "CarriedRows.set_secret": Case(act=lambda t, h: CarriedRows(t).set_secret(b"other"), writes=True),
    "CarriedRows.all_keys": Case(act=lambda t, h: CarriedRows(t).all_keys()),
    "CarriedRows.exclusions": Case(act=lambda t, h: list(CarriedRows(t).exclusions())),
    "CarriedRows.has_exclusion": Case(
        act=lambda t, h: [CarriedRows(t).has_exclusion(exclusion(h, number)) for number in range(9)]
    ),
    "CarriedRows.add_exclusion": Case(
        act=lambda t, h: CarriedRows(t).add_exclusion(exclusion(h, h.first.session)), nothing=False, writes=True
    ),
}
