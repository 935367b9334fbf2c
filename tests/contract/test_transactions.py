"""What a transaction promises, on both engines: all or nothing, one moment, and errors that come through as they are."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from cloister.domain.errors import Closed, Conflict, StorageError, StorageReadOnly
from cloister.domain.identifiers import new_tenant_id
from cloister.domain.scope import Reach
from cloister.storage.interface import Database, Transaction
from cloister.storage.queries import load_queries, split_queries
from support.databases.rows import Household, insert_household, insert_message, insert_tenant, new_household, settle
from support.isolation.twin_tenants import World


def contents(transaction: Transaction, household: Household) -> list[object]:
    first = household.session << 21
    rows = transaction.rows("messages", after=first, last=first + 2_097_151, limit=1_000_000, all_branches=0)
    return [row[3] for row in rows]


def test_work_that_raises_leaves_nothing_behind(database: Database) -> None:
    household = new_household()

    def work(transaction: Transaction) -> None:
        insert_household(transaction, household)
        raise ValueError("changed my mind")

    with pytest.raises(ValueError, match="changed my mind"):
        database.write(household.reach, work)
    with database.read(household.reach) as transaction:
        assert transaction.row("tenant") is None
        assert contents(transaction, household) == []


@pytest.mark.parametrize("raised", [Conflict("taken"), KeyError("own"), KeyboardInterrupt()], ids=type)
def test_an_error_of_the_work_comes_through_unchanged(database: Database, raised: BaseException) -> None:
    def work(_: Transaction) -> None:
        raise raised

    with pytest.raises(type(raised)) as caught:
        database.write(Reach(tenant=new_tenant_id()), work)
    assert caught.value is raised
    assert caught.value.__cause__ is None


def test_an_error_inside_a_read_comes_through_unchanged(database: Database) -> None:
    raised = Conflict("taken")
    with pytest.raises(Conflict) as caught, database.read(Reach(tenant=new_tenant_id())):
        raise raised
    assert caught.value is raised


def test_a_write_returns_what_the_work_returned(database: Database) -> None:
    assert database.write(Reach(tenant=new_tenant_id()), lambda transaction: transaction.reach.tenant) > 0


def test_a_read_inside_a_write_sees_its_own_writes(database: Database) -> None:
    household = settle(database)

    def work(transaction: Transaction) -> list[object]:
        insert_message(transaction, household.session, 2, "And the beans.")
        return contents(transaction, household)

    assert database.write(household.reach, work) == ["The roses need water.", "And the beans."]


def test_a_read_is_one_moment_whatever_is_written_meanwhile(database: Database) -> None:
    household = settle(database)
    with database.read(household.reach) as transaction:
        before = contents(transaction, household)
        database.write(household.reach, lambda other: insert_message(other, household.session, 2))
        assert contents(transaction, household) == before
    with database.read(household.reach) as transaction:
        assert len(contents(transaction, household)) == len(before) + 1


def test_a_read_cannot_write(database: Database) -> None:
    reach = Reach(tenant=new_tenant_id())
    with pytest.raises(StorageReadOnly), database.read(reach) as transaction:
        insert_tenant(transaction)
    with database.read(reach) as transaction:
        assert transaction.row("tenant") is None


def test_every_write_of_eight_threads_lands(database: Database) -> None:
    household = settle(database)

    def append(_: int) -> None:
        def work(transaction: Transaction) -> None:
            session = transaction.row("lock_session", external_id="first")
            assert session is not None
            next_sequence = session[-3]
            assert isinstance(next_sequence, int)
            insert_message(transaction, household.session, next_sequence + 1, f"message {next_sequence}")
            transaction.execute(
                "note_append",
                session_id=household.session,
                next_sequence=next_sequence + 1,
                episode_id=household.message,
                leaf_id=household.message + next_sequence,
                appended=1,
                version=1,
                now=1,
                unchecked=1,
            )

        database.write(household.reach, work)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(append, range(96)))
    with database.read(household.reach) as transaction:
        assert contents(transaction, household)[1:] == [f"message {number}" for number in range(1, 97)]


def test_writes_of_many_tenants_at_once_stay_with_their_own(database: Database) -> None:
    with ThreadPoolExecutor(8) as threads:
        households = list(threads.map(settle, [database] * 24))
    for household in households:
        with database.read(household.reach) as transaction:
            assert transaction.rows("pool_members", pool_id=household.pool) == [(household.session,)]
    assert database.maintenance.rows("totals") == [(24, 24, 24, 0)]


def test_one_failing_writer_does_not_harm_the_others(database: Database) -> None:
    household = settle(database)

    def append(sequence: int) -> bool:
        def work(transaction: Transaction) -> None:
            insert_message(transaction, household.session, sequence)
            if sequence % 3 == 0:
                raise Conflict("every third")

        try:
            database.write(household.reach, work)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        landed = list(threads.map(append, range(2, 62)))
    with database.read(household.reach) as transaction:
        assert len(contents(transaction, household)) == 1 + sum(landed)
    assert landed.count(False) == 20


def test_a_refused_statement_is_a_storage_error_with_its_cause(database: Database) -> None:
    household = settle(database)
    with pytest.raises(StorageError) as caught:
        database.write(household.reach, lambda transaction: insert_message(transaction, household.session, 1))
    assert caught.value.__cause__ is not None


def test_execute_says_how_many_rows_changed(database: Database) -> None:
    household = settle(database)

    def work(transaction: Transaction) -> tuple[int, int]:
        renamed = transaction.execute("rename_project", project_id=household.project, name="Orchard")
        return renamed, transaction.execute("rename_project", project_id=household.project + 1, name="Orchard")

    assert database.write(household.reach, work) == (1, 0)


def test_a_stream_gives_every_row_in_order_and_allows_other_queries_between(database: Database) -> None:
    household = settle(database)

    def fill(transaction: Transaction) -> None:
        for sequence in range(2, 5_001):
            insert_message(transaction, household.session, sequence)

    database.write(household.reach, fill)
    with database.read(household.reach) as transaction:
        seen = 0
        for number, row in enumerate(transaction.stream("pool_rows", pool_id=household.pool, generation=1)):
            assert row[0] == household.message + number
            seen += transaction.row("pool_state", pool_id=household.pool) == (0, 0)
        assert seen == 5_000


def test_values_come_back_as_they_went_in(database: Database) -> None:
    household = settle(database)
    with database.read(household.reach) as transaction:
        (row,) = transaction.rows("pool_rows", pool_id=household.pool, generation=1)
    assert row == (household.message, "user", None, 1_700_000_000_000_001, b"\x00\xff" * 128, b"\x01\x00")
    assert [type(value) for value in row] == [int, str, type(None), int, bytes, bytes]


@pytest.mark.parametrize("text", ["naïve 🌹 — ضوء", "100 % of it; 'quoted' \"twice\" :name %(name)s \\", "a\r\n\tb"])
def test_text_comes_back_as_it_went_in(database: Database, text: str) -> None:
    household = settle(database)
    database.write(household.reach, lambda transaction: insert_message(transaction, household.session, 2, text))
    with database.read(household.reach) as transaction:
        assert contents(transaction, household)[-1] == text


def test_nothing_can_be_done_after_close(database: Database) -> None:
    household = settle(database)
    database.close()
    with pytest.raises(Closed), database.read(household.reach):
        pass
    with pytest.raises(Closed):
        database.write(household.reach, insert_tenant)
    with pytest.raises(Closed):
        database.maintenance.rows("totals")
    with pytest.raises(Closed):
        database.maintenance.write("insert_generation", fingerprint="f")


def test_closing_twice_is_allowed(database: Database) -> None:
    database.close()
    database.close()


def test_a_healthy_database_has_nothing_to_report(database: Database) -> None:
    settle(database)
    assert database.maintenance.check() == []


@pytest.mark.parametrize("query", sorted(split_queries(load_queries(postgres=False))[1]))
def test_a_transaction_does_not_know_the_queries_of_maintenance(world: World, query: str) -> None:
    """ISO-4: what has no tenant cannot be run inside one, not even by mistake."""
    with pytest.raises(KeyError), world.database.read(world.ours.reach) as transaction:
        transaction.rows(query)


def test_maintenance_does_not_know_the_queries_of_tenants(world: World) -> None:
    """It answers ids and counts, never what was said (ISO-4)."""
    for query in ("messages", "sessions", "pool_messages", "recent_messages"):
        with pytest.raises(KeyError):
            world.database.maintenance.rows(query, tenant_id=world.ours.tenant)
