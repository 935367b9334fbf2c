"""A Cloister in which tests make keys, with a clock that they turn."""

from dataclasses import dataclass

from cloister.bootstrap import Services
from cloister.domain.identifiers import ProjectId
from cloister.domain.keys import ParsedKey, parse_key
from cloister.domain.scope import Reach
from cloister.services.tenancy.api_keys import CreatedKey, CreatedTenant, KeyFields
from support.databases.engines import Engine
from support.isolation.twin_tenants import MOMENT

HOUR = 3_600 * 1_000_000
DAY = 24 * HOUR
OPERATOR = "the operator's own key, long and random"


class Hands:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.moment = MOMENT

    def __call__(self) -> int:
        return self.moment


@dataclass(frozen=True, kw_only=True, slots=True)
class KeySetup:
    engine: Engine
    services: Services
    clock: Hands

    def tenant(self) -> CreatedTenant:
        return self.services.api_keys.create_tenant("Household")

    def key(
        self, tenant: CreatedTenant, name: str = "Gardener", project: ProjectId | None = None, confined: bool = False
    ) -> CreatedKey:
        fields = KeyFields(name=name, project=project, confined=confined)
        return self.services.api_keys.create(reach_of(tenant), fields)


def reach_of(tenant: CreatedTenant) -> Reach:
    return Reach(tenant=tenant.tenant)


def parsed(text: str) -> ParsedKey:
    found = parse_key(text)
    assert found is not None
    return found


def once(
    house: KeySetup, tenant: CreatedTenant, fields: KeyFields, *, key: str = "k", root: str | None = None
) -> CreatedKey:
    return house.services.api_keys.create(reach_of(tenant), fields, idempotency_key=key, root=root or tenant.admin_key)
