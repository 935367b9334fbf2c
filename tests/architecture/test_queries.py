"""Every named query of both engines keeps inside its tenant (ISO-4), and every name in the code is a query's (design 3.7)."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlglot import exp, parse

import cloister
from cloister.storage.migrate import migrations
from cloister.storage.queries import dialect_queries, load_queries, query_files, read_queries
from support.databases.engines import TABLES
from support.isolation.tenant_columns import Walls

SOURCE = Path(cloister.__file__).parent
NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
# The services that may work across tenants. They see ids and counts; adding one here is a decision.
MAY_USE_MAINTENANCE = {
    "services.due_tenants",
    "services.memories.claims",
    "services.health",
    "services.maintenance.integrity",
    "services.processes",
    "services.tenancy.idempotency_expiry",
    "services.entries.expiry",
    "services.receipts.expiry",
    "services.memories.entity_undo",
    "services.indexing.queue",
    "services.indexing.vectors",
    "services.indexing.embedding_model",
    "services.indexing.indexer",
    "services.indexing.reindex",
    "services.tenancy.tenants",
    "services.conversations.retention",
}
# `schema_migration` is written before there are queries; `json_each` is a function on both engines.
NOBODYS = {"json_each"}


def schema() -> dict[str, set[str]]:
    """The columns of every table that the migrations make."""
    tables: dict[str, set[str]] = {}
    for step in migrations(postgres=False):
        for statement in parse(step.text, dialect="sqlite"):
            if isinstance(statement, exp.Create) and statement.kind == "TABLE":
                table = statement.find(exp.Table)
                assert table is not None
                tables[table.name] = {column.name for column in statement.find_all(exp.ColumnDef)}
    return tables


SCHEMA = schema()
TENANTS = {table for table, columns in SCHEMA.items() if "tenant_id" in columns}
WALLS = Walls(tenants=TENANTS, nobodys=NOBODYS)
MAINTENANCE = {
    name
    for ending in (".sql", ".postgres.sql")
    for file, text in query_files(ending).items()
    if file.partition(".")[0] == "maintenance"
    for name in NAME.findall(text)
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    engine: str
    name: str
    text: str


def queries() -> list[Query]:
    """In the dialect of each engine, before the driver's parameter style."""
    return [
        Query(engine=engine, name=name, text=text)
        for engine in ("sqlite", "postgres")
        for name, text in sorted(dialect_queries(postgres=engine == "postgres").items())
    ]


QUERIES = queries()
OF_TENANTS = [query for query in QUERIES if query.name not in MAINTENANCE]


def test_the_schema_is_the_one_this_test_believes_in() -> None:
    assert set(TABLES) == TENANTS, "the tables that isolation tests watch are those of tenants"
    assert set(SCHEMA) - TENANTS == {"generation", "embedding_model", "process"}
    assert MAINTENANCE and len(OF_TENANTS) > 60


def test_a_query_names_the_tenant_of_every_table_it_touches() -> None:
    """ISO-4: in joins, subqueries and lateral queries too, each table is bound to `:tenant_id`."""
    gaps = {(query.engine, query.name): WALLS.gaps(query.text, query.engine) for query in OF_TENANTS}
    assert {query: found for query, found in gaps.items() if found} == {}


def test_a_query_is_one_statement_that_gives_its_columns_by_name() -> None:
    for query in QUERIES:
        statements = parse(query.text, dialect=query.engine)
        assert len(statements) == 1, query
        assert statements[0] is not None, query
        assert not list(statements[0].find_all(exp.Star)) or "count(*)" in query.text.lower(), query


def test_only_sql_decides_the_tenant() -> None:
    """ISO-4: no query takes another parameter that could stand for a tenant."""
    queries = load_queries(postgres=False)
    for name in {query.name for query in OF_TENANTS}:
        parameters = set(re.findall(r"(?<![:\w]):(\w+)", queries[name]))
        assert {parameter for parameter in parameters if "tenant" in parameter} == {"tenant_id"}, name


# Of a project, which has members: who is bound to one user may know that it is there.
OF_PROJECTS = {"project", "default_project", "lock_project_shared", "projects", "project_names", "pool_versions"} | {
    "project_retentions"
}


def test_what_can_be_confined_to_a_project_can_be_bound_to_a_user() -> None:
    """ORG-10: a query that honours the one bound of a caller honours the other, but for those that find projects."""
    for query in OF_TENANTS:
        bounds = {bound for bound in ("confined_to", "bound_user") if f":{bound}" in query.text}
        expected = {"confined_to"} if query.name in OF_PROJECTS else {"confined_to", "bound_user"}
        assert bounds in (set(), expected), query.name


