"""Keys on both engines (ORG-4, ORG-8): who comes in, who does not, and that a key is nowhere but with its holder."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from cloister.domain.errors import (
    CloisterError,
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    NotFound,
    TooLarge,
    Unauthenticated,
)
from cloister.domain.identifiers import KeyId, TenantId, format_key_id, new_key_id, new_project_id, new_tenant_id
from cloister.domain.keys import ParsedKey, key_text, new_secret
from cloister.domain.scope import Reach
from cloister.services.tenancy.api_keys import CreatedKey, CreatedTenant, KeyFields
from support.databases.engines import Engine, at_once
from support.isolation.twin_tenants import MOMENT
from support.setups.keys import DAY, HOUR, OPERATOR, Hands, KeySetup, once, parsed, reach_of


@pytest.fixture(scope="module")
def house(shared_engine: Engine) -> KeySetup:
    clock = Hands()
    return KeySetup(engine=shared_engine, services=shared_engine.services(clock=clock), clock=clock)


def test_org_8_a_key_opens_the_tenant_that_it_names(house: KeySetup) -> None:
    tenant, other = house.tenant(), house.tenant()
    made = house.key(tenant, project=tenant.default_project)
    assert house.services.api_keys.authenticate(made.text) == made.key
    assert made.key.reach == reach_of(tenant) != reach_of(other)
    admin = house.services.api_keys.authenticate(tenant.admin_key)
    assert (admin.tenant, admin.permissions, admin.project) == (tenant.tenant, ("read", "write", "admin"), None)


def test_org_4_a_confined_key_reaches_its_project_alone(house: KeySetup) -> None:
    tenant = house.tenant()
    made = house.key(tenant, project=tenant.default_project, confined=True)
    found = house.services.api_keys.authenticate(made.text)
    assert found.reach == Reach(tenant=tenant.tenant, confined_to=tenant.default_project)


def revoked(house: KeySetup, tenant: CreatedTenant, key: ParsedKey) -> str:
    house.services.api_keys.revoke(reach_of(tenant), key.key)
    return key_text(*key)


def expired(house: KeySetup, tenant: CreatedTenant, key: ParsedKey) -> str:
    fields = KeyFields(name="Guest", expires_at=house.clock() + DAY)
    made = house.services.api_keys.create(reach_of(tenant), fields)
    house.services.api_keys.authenticate(made.text)
    house.clock.moment += DAY
    return made.text


WRONG: dict[str, Callable[[KeySetup, CreatedTenant, ParsedKey], str]] = {
    "revoked": revoked,
    "expired": expired,
    "another secret": lambda house, tenant, key: key_text(key.tenant, key.key, new_secret()),
    "the secret of another key": lambda house, tenant, key: key_text(
        key.tenant, key.key, parsed(tenant.admin_key).secret
    ),
    "another tenant": lambda house, tenant, key: key_text(house.tenant().tenant, key.key, key.secret),
    "a tenant that does not exist": lambda house, tenant, key: key_text(new_tenant_id(), key.key, key.secret),
    "a key that does not exist": lambda house, tenant, key: key_text(key.tenant, new_key_id(), key.secret),
    "a key of another tenant": lambda house, tenant, key: key_text(
        key.tenant, house.key(house.tenant()).key.id, key.secret
    ),
    "a typing error": lambda house, tenant, key: key_text(*key)[:-1] + "_",
    "the id alone": lambda house, tenant, key: format_key_id(key.key),
    "garbage": lambda house, tenant, key: "'; DROP TABLE api_key; --",
    "nothing": lambda house, tenant, key: "",
}


@pytest.mark.parametrize("name", WRONG)
def test_org_8_whatever_is_wrong_with_a_key_the_answer_is_the_same(house: KeySetup, name: str) -> None:
    tenant = house.tenant()
    text = WRONG[name](house, tenant, parsed(house.key(tenant).text))
    with pytest.raises(Unauthenticated) as caught:
        house.services.api_keys.authenticate(text)
    assert str(caught.value) == "A valid API key is needed: Authorization: Bearer <key>."


def test_org_8_a_key_revoked_by_one_process_is_refused_by_another_at_once(house: KeySetup) -> None:
    elsewhere = house.engine.services(clock=house.clock)
    tenant = house.tenant()
    made = house.key(tenant)
    assert elsewhere.api_keys.authenticate(made.text) == made.key
    house.services.api_keys.revoke(reach_of(tenant), made.key.id)
    with pytest.raises(Unauthenticated):
        elsewhere.api_keys.authenticate(made.text)


def test_org_8_a_key_outlives_the_project_it_is_pinned_to_and_keeps_naming_it(house: KeySetup) -> None:
    """What it may then do is ORG-3's: nothing without a header."""
    tenant = house.tenant()
    project = house.services.projects.create_project(reach_of(tenant), "Garden").id
    made = house.key(tenant, project=project)
    house.services.projects.delete_project(reach_of(tenant), project)
    assert house.services.api_keys.authenticate(made.text).project == project
    assert not house.services.projects.owns(reach_of(tenant), project)


