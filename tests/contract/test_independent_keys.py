"""A key is independent of the key that asked for it, and a tenant always has one that can make others (ORG-8, ORG-9)."""

import json
from dataclasses import replace

import pytest

from cloister.domain.authenticated_encryption import decrypt
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import KeyId
from cloister.domain.keys import parse_key
from cloister.domain.scope import Reach
from cloister.services.tenancy.api_keys import CreatedKey, CreatedTenant, KeyFields
from support.databases.engines import Engine, at_once
from support.setups.keys import HOUR, OPERATOR, Hands, KeySetup, once, parsed, reach_of

ADMIN = ("read", "write", "admin")


@pytest.fixture(scope="module")
def house(shared_engine: Engine) -> KeySetup:
    clock = Hands()
    return KeySetup(engine=shared_engine, services=shared_engine.services(clock=clock), clock=clock)


def admin_key(house: KeySetup, tenant: CreatedTenant, **fields: object) -> CreatedKey:
    wanted = replace(KeyFields(name="admin", permissions=ADMIN), **fields)
    return house.services.api_keys.create(reach_of(tenant), wanted)


def unsealed(house: KeySetup, tenant: CreatedTenant, root: str) -> set[str]:
    """What one who has every row and the text of a credential can read: the secrets of all sealed answers."""
    found: set[str] = set()
    for row in house.engine.dump(tenant.tenant)["idempotency"]:
        kept: list[object] = json.loads(str(row[7])) if row[7] is not None else []
        for sealed in [part for part in kept if isinstance(part, str)]:
            for key in house.services.api_keys.page(Reach(tenant=tenant.tenant), limit=99):
                secret = decrypt(root.encode(), f"secret of key_{key.id:016x}", bytes.fromhex(sealed))
                if secret is not None:
                    found.add(secret.decode())
    return found


def test_org_8_whoever_has_a_revoked_key_and_every_row_cannot_work_out_the_keys_it_asked_for(house: KeySetup) -> None:
    tenant = house.tenant()
    asking = admin_key(house, tenant)
    made = once(house, tenant, KeyFields(name="Once"), root=asking.text)
    assert unsealed(house, tenant, asking.text) == {parsed(made.text).secret}, "while it can be answered again"
    house.services.api_keys.revoke(reach_of(tenant), asking.key.id)
    assert unsealed(house, tenant, asking.text) == set()
    assert [row[6:8] for row in house.engine.dump(tenant.tenant)["idempotency"]] == [(None, None)]
    house.services.api_keys.authenticate(made.text)


REVOKED = {"the key that was made": 1, "the key that asked": 0}


@pytest.mark.parametrize("name", REVOKED)
def test_org_8_under_an_idempotency_key_no_second_key_is_made_after_a_revocation(house: KeySetup, name: str) -> None:
    """The repeated request is refused, whatever it says and whoever sends it, until the idempotency key is free again."""
    tenant = house.tenant()
    asking = admin_key(house, tenant)
    made = once(house, tenant, KeyFields(name="Once"), root=asking.text)
    house.services.api_keys.revoke(reach_of(tenant), (asking, made)[REVOKED[name]].key.id)
    for root in (asking.text, tenant.admin_key):
        assert unsealed(house, tenant, root) == set()
        for fields in (KeyFields(name="Once"), KeyFields(name="Other")):
            said = house.engine.unchanged_by(
                Conflict, lambda fields=fields, root=root: once(house, tenant, fields, root=root)
            )
            assert str(said).endswith("was revoked. Use a new idempotency key.")
    house.clock.moment += HOUR
    assert once(house, tenant, KeyFields(name="Once")).key.id != made.key.id


def test_org_8_a_tenant_whose_first_key_was_revoked_is_not_answered_again(house: KeySetup) -> None:
    access = house.services.api_keys
    tenant = access.create_tenant("KeySetup", idempotency_key="revoked", root=OPERATOR)
    admin_key(house, tenant)
    access.revoke(reach_of(tenant), parsed(tenant.admin_key).key)
    said = house.engine.unchanged_by(
        Conflict, lambda: access.create_tenant("KeySetup", idempotency_key="revoked", root=OPERATOR)
    )
    assert str(said).endswith("was revoked. Use a new idempotency key.")