# What belongs to a memory is found through it, as the memory is through its session.
OF_A_MEMORY = {"memory_source", "memory_replacement", "memory_revision"}
# What belongs to a session is found through it, and is where it is; what mentions an entity is where the entity is.
OF_A_SESSION = {
    *("message", "message_vector", "memory", "mention", "entity_relation", "observation"),
    *("session_item", "session_response", "memory_file", "exclusion"),
    *OF_A_MEMORY,
}
# Found through its entity, which has a project.
OF_AN_ENTITY = {"entity_change"}


@pytest.mark.parametrize(
    "table",
    sorted(
        TENANTS - OF_A_SESSION - OF_AN_ENTITY - {"tenant", "idempotency", "index_removal", "tenant_usage", "sign_in"}
    ),
)
def test_every_table_with_projects_in_it_can_be_bound_to_one(table: str) -> None:
    """A confined key sees one project: whatever has a project carries its id."""
    assert "project_id" in SCHEMA[table]


@pytest.mark.parametrize("table", sorted(OF_A_SESSION - OF_A_MEMORY))
def test_what_belongs_to_a_session_names_it_and_no_project_of_its_own(table: str) -> None:
    """ISO-5: it moves with its session, and cannot stay behind."""
    assert "session_id" in SCHEMA[table]
    assert not {"project_id", "pool_id"} & SCHEMA[table]


GOOD = [
    "SELECT name FROM session WHERE tenant_id = :tenant_id",
    "SELECT name FROM session WHERE :tenant_id = tenant_id AND (a = 1 OR b = 2)",
    "SELECT s.name FROM session AS s JOIN pool AS p ON p.tenant_id = s.tenant_id WHERE s.tenant_id = :tenant_id",
    "SELECT s.x FROM session AS s, pool AS p, message AS m "
    "WHERE m.tenant_id = p.tenant_id AND p.tenant_id = s.tenant_id AND s.tenant_id = :tenant_id",
    "SELECT name FROM session AS s WHERE s.tenant_id = :tenant_id AND EXISTS "
    "(SELECT 1 FROM pool AS p WHERE p.tenant_id = s.tenant_id AND p.pool_id = s.pool_id)",
    "WITH own AS (SELECT session_id FROM session WHERE tenant_id = :tenant_id) SELECT session_id FROM own",
    "INSERT INTO pool (pool_id, tenant_id) VALUES (:pool_id, :tenant_id) ON CONFLICT DO NOTHING",
    "INSERT INTO pool (pool_id, tenant_id) SELECT pool_id, :tenant_id FROM session WHERE tenant_id = :tenant_id",
    "UPDATE session SET title = :title WHERE tenant_id = :tenant_id AND session_id = :session_id",
    "DELETE FROM message WHERE tenant_id = :tenant_id",
    "SELECT value FROM json_each(CAST(:ids AS TEXT))",
]