def test_org_8_no_secret_is_anywhere_in_the_database(house: KeySetup) -> None:
    tenant = house.services.api_keys.create_tenant("Household", idempotency_key="t", root=OPERATOR)
    reach = reach_of(tenant)
    once = house.services.api_keys.create(
        reach, KeyFields(name="Once"), idempotency_key="unique k", root=tenant.admin_key
    )
    kept = repr(house.engine.dump())
    for text in (tenant.admin_key, house.key(tenant).text, once.text):
        assert text not in kept
        assert parsed(text).secret not in kept
    assert OPERATOR not in kept
    assert str(parsed(once.text).key) in kept, "it is there, and would have been found"


CONFINED: dict[str, Callable[[KeySetup, Reach, KeyId], object]] = {
    "make one": lambda house, reach, key: house.services.api_keys.create(
        reach, KeyFields(name="Mine", project=reach.confined_to, confined=True)
    ),
    "make one once": lambda house, reach, key: house.services.api_keys.create(
        reach, KeyFields(name="Mine"), idempotency_key="k", root="r"
    ),
    "list them": lambda house, reach, key: house.services.api_keys.page(reach, limit=9),
    "revoke one": lambda house, reach, key: house.services.api_keys.revoke(reach, key),
    "revoke one that is not there": lambda house, reach, key: house.services.api_keys.revoke(reach, new_key_id()),
}


@pytest.mark.parametrize("name", CONFINED)
def test_org_4_a_confined_key_can_do_nothing_with_keys(house: KeySetup, name: str) -> None:
    """ORG-4: one that could make keys could make one that is not confined."""
    tenant = house.tenant()
    made = house.key(tenant, project=tenant.default_project, confined=True)
    house.engine.unchanged_by(Forbidden, lambda: CONFINED[name](house, made.key.reach, made.key.id))


@pytest.mark.parametrize("confined", [False, True])
def test_org_4_a_key_cannot_be_pinned_to_what_is_not_the_tenants(house: KeySetup, confined: bool) -> None:
    """ORG-4, ISO-4: a foreign project, a deleted one and one that never was read alike, and nothing is made."""
    tenant, other = house.tenant(), house.tenant()
    deleted = house.services.projects.create_project(reach_of(tenant), "Gone").id
    house.services.projects.delete_project(reach_of(tenant), deleted)
    texts: set[str] = set()
    for project in (other.default_project, deleted, new_project_id()):
        said = house.engine.unchanged_by(
            NotFound, lambda project=project: house.key(tenant, project=project, confined=confined)
        )
        texts.add(str(said).replace(f"{project:016x}", "…"))
    assert texts == {"There is no project 'proj_…' here."}