def test_org_8_a_sealed_secret_is_gone_after_an_hour(house: KeySetup) -> None:
    tenant = house.tenant()
    first = once(house, tenant, KeyFields(name="Once"))
    house.clock.moment += HOUR
    house.services.idempotency_expiry.drop()
    assert house.engine.dump(tenant.tenant)["idempotency"] == []
    second = once(house, tenant, KeyFields(name="Once"))
    assert parsed(second.text).secret != parsed(first.text).secret


def test_org_8_two_tenants_made_under_one_key_by_one_operator_have_nothing_in_common(house: KeySetup) -> None:
    """The secret of the first key is drawn, and sealed for an hour; then the idempotency key is used up."""
    access = house.services.api_keys
    made = access.create_tenant("KeySetup", idempotency_key="independent", root=OPERATOR)
    assert access.create_tenant("KeySetup", idempotency_key="independent", root=OPERATOR) == made
    assert unsealed(house, made, OPERATOR) == {parsed(made.admin_key).secret}
    house.clock.moment += HOUR
    said = house.engine.unchanged_by(
        Conflict, lambda: access.create_tenant("KeySetup", idempotency_key="independent", root=OPERATOR)
    )
    assert str(said).endswith("Use a new key.")
    access.authenticate(made.admin_key)


def test_org_9_the_last_admin_key_is_not_revoked(house: KeySetup) -> None:
    tenant = house.tenant()
    last = parsed(tenant.admin_key).key
    house.key(tenant)
    said = house.engine.unchanged_by(Conflict, lambda: house.services.api_keys.revoke(reach_of(tenant), last))
    assert "Make a new admin key without expires_at first" in str(said)
    second = admin_key(house, tenant)
    house.services.api_keys.revoke(reach_of(tenant), last)
    house.engine.unchanged_by(Conflict, lambda: house.services.api_keys.revoke(reach_of(tenant), second.key.id))


@pytest.mark.parametrize("kind", ["expires", "is confined", "has expired", "is no admin", "is of another tenant"])
def test_org_9_a_key_that_does_not_last_or_cannot_make_keys_does_not_count(house: KeySetup, kind: str) -> None:
    tenant = house.tenant()
    match kind:
        case "expires":
            admin_key(house, tenant, expires_at=house.clock() + 400 * 24 * HOUR)
        case "is confined":
            admin_key(house, tenant, project=tenant.default_project, confined=True)
        case "has expired":
            admin_key(house, tenant, expires_at=house.clock() + 1)
            house.clock.moment += 1
        case "is no admin":
            house.key(tenant)
        case _:
            admin_key(house, house.tenant())
    last = parsed(tenant.admin_key).key
    house.engine.unchanged_by(Conflict, lambda: house.services.api_keys.revoke(reach_of(tenant), last))


def test_org_9_every_other_key_can_be_revoked(house: KeySetup) -> None:
    """Also an admin's that expires, one that is confined, and one that expired already."""
    tenant = house.tenant()
    made = [
        house.key(tenant),
        admin_key(house, tenant, expires_at=house.clock() + HOUR),
        admin_key(house, tenant, project=tenant.default_project, confined=True),
        admin_key(house, tenant, expires_at=house.clock() + 1),
    ]
    house.clock.moment += 1
    for key in made:
        house.services.api_keys.revoke(reach_of(tenant), key.key.id)
    assert [key.name for key in house.services.api_keys.page(reach_of(tenant), limit=9)] == ["admin"]


def test_org_9_of_eight_admin_keys_that_are_revoked_at_once_one_stays(house: KeySetup) -> None:
    """Over two processes."""
    tenant = house.tenant()
    parsed_first = parse_key(tenant.admin_key)
    assert parsed_first is not None
    keys: list[KeyId] = [parsed_first.key, *(admin_key(house, tenant).key.id for _ in range(7))]
    processes = (house.services, house.engine.services(clock=house.clock))

    def revoke(number: int) -> str:
        try:
            processes[number % 2].api_keys.revoke(reach_of(tenant), keys[number])
        except Conflict:
            return "refused"
        return "revoked"

    assert sorted(at_once(revoke)) == ["refused"] + ["revoked"] * 7
    assert len(house.services.api_keys.page(reach_of(tenant), limit=99)) == 1


def test_org_9_a_missing_key_reads_as_missing_beside_one_admin_key(house: KeySetup) -> None:
    tenant, other = house.tenant(), house.tenant()
    for key in (KeyId(7), parsed(other.admin_key).key):
        house.engine.unchanged_by(NotFound, lambda key=key: house.services.api_keys.revoke(reach_of(tenant), key))