BAD = {
    "no tenant at all": "SELECT name FROM session WHERE session_id = :session_id",
    "no condition at all": "SELECT name FROM session",
    "or true": "SELECT name FROM session WHERE tenant_id = :tenant_id OR 1 = 1",
    "or null": "SELECT name FROM session WHERE (tenant_id = :tenant_id OR :tenant_id IS NULL)",
    "under not": "SELECT name FROM session WHERE NOT (tenant_id = :tenant_id)",
    "not equal": "SELECT name FROM session WHERE tenant_id <> :tenant_id",
    "at least": "SELECT name FROM session WHERE tenant_id >= :tenant_id",
    "a literal": "SELECT name FROM session WHERE tenant_id = 1",
    "another parameter": "SELECT name FROM session WHERE tenant_id = :tenant",
    "any parameter": "SELECT name FROM session WHERE tenant_id = coalesce(:tenant_id, tenant_id)",
    "itself": "SELECT name FROM session WHERE tenant_id = tenant_id",
    "a list": "SELECT name FROM session WHERE tenant_id IN (:tenant_id, :other)",
    "another column": "SELECT name FROM session WHERE session_id = :tenant_id",
    "a join without": "SELECT 1 FROM session AS s JOIN message AS m ON m.session_id = s.session_id "
    "WHERE s.tenant_id = :tenant_id",
    "a join with the tenant under or": "SELECT 1 FROM session AS s JOIN message AS m "
    "ON m.tenant_id = s.tenant_id OR m.role = 'user' WHERE s.tenant_id = :tenant_id",
    "a comma without": "SELECT 1 FROM session AS s, message AS m WHERE s.tenant_id = :tenant_id",
    "a cross join without": "SELECT 1 FROM session AS s CROSS JOIN message AS m WHERE s.tenant_id = :tenant_id",
    "an outer join": "SELECT 1 FROM session AS s LEFT JOIN message AS m ON s.tenant_id = :tenant_id "
    "AND m.tenant_id = s.tenant_id",
    "a chain to nobody": "SELECT 1 FROM session AS s JOIN message AS m ON m.tenant_id = s.tenant_id",
    "a bare column of two tables": "SELECT 1 FROM session AS s, message AS m WHERE tenant_id = :tenant_id",
    "a subquery in where": "SELECT 1 FROM session WHERE tenant_id = :tenant_id AND session_id IN "
    "(SELECT session_id FROM message WHERE role = 'user')",
    "the same table again inside": "SELECT 1 FROM message WHERE tenant_id = :tenant_id AND message_id IN "
    "(SELECT message_id FROM message)",
    "a subquery in the projection": "SELECT (SELECT count(*) FROM message) FROM session WHERE tenant_id = :tenant_id",
    "a derived table": "SELECT x FROM (SELECT title AS x FROM session) AS inner_rows",
    "a cte": "WITH every AS (SELECT session_id FROM session) SELECT session_id FROM every",
    "a cte under a tenant's name": "WITH pool AS (SELECT session_id FROM session) SELECT 1 FROM pool "
    "WHERE tenant_id = :tenant_id",
    "one side of a union": "SELECT title FROM session WHERE tenant_id = :tenant_id UNION SELECT name FROM project",
    "exists": "SELECT 1 FROM session WHERE tenant_id = :tenant_id AND EXISTS (SELECT 1 FROM pool)",
    "order by": "SELECT 1 FROM session WHERE tenant_id = :tenant_id ORDER BY (SELECT max(version) FROM pool)",
    "an update without": "UPDATE session SET title = :title WHERE session_id = :session_id",
    "an update of the tenant": "UPDATE session SET tenant_id = :tenant_id WHERE tenant_id = :tenant_id",
    "an update from another": "UPDATE session SET title = p.name FROM project AS p "
    "WHERE session.tenant_id = :tenant_id AND p.project_id = session.project_id",
    "an update with a subquery": "UPDATE session SET title = (SELECT name FROM project LIMIT 1) "
    "WHERE tenant_id = :tenant_id",
    "a delete without": "DELETE FROM message WHERE message_id = :message_id",
    "a delete with a subquery": "DELETE FROM message WHERE tenant_id = :tenant_id AND session_id IN "
    "(SELECT session_id FROM session)",
    "an insert without": "INSERT INTO pool (pool_id) VALUES (:pool_id)",
    "an insert without columns": "INSERT INTO pool VALUES (:pool_id, :tenant_id)",
    "an insert of a literal": "INSERT INTO pool (pool_id, tenant_id) VALUES (:pool_id, 1)",
    "an insert of another parameter": "INSERT INTO pool (pool_id, tenant_id) VALUES (:tenant_id, :pool_id)",
    "one row of an insert": "INSERT INTO pool (pool_id, tenant_id) VALUES (1, :tenant_id), (2, 2)",
    "an insert from elsewhere": "INSERT INTO pool (pool_id, tenant_id) SELECT pool_id, tenant_id FROM session "
    "WHERE tenant_id = :tenant_id",
    "an insert from all": "INSERT INTO pool (pool_id, tenant_id) SELECT pool_id, :tenant_id FROM session",
    "an upsert": "INSERT INTO pool (pool_id, tenant_id) VALUES (:pool_id, :tenant_id) "
    "ON CONFLICT (pool_id) DO UPDATE SET version = 1",
    "a value from elsewhere": "INSERT INTO pool (pool_id, tenant_id) VALUES ((SELECT max(pool_id) FROM pool), :tenant_id)",
    "an unknown table": "SELECT 1 FROM note WHERE tenant_id = :tenant_id",
    "nobody's table": "SELECT fingerprint FROM generation",
    "two statements": "SELECT 1 FROM session WHERE tenant_id = :tenant_id; SELECT 1 FROM session",
    "no query": "DROP TABLE session",
}


