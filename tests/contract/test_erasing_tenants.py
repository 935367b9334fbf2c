"""Erasing a tenant: everything of it goes in one transaction inside its own walls, nothing can be added to it, and its operator can
list tenants and give one a new admin key (ORG-9)."""

import re
from collections.abc import Callable
from threading import Event, Thread

import pytest

from cloister.domain.erasure import TenantCounts
from cloister.domain.errors import Conflict, NotFound, Unauthenticated
from cloister.domain.identifiers import LOCAL_TENANT, TenantId, format_tenant_id, new_tenant_id
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.services.tenancy.api_keys import CreatedTenant, KeyFields
from cloister.storage.interface import Transaction
from cloister.storage.queries import read_queries
from support.databases.engines import TABLES, Engine, at_once
from support.setups.memories import MemorySetup, settle_house

WORDS = ("My brother Quillfeather works at Brambleworks.", "My neighbour Rosa plays the cello.")
# Bare ids of these stay, as that of a deleted session does; no answer shows them.
BARE = {"tenant", "session"}


def made_tenant(house: MemorySetup, name: str = "Doomed") -> tuple[MemorySetup, CreatedTenant]:
    """A tenant with a shared and a divided project, in which two users and nobody talk; everything is extracted."""
    created = house.services.api_keys.create_tenant(name)
    there = MemorySetup(services=house.services, reach=Reach(tenant=created.tenant), clock=house.clock)
    projects = (there.project("Garden", "shared"), there.project("Cellar", "private"), None)
    for user in ("ann", "bob", None):
        for project in projects:
            there.session(f"{user} in {project}", project, user)
            there.tell(f"{user} in {project}", *WORDS)
    return there, created


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def left_of(engine: Engine, tenant: TenantId) -> dict[str, int]:
    return {table: len(rows) for table, rows in engine.dump(tenant).items() if rows}


def is_bare(engine: Engine, tenant: TenantId) -> bool:
    """Nothing but ids, zeros and moments."""
    found = engine.dump(tenant)
    words = {value for table in BARE for row in found[table] for value in row if isinstance(value, str | bytes)}
    return set(left_of(engine, tenant)) <= BARE and words <= {"", "[]", "{}"}


def test_org_9_everything_of_the_tenant_goes_and_is_counted(engine: Engine, house: MemorySetup) -> None:
    doomed, _ = made_tenant(house)
    spared, _ = made_tenant(house, "Spared")
    others = engine.dump(spared.reach.tenant)
    preview = house.services.tenants.preview_erasing(doomed.reach.tenant)

    erased = house.services.tenants.erase(doomed.reach.tenant)

    assert erased == preview
    assert (erased.projects, erased.sessions, erased.messages, erased.episodes, erased.api_keys) == (3, 9, 36, 18, 1)
    assert erased.memories == 18 and erased.entities > 4
    assert is_bare(engine, doomed.reach.tenant)
    assert engine.dump(spared.reach.tenant) == others


def test_a_dry_run_changes_nothing(engine: Engine, house: MemorySetup) -> None:
    doomed, _ = made_tenant(house)
    before = engine.dump()
    house.services.tenants.preview_erasing(doomed.reach.tenant)
    assert engine.dump() == before


def test_its_keys_are_refused_at_once(house: MemorySetup) -> None:
    doomed, created = made_tenant(house)
    access = house.services.api_keys
    bound = access.create(doomed.reach, KeyFields(name="browser", user_id="ann"))
    house.services.tenants.erase(doomed.reach.tenant)
    for text in (created.admin_key, bound.text):
        with pytest.raises(Unauthenticated):
            access.authenticate(text)
    with pytest.raises(Unauthenticated):
        access.still_valid(doomed.reach.tenant, bound.key.id)


def test_an_erased_tenant_is_as_one_that_never_was(engine: Engine, house: MemorySetup) -> None:
    """ISO-4: every call is answered in the same words but for the id."""
    doomed, _ = made_tenant(house)
    house.services.tenants.erase(doomed.reach.tenant)
    tenants, organise = house.services.tenants, house.services.projects
    calls: list[Callable[[TenantId], object]] = [
        lambda tenant: tenants.erase(tenant),
        lambda tenant: tenants.preview_erasing(tenant),
        lambda tenant: tenants.create_key(tenant),
        lambda tenant: tenants.find(format_tenant_id(tenant)),
        lambda tenant: organise.create_project(Reach(tenant=tenant), "New"),
        lambda tenant: organise.default_project(Reach(tenant=tenant)),
        lambda tenant: house.services.sessions.create(Reach(tenant=tenant), SessionFields(external_id="new")),
        lambda tenant: house.services.sessions.get(Reach(tenant=tenant), "ann in None"),
        lambda tenant: house.services.api_keys.create(Reach(tenant=tenant), KeyFields(name="new")),
    ]
    never = new_tenant_id()
    for call in calls:
        told = {
            str(engine.unchanged_by(NotFound, lambda call=call, tenant=tenant: call(tenant))).replace(
                format_tenant_id(tenant), "…"
            )
            for tenant in (doomed.reach.tenant, never)
        }
        assert len(told) == 1


def test_the_tenant_of_the_installation_is_not_erased(engine: Engine, house: MemorySetup) -> None:
    """It would be made again at the next start, under the same id."""
    house.services.projects.create_tenant("local", tenant=LOCAL_TENANT)
    for call in (house.services.tenants.erase, house.services.tenants.preview_erasing):
        said = engine.unchanged_by(Conflict, lambda call=call: call(LOCAL_TENANT))
        assert "Erase its users" in str(said)