BAD_FIELDS: dict[str, tuple[KeyFields, type[CloisterError], str]] = {
    "no name": (KeyFields(name=""), InvalidRequest, "name"),
    "two lines": (KeyFields(name="a\nb"), InvalidRequest, "name"),
    "a name too long": (KeyFields(name="x" * 256), TooLarge, "name"),
    "confined to nothing": (KeyFields(name="Mine", confined=True), InvalidRequest, "confined"),
    "expired from the start": (KeyFields(name="Mine", expires_at=MOMENT), InvalidRequest, "expires_at"),
    "no permission": (KeyFields(name="Mine", permissions=()), InvalidRequest, "permissions"),
    "an unknown one": (KeyFields(name="Mine", permissions=("read", "root")), InvalidRequest, "permissions"),
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_org_8_a_key_that_makes_no_sense_is_refused(house: KeySetup, name: str) -> None:
    fields, kind, field = BAD_FIELDS[name]
    tenant = house.tenant()
    said = house.engine.unchanged_by(kind, lambda: house.services.api_keys.create(reach_of(tenant), fields))
    assert str(said).startswith(field)


def test_org_8_the_same_request_again_is_answered_with_the_same_key(house: KeySetup) -> None:
    """ORG-8: also after some time, and by another process."""
    tenant = house.tenant()
    fields = KeyFields(name="Once", project=tenant.default_project, expires_at=house.clock() + 30 * DAY)
    first = once(house, tenant, fields)
    house.clock.moment += HOUR - 1
    elsewhere = replace(house, services=house.engine.services(clock=house.clock))
    assert once(elsewhere, tenant, fields) == first
    assert house.services.api_keys.authenticate(first.text) == first.key
    assert {key.name for key in house.services.api_keys.page(reach_of(tenant), limit=9)} == {"admin", "Once"}
    assert house.services.projects.usage(reach_of(tenant)).api_keys == 2


def test_org_8_another_request_under_the_same_key_is_refused(house: KeySetup) -> None:
    tenant = house.tenant()
    fields = KeyFields(name="Once")
    once(house, tenant, fields)
    others = (
        replace(fields, name="Other"),
        replace(fields, project=tenant.default_project),
        replace(fields, project=tenant.default_project, confined=True),
        replace(fields, permissions=("read",)),
        replace(fields, expires_at=house.clock() + DAY),
    )
    for other in others:
        house.engine.unchanged_by(IdempotencyMismatch, lambda other=other: once(house, tenant, other))


def test_org_8_an_idempotency_key_of_a_tenant_makes_one_key_whichever_admin_key_asks(house: KeySetup) -> None:
    """ORG-8: the secret is answered to the key that asked for it only; another caller is refused, and nothing is made."""
    tenant = house.tenant()
    second = house.key(tenant, "Second admin")
    fields = KeyFields(name="Once")
    made = once(house, tenant, fields)
    said = house.engine.unchanged_by(Conflict, lambda: once(house, tenant, fields, root=second.text))
    assert str(said).startswith("The idempotency key 'k' was used with another API key")
    other = replace(fields, name="Other")
    house.engine.unchanged_by(IdempotencyMismatch, lambda: once(house, tenant, other, root=second.text))
    assert once(house, tenant, fields) == made
    assert house.services.api_keys.authenticate(made.text) == made.key


def test_org_8_of_eight_requests_of_two_admin_keys_at_once_one_makes_a_key(house: KeySetup) -> None:
    """ORG-8: over two processes; the others are answered with it, or refused."""
    tenant = house.tenant()
    roots = (tenant.admin_key, house.key(tenant, "Second admin").text)
    houses = (house, replace(house, services=house.engine.services(clock=house.clock)))

    def ask(number: int) -> str:
        try:
            return once(houses[number // 2 % 2], tenant, KeyFields(name="Once"), root=roots[number % 2]).text
        except Conflict:
            return ""

    answers = at_once(ask)
    assert len({*answers} - {""}) == 1
    assert answers.count("") == 4
    assert [key.name for key in house.services.api_keys.page(reach_of(tenant), limit=9)].count("Once") == 1


def test_org_8_the_operators_idempotency_keys_are_its_own(house: KeySetup) -> None:
    """ORG-8: a tenant's request under the same key is another request."""
    tenant = house.tenant()
    mine = once(house, tenant, KeyFields(name="Once"))
    theirs = house.services.tenants.create_key(tenant.tenant, idempotency_key="k", root=OPERATOR)
    assert house.services.tenants.create_key(tenant.tenant, idempotency_key="k", root=OPERATOR) == theirs
    assert theirs.key.id != mine.key.id
    house.engine.unchanged_by(
        Conflict, lambda: house.services.tenants.create_key(tenant.tenant, idempotency_key="k", root="rotated")
    )


def test_org_8_a_request_that_is_no_longer_remembered_makes_a_key_with_a_secret_of_its_own(house: KeySetup) -> None:
    """ORG-8: whoever saw the first key, revoked since, cannot work out the second."""
    tenant = house.tenant()
    first = once(house, tenant, KeyFields(name="Once"))
    house.services.api_keys.revoke(reach_of(tenant), first.key.id)
    house.clock.moment += 2 * DAY
    once(house, tenant, KeyFields(name="Sweeper"), key="another")
    second = once(house, tenant, KeyFields(name="Once"))
    assert second.key.id != first.key.id
    assert parsed(second.text).secret != parsed(first.text).secret
    house.services.api_keys.authenticate(second.text)


def test_org_8_the_same_request_eight_times_at_once_makes_one_key(house: KeySetup) -> None:
    tenant = house.tenant()
    made = at_once(lambda _: once(house, tenant, KeyFields(name="Once")))
    assert len({created.text for created in made}) == 1
    assert house.services.api_keys.authenticate(made[0].text) == made[0].key
    assert len(house.services.api_keys.page(reach_of(tenant), limit=9)) == 2


def test_org_2_a_tenant_made_twice_under_one_key_is_one_tenant(house: KeySetup) -> None:
    """ORG-2: with one default project and one key; and the operator's key and the name are what makes it the same."""
    access = house.services.api_keys
    made = at_once(lambda _: access.create_tenant("Twice", idempotency_key="twice", root=OPERATOR))
    assert len(set(made)) == 1
    assert access.authenticate(made[0].admin_key).tenant == made[0].tenant
    assert [project.id for project in house.services.projects.projects(reach_of(made[0]), limit=9)] == [
        made[0].default_project
    ]
    house.engine.unchanged_by(
        IdempotencyMismatch, lambda: access.create_tenant("Other", idempotency_key="twice", root=OPERATOR)
    )
    for other in (
        access.create_tenant("Twice", idempotency_key="twice again", root=OPERATOR),
        access.create_tenant("Twice", idempotency_key="twice", root="another operator"),
        access.create_tenant("Twice"),
    ):
        assert other.tenant != made[0].tenant
        assert parsed(other.admin_key).secret != parsed(made[0].admin_key).secret


def test_org_8_keys_are_listed_oldest_first_page_by_page_without_the_revoked_and_without_others(
    house: KeySetup,
) -> None:
    tenant = house.tenant()
    house.key(house.tenant())
    made: list[CreatedKey] = []
    house.clock.moment += 1
    for number in range(7):
        house.clock.moment += number % 2
        made.append(house.key(tenant, f"key {number}"))
    house.services.api_keys.revoke(reach_of(tenant), made[3].key.id)
    seen: list[KeyId] = []
    after = None
    while page := house.services.api_keys.page(reach_of(tenant), limit=3, after=after):
        assert len(page) <= 3
        seen += [key.id for key in page]
        after = page[-1].created_at, page[-1].id
    admin = parsed(tenant.admin_key).key
    left = [created.key for created in made if created is not made[3]]
    assert seen == [admin, *(key.id for key in sorted(left, key=lambda key: (key.created_at, key.id)))]


def test_iso_4_a_foreign_key_is_revoked_by_nobody_and_reads_like_a_missing_one(house: KeySetup) -> None:
    """ISO-4, ORG-8."""
    tenant, other = house.tenant(), house.tenant()
    theirs = house.key(other)
    gone = house.key(tenant).key.id
    house.services.api_keys.revoke(reach_of(tenant), gone)
    texts: set[str] = set()
    for key in (theirs.key.id, new_key_id(), gone):
        said = house.engine.unchanged_by(
            NotFound, lambda key=key: house.services.api_keys.revoke(reach_of(tenant), key)
        )
        texts.add(str(said).replace(format_key_id(key), "…"))
    assert texts == {"There is no API key '…' here."}
    assert house.services.api_keys.authenticate(theirs.text) == theirs.key


def test_org_8_a_tenant_that_does_not_exist_has_no_keys(house: KeySetup) -> None:
    assert house.services.api_keys.page(Reach(tenant=TenantId(1)), limit=9) == []