@pytest.mark.parametrize("text", GOOD)
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_checker_lets_a_bound_query_pass(engine: str, text: str) -> None:
    assert WALLS.gaps(text, engine) == []


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_checker_bites(engine: str, text: str) -> None:
    assert WALLS.gaps(text, engine) != []


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_checker_bites_when_a_tenant_is_taken_out_of_any_query(engine: str) -> None:
    """Each condition on a tenant, taken out of each real query, is missed: none of them is there for show."""
    unnoticed: list[str] = []
    for query in OF_TENANTS:
        if query.engine != engine:
            continue
        for condition in set(re.findall(r"(?:\w+\.)?tenant_id = (?::tenant_id|\w\.tenant_id)", query.text)):
            broken = re.sub(rf"(?<![\w.]){re.escape(condition)}\b", "1 = 1", query.text)
            if not WALLS.gaps(broken, engine):
                unnoticed.append(f"{query.name}: {condition}")
    assert unnoticed == []


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """A call that runs a query by its name."""

    module: str
    receiver: str
    name: str | None


def uses(module: str, tree: ast.AST) -> list[Use]:
    """Calls of the methods of `Transaction` and `Maintenance`; `name` is none where it is not written out."""
    found: list[Use] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        receiver = ast.unparse(node.func.value).rpartition(".")[2].lstrip("_")
        if receiver not in ("transaction", "maintenance"):
            continue
        if node.func.attr not in ("row", "rows", "stream", "execute", "execute_each", "write"):
            continue
        first = node.args[0] if node.args else None
        name = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
        found.append(Use(module=module, receiver=receiver, name=name))
    return found


def all_uses() -> list[Use]:
    found: list[Use] = []
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        if module not in ("storage.sqlite.database", "storage.postgres.database"):
            found += uses(module, ast.parse(path.read_text("utf-8")))
    return found


USES = all_uses()


def test_every_query_is_named_in_the_code_as_it_is_in_sql() -> None:
    assert [use for use in USES if use.name is None] == []
    assert {use.name for use in USES} - {query.name for query in QUERIES} == set()


def test_every_query_is_used() -> None:
    assert {query.name for query in QUERIES} - {use.name for use in USES} == set()


def test_every_override_replaces_a_query_of_both_engines() -> None:
    assert set(dict(read_queries(".postgres.sql"))) <= set(dict(read_queries(".sql")))


def test_every_list_of_columns_is_used() -> None:
    texts = "".join((*query_files(".sql").values(), *query_files(".postgres.sql").values()))
    assert set(re.findall(r"^-- columns: (\w+)$", texts, re.MULTILINE)) == set(re.findall(r"\{(\w+)\}", texts))


def test_row_locks_and_arrays_are_postgresqls_alone() -> None:
    """SQLite would refuse both."""
    engines = {
        query.engine for query in QUERIES if re.search(r"\bFOR (?:\w+ )*(?:UPDATE|SHARE)\b|ANY \(ARRAY", query.text)
    }
    assert engines == {"postgres"}


def test_no_two_queries_share_a_name() -> None:
    for ending in (".sql", ".postgres.sql"):
        names = [name for name, _ in read_queries(ending)]
        assert sorted(names) == sorted(set(names))


def test_only_maintenance_runs_a_query_without_a_tenant() -> None:
    """ISO-4: a transaction never runs one of them, and maintenance runs nothing else."""
    by_transaction = {use.name for use in USES if use.receiver == "transaction"}
    by_maintenance = {use.name for use in USES if use.receiver == "maintenance"}
    assert by_transaction & MAINTENANCE == set()
    assert by_maintenance <= MAINTENANCE


def test_only_the_services_that_are_listed_use_maintenance() -> None:
    assert {use.module for use in USES if use.receiver == "maintenance"} <= MAY_USE_MAINTENANCE


def test_no_one_else_reads_what_belongs_to_nobody() -> None:
    """Tables without a tenant are maintenance's alone."""
    for query in OF_TENANTS:
        for statement in parse(query.text, dialect=query.engine):
            assert statement is not None
            assert not {table.name for table in statement.find_all(exp.Table)} & (set(SCHEMA) - TENANTS)


def test_the_search_for_uses_sees_a_name_that_is_not_written_out() -> None:
    tree = ast.parse('transaction.rows(name); self._transaction.row("a"); database.maintenance.write(f"{x}")')
    assert [(use.receiver, use.name) for use in uses("m", tree)] == [
        ("transaction", None),
        ("transaction", "a"),
        ("maintenance", None),
    ]
