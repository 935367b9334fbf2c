"""OPS-8: tenants are copied from one database to another, with everything that is theirs and nothing of anybody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cloister.bootstrap import Services
from cloister.domain.errors import Conflict, NotFound, Unauthenticated
from cloister.domain.identifiers import TenantId, format_tenant_id
from cloister.domain.maintenance.backup import StepProgress, no_progress
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.services.copying.copy_tenants import CopiedTenant, CopySource, CopyTarget, TenantCopies
from cloister.services.tenancy.api_keys import KeyFields
from support.databases.engines import TABLES, Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.setups.archives import WHOLE_TENANT, archive_of, furnish
from support.setups.memories import MemorySetup, settle_house

ARCHIVED = {
    "project",
    "session",
    "message",
    "memory",
    "memory_source",
    "memory_replacement",
    "memory_revision",
    "entity",
    "mention",
    "entity_relation",
    "observation",
    "session_past",
    "session_item",
    "session_response",
    "memory_file",
    "entry",
}
CARRIED = {"tenant", "api_key", "exclusion"}
MADE_AGAIN = {"pool", "tenant_usage", "message_vector", "index_removal"}
NOT_COPIED = {"idempotency", "prompt_template", "receipt", "sign_in", "entity_change"}


@pytest.fixture
def others(engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[list[Engine]]:
    """An empty database of the other engine, and one of the same."""
    kinds = ["postgres", "sqlite"] if engine.name == "sqlite" else ["sqlite", "postgres"]

    def server() -> PostgresServer:
        return request.getfixturevalue("postgres_server")

    with (
        opened_engine(kinds[0], tmp_path / "there", server) as there,
        opened_engine(kinds[1], tmp_path / "back", server) as back,
    ):
        yield [there, back]


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def copies(source: Services, target: Services | None) -> TenantCopies:
    end = None
    if target is not None:
        end = CopyTarget(
            database=target.database, tenants=target.tenants, export=target.export, importing=target.import_lines
        )
    return TenantCopies(CopySource(database=source.database, tenants=source.tenants, export=source.export), end)


def copy(
    source: Services,
    target: Services,
    tenant: TenantId | None = None,
    *,
    with_keys: bool = True,
    progress: StepProgress = no_progress,
) -> list[CopiedTenant]:
    copying = copies(source, target)
    plans = copying.plan(None if tenant is None else format_tenant_id(tenant))
    return list(copying.run(plans, with_keys=with_keys, progress=progress))


def archive(services: Services, reach: Reach) -> list[bytes]:
    return list(services.export.lines(reach, WHOLE_TENANT))


def furnish_twins(house: MemorySetup) -> MemorySetup:
    """Another tenant of the same database with sessions, users and a project under the same names."""
    tenant, _ = house.services.projects.create_tenant("Twin")
    twin = MemorySetup(services=house.services, reach=Reach(tenant=tenant), clock=house.clock)
    for each, secret in ((house, "violets"), (twin, "gentians")):
        each.project("Garden")
        each.session("same", None, "ann")
        each.tell("same", f"I live in Rome and grow {secret}.")
    return twin


def test_ops_8_there_and_back_the_archive_is_byte_equal(house: MemorySetup, others: list[Engine]) -> None:
    """OPS-8: with every kind of line in it, and each copy says that both are the same."""
    furnish(house)
    lines = archive_of(house)
    there, back = (each.services(clock=house.clock) for each in others)
    (first,), (second,) = copy(house.services, there), copy(there, back)
    assert (first.differences, second.differences) == ((), ())
    assert first.added == second.added
    assert first.added.messages > 0
    assert archive(there, house.reach) == lines
    assert archive(back, house.reach) == lines


def test_ops_8_repeating_adds_nothing(house: MemorySetup, others: list[Engine]) -> None:
    furnish(house)
    there = others[0].services(clock=house.clock)
    (first,), rows = copy(house.services, there), others[0].each(["SELECT * FROM message ORDER BY message_id"])
    (again,) = copy(house.services, there)
    assert (again.unchanged, again.differences) == (first.added, ())
    assert others[0].each(["SELECT * FROM message ORDER BY message_id"]) == rows


def test_ops_8_what_an_archive_does_not_have_comes_along(house: MemorySetup, others: list[Engine]) -> None:
    """OPS-8: keys work as before and with the same reach, a revoked one stays refused; limits, retention, exclusions and default
    sessions stay."""
    services, reach = house.services, house.reach
    garden = house.project("Garden", "private")
    house.session("talk", garden, "ann")
    house.session("other", garden, "ann")
    (said,) = house.say("other", "I live in Rome.")
    services.receipts.exclusions.exclude(reach, "talk", "message", said.id)
    admin = services.api_keys.create(reach, KeyFields(name="admin", permissions=("admin",)))
    bound = services.api_keys.create(reach, KeyFields(name="ann", project=garden, confined=True, user_id="ann"))
    gone = services.api_keys.create(reach, KeyFields(name="gone"))
    services.api_keys.revoke(reach, gone.key.id)
    services.projects.set_limits(reach, Limits(messages=12, projects=5))
    services.retention.set_of_tenant(reach, 30)
    services.receipt_expiry.set_days_of_tenant(reach, 7)
    name = services.mcp_sessions.name(reach, garden)
    there = others[0].services(clock=house.clock)
    (copied,) = copy(services, there)
    assert copied.keys is not None
    assert (copied.keys.carried, copied.keys.only_there, copied.exclusions, copied.differences) == (2, 0, 1, ())
    assert there.api_keys.authenticate(admin.text) == admin.key
    assert there.api_keys.authenticate(bound.text).reach == Reach(tenant=reach.tenant, confined_to=garden, user="ann")
    with pytest.raises(Unauthenticated):
        there.api_keys.authenticate(gone.text)
    assert there.projects.usage(reach).limits == services.projects.usage(reach).limits
    assert (there.retention.of_tenant(reach), there.receipt_expiry.days_of_tenant(reach)) == (30, 7)
    assert there.mcp_sessions.name(reach, garden) == name
    excluded = services.receipts.exclusions.of_session(reach, "talk")
    assert there.receipts.exclusions.of_session(reach, "talk") == excluded
    assert len(excluded) == 1


def test_ops_8_a_key_that_was_revoked_meanwhile_is_revoked_by_the_next_copy(
    house: MemorySetup, others: list[Engine]
) -> None:
    services, reach = house.services, house.reach
    key = services.api_keys.create(reach, KeyFields(name="soon gone"))
    there = others[0].services(clock=house.clock)
    copy(services, there)
    services.api_keys.revoke(reach, key.key.id)
    copy(services, there)
    with pytest.raises(Unauthenticated):
        there.api_keys.authenticate(key.text)


def test_ops_8_without_keys_none_works(house: MemorySetup, others: list[Engine]) -> None:
    key = house.services.api_keys.create(house.reach, KeyFields(name="admin", permissions=("admin",)))
    there = others[0].services(clock=house.clock)
    (copied,) = copy(house.services, there, with_keys=False)
    assert (copied.keys, copied.differences) == (None, ())
    with pytest.raises(Unauthenticated):
        there.api_keys.authenticate(key.text)


def test_iso_1_one_tenant_is_copied_without_the_other(house: MemorySetup, others: list[Engine]) -> None:
    """ISO-1: two tenants with the same names for everything; nothing of the one that is not copied is in the target."""
    twin = furnish_twins(house)
    there = others[0].services(clock=house.clock)
    (copied,) = copy(house.services, there, house.reach.tenant)
    assert (copied.tenant, copied.differences) == (house.reach.tenant, ())
    for table in TABLES:
        (rows,) = others[0].each([f"SELECT tenant_id FROM {table}"])
        assert {row[0] for row in rows} <= {house.reach.tenant}, table
    with pytest.raises(NotFound):
        there.sessions.get(twin.reach, "same")


def test_iso_1_tenants_stay_apart_in_the_target(house: MemorySetup, others: list[Engine]) -> None:
    """ISO-1: both are copied, each has its own, and the second changes nothing of the first."""
    twin = furnish_twins(house)
    there = others[0].services(clock=house.clock)
    copy(house.services, there, house.reach.tenant)
    before = archive(there, house.reach)
    assert copy(house.services, there, twin.reach.tenant)[0].differences == ()
    assert archive(there, house.reach) == before == archive_of(house)
    assert archive(there, twin.reach) == archive_of(twin)
    assert b"gentians" not in b"".join(before)
    assert all(not each.differences for each in copy(house.services, there))


def test_iso_1_ids_that_another_tenant_of_the_target_has_are_left_alone(
    house: MemorySetup, others: list[Engine]
) -> None:
    """ISO-1: the target has another tenant under the very ids of the source, through an import. It keeps every row; the copy is
    either the same under these ids, or says that it is not."""
    furnish(house)
    there = others[0].services(clock=house.clock)
    tenant, _ = there.projects.create_tenant("Other")
    other = Reach(tenant=tenant)
    there.import_lines.run(other, archive_of(house))
    before = archive(there, other)
    with pytest.raises(Conflict, match="that the source does not have, such as 'Other'"):
        copies(house.services, there).plan()
    (copied,) = copy(house.services, there, house.reach.tenant)
    assert archive(there, other) == before
    is_same = archive(there, house.reach) == archive_of(house)
    assert is_same == (not copied.differences)


def test_ops_8_other_content_is_refused_before_anything_is_changed(house: MemorySetup, others: list[Engine]) -> None:
    house.session("ours")
    there = others[0].services(clock=house.clock)
    there.projects.create_tenant("MemorySetup", tenant=house.reach.tenant)
    target = MemorySetup(services=there, reach=house.reach, clock=house.clock)
    assert copies(house.services, there).plan()[0].messages_there == 0
    target.session("theirs")
    with pytest.raises(Conflict, match="'theirs' is not in the source"):
        copy(house.services, there)
    there.forgetting.session(house.reach, "theirs")
    target.project("Attic")
    with pytest.raises(Conflict, match="'Attic' is not in the source"):
        copy(house.services, there)


def test_ops_8_a_tenant_of_another_name_or_an_erased_one_is_refused(house: MemorySetup, others: list[Engine]) -> None:
    there = others[0].services(clock=house.clock)
    there.projects.create_tenant("Renamed", tenant=house.reach.tenant)
    with pytest.raises(Conflict, match="is called 'Renamed' in the target"):
        copy(house.services, there)
    there.tenants.erase(house.reach.tenant)
    with pytest.raises(Conflict, match="was erased in the target"):
        copy(house.services, there)


def test_ops_8_a_difference_is_named(house: MemorySetup, others: list[Engine]) -> None:
    """OPS-8: the target was changed after the first copy; a copy never changes what is there, and says that it differs. Then
    neither limits nor retention are set."""
    house.session("talk")
    house.say("talk", "I live in Rome.", "I have a dog.")
    house.services.retention.set_of_tenant(house.reach, 1)
    there = others[0].services(clock=house.clock)
    copy(house.services, there)
    there.retention.set_of_tenant(house.reach, None)
    others[0].each(
        ["UPDATE message SET content = 'I live in Oslo.', checksum = NULL WHERE content = 'I live in Rome.'"]
    )
    (copied,) = copy(house.services, there)
    assert copied.differences == ("message: 4 in both, of which some differ",)
    others[0].each(["UPDATE session SET title = 'X' WHERE external_id = 'talk'"])
    (copied,) = copy(house.services, there)
    assert copied.differences == (
        "message: 4 in both, of which some differ",
        "session: 1 in both, of which some differ",
    )
    assert there.retention.of_tenant(house.reach) is None


def test_ops_8_the_source_serves_and_stores_meanwhile(house: MemorySetup, others: list[Engine]) -> None:
    """OPS-8: what is said while a copy runs is not in it, and is no difference: the copy is of one moment."""
    furnish(house)
    before = archive_of(house)
    seen: list[str] = []

    def meanwhile(doing: str, done: int, total: int) -> None:
        seen.append(doing)
        house.say("long", "This was said meanwhile.")
        assert house.find("long").message_count > 0

    there = others[0].services(clock=house.clock)
    (copied,) = copy(house.services, there, progress=meanwhile)
    assert copied.differences == ()
    assert seen == ["copying MemorySetup", "comparing MemorySetup"]
    assert archive(there, house.reach) == before


def test_every_table_is_copied_made_again_or_left_out_on_purpose() -> None:
    """A new table of tenants' rows has to be put into one of the lists, and into docs/how-to/move.md if it is not copied."""
    assert set(TABLES) == ARCHIVED | CARRIED | MADE_AGAIN | NOT_COPIED