def test_tenants_are_listed_oldest_first_in_pages_without_those_that_are_erased(house: MemorySetup) -> None:
    tenants = house.services.tenants
    made = [made_tenant(house, name)[1] for name in ("First", "Second", "Third")]
    tenants.erase(made[1].tenant)
    first, *rest = tenants.page(limit=200)
    assert first.tenant == house.reach.tenant
    assert [each.name for each in rest] == ["First", "Third"]
    assert [(each.projects, each.sessions, each.messages) for each in rest] == [(3, 9, 36)] * 2
    assert tenants.page(limit=1, after=(first.created_at, first.tenant)) == rest[:1]
    assert tenants.page(limit=1, after=(rest[1].created_at, rest[1].tenant)) == []


def test_a_tenant_is_found_by_its_id_or_its_only_name(house: MemorySetup) -> None:
    tenants = house.services.tenants
    one, _ = house.services.projects.create_tenant("One")
    first, _ = house.services.projects.create_tenant("Two")
    house.services.projects.create_tenant("Two")
    assert tenants.find("One") == tenants.find(format_tenant_id(one)) == one
    assert tenants.find(format_tenant_id(first)) == first
    with pytest.raises(Conflict, match="by its id"):
        tenants.find("Two")
    for unknown in ("Three", "one", format_tenant_id(new_tenant_id()), "ten_x", "ten_0000000000000000"):
        with pytest.raises(NotFound):
            tenants.find(unknown)


def test_a_tenant_that_lost_its_keys_gets_an_admin_key(house: MemorySetup) -> None:
    """No tenant is ever locked out."""
    doomed, _ = made_tenant(house)
    made = house.services.tenants.create_key(doomed.reach.tenant)
    key = house.services.api_keys.authenticate(made.text)
    assert (key.tenant, key.permissions, key.project, key.user) == (
        doomed.reach.tenant,
        ("read", "write", "admin"),
        None,
        None,
    )


def test_every_table_of_tenants_is_erased() -> None:
    """A new table belongs in `erasing.sql`. Messages go session by session, and vectors with their messages; what an outside
    index has yet to remove, later."""
    touched = {
        table
        for name, text in read_queries(".sql")
        if name.startswith(("erase_", "blank_sessions", "delete_messages"))
        for table in re.findall(r"^(?:DELETE FROM|UPDATE) (\w+)", text, re.MULTILINE)
    }
    assert touched | {"index_removal", "message_vector"} == set(TABLES)


def erase_with(house: MemorySetup, tenant: TenantId, meanwhile: Callable[[], object]) -> list[BaseException]:
    """Erase the tenant, and do this when its rows are gone and the transaction has yet to end. Gives what went wrong with it."""
    removed, failures = Event(), list[BaseException]()

    def work(transaction: Transaction) -> TenantCounts:
        counts = house.services.tenants._remove(transaction)  # pyright: ignore[reportPrivateUsage]
        removed.set()
        # Whoever waits for a lock of this transaction is given the time to begin to.
        Event().wait(0.3)
        return counts

    def run() -> None:
        removed.wait(30)
        try:
            meanwhile()
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            failures.append(error)

    other = Thread(target=run)
    other.start()
    house.services.database.write(Reach(tenant=tenant), work)
    other.join(30)
    assert not other.is_alive()
    return failures


@pytest.mark.parametrize("act", ["session", "session of a new user", "project", "key", "say", "move", "rename"])
def test_nothing_is_added_to_a_tenant_that_is_being_erased(engine: Engine, house: MemorySetup, act: str) -> None:
    doomed, _ = made_tenant(house)
    garden = doomed.services.projects.find_project(doomed.reach, "Garden").id
    organise = house.services.projects
    acts: dict[str, Callable[[], object]] = {
        "session": lambda: doomed.session("new", None, "ann"),
        "session of a new user": lambda: doomed.session("new", None, "zoe"),
        "project": lambda: organise.create_project(doomed.reach, "New"),
        "key": lambda: house.services.api_keys.create(doomed.reach, KeyFields(name="new")),
        "say": lambda: doomed.say("ann in None", "Quillfeather again."),
        "move": lambda: doomed.move("ann in None", garden),
        "rename": lambda: organise.change_project(doomed.reach, garden, name="New"),
    }
    (failure,) = erase_with(house, doomed.reach.tenant, acts[act])
    assert isinstance(failure, NotFound)
    assert is_bare(engine, doomed.reach.tenant)


def test_a_tenant_erased_among_writers_stays_empty(engine: Engine, house: MemorySetup) -> None:
    doomed, _ = made_tenant(house)

    def live(number: int) -> None:
        for turn in range(20):
            try:
                if number == 0:
                    if turn == 3:
                        house.services.tenants.erase(doomed.reach.tenant)
                    continue
                doomed.session(f"{number}-{turn}", None, f"user {number}")
                doomed.say(f"{number}-{turn}", *WORDS)
            except NotFound:
                continue

    at_once(live, 5)
    assert is_bare(engine, doomed.reach.tenant)
    assert house.services.tenants.page(limit=9)[-1].tenant != doomed.reach.tenant


def test_who_reads_along_is_told(house: MemorySetup) -> None:
    doomed, _ = made_tenant(house)
    reader = house.services.events.subscribe(doomed.reach)
    house.services.tenants.erase(doomed.reach.tenant)
    assert [each.event.kind for each in reader.read() if each.event] == ["reset"]
