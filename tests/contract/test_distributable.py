"""Rules that let the tables be distributed by tenant over several PostgreSQL servers (Citus), read from a migrated database.

Citus itself is in no package, so these rules are what CI keeps; `docs/how-to/distribute.md` says what was tried by hand.
"""

import re
from typing import Any

import psycopg
import pytest
from sqlglot import exp, parse_one

from cloister.storage.migrate import migrations, statements
from cloister.storage.queries import dialect_queries
from support.databases.engines import TABLES

KEYS = b"""
SELECT c.conrelid::regclass::text, c.contype::text, array_agg(a.attname::text)
FROM pg_constraint AS c
JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
WHERE c.connamespace = 'public'::regnamespace AND c.contype IN ('p', 'u', 'f')
GROUP BY c.oid, c.conrelid, c.contype, c.confrelid
HAVING c.contype <> 'f' OR EXISTS (
    SELECT FROM pg_attribute AS t WHERE t.attrelid = c.confrelid AND t.attname = 'tenant_id' AND NOT t.attisdropped
)
"""
UNIQUE_INDEXES = b"""
SELECT i.indrelid::regclass::text, pg_get_indexdef(i.indexrelid)
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace
"""
QUERIES = dialect_queries(postgres=True)


def test_every_key_of_a_tenants_table_begins_with_the_tenant(migrated_postgres: str) -> None:
    with psycopg.connect(migrated_postgres) as connection:
        keys = connection.execute(KEYS).fetchall()
        unique = connection.execute(UNIQUE_INDEXES).fetchall()
    of_tenants = [(table, kind, columns) for table, kind, columns in keys if table in TABLES]
    assert {table for table, kind, _ in of_tenants if kind == "p"} == set(TABLES)
    assert [key for key in of_tenants if "tenant_id" not in key[2]] == []
    assert [index for table, index in unique if table in TABLES and "(tenant_id" not in index] == []


def test_rows_that_are_inserted_are_selected_from_a_table_of_the_tenant() -> None:
    """Others are copied to the server of the tenant, and row-level security allows no copy. Seen with Citus 13.2."""
    wrong = [
        name
        for name, text in QUERIES.items()
        for insert in parse_one(text, dialect="postgres").find_all(exp.Insert)
        if insert.this.find(exp.Table).name in TABLES and isinstance(insert.expression, exp.Select)
        if not any(source.name in TABLES for source in insert.expression.find_all(exp.Table))
    ]
    assert wrong == []


def test_tables_in_maintenance_are_joined_on_the_tenant() -> None:
    """A join that does not name the tenant of both tables would need the rows of all shards in one place."""
    wrong: list[str] = []
    for name, text in QUERIES.items():
        for select in parse_one(text, dialect="postgres").find_all(exp.Select):
            tables = [source for source in _sources(select) if source.name in TABLES]
            compared = {
                frozenset(column.table or column.name for column in equality.find_all(exp.Column))
                for equality in select.find_all(exp.EQ)
                if all(column.name == "tenant_id" for column in equality.find_all(exp.Column))
            }
            if len(tables) > 1 and not any(len(pair) > 1 for pair in compared) and ":tenant_id" not in text:
                wrong.append(name)
    assert wrong == []


def _sources(select: exp.Select) -> list[exp.Table]:
    """The tables of a query's own FROM and joins."""
    clauses: list[Any] = [select.args.get("from_") or select.args.get("from"), *(select.args.get("joins") or [])]
    return [clause.this for clause in clauses if clause is not None and isinstance(clause.this, exp.Table)]


def test_rows_are_locked_within_one_tenant() -> None:
    locking = {name for name, text in QUERIES.items() if re.search(r"\bFOR (NO KEY )?(UPDATE|SHARE|KEY SHARE)\b", text)}
    assert locking
    assert {name for name in locking if not re.search(r"tenant_id = :tenant(_id)?\b", QUERIES[name])} == set()


def test_the_tenant_of_a_transaction_is_set_by_a_statement_that_reaches_the_shards() -> None:
    """Citus forwards `SET LOCAL`, and not `set_config`."""
    assert [name for name, text in QUERIES.items() if "set_config" in text] == []


@pytest.mark.parametrize("version", [step.version for step in migrations(postgres=True) if step.version > 48])
def test_a_migration_that_changes_rows_of_tenants_names_them(version: int) -> None:
    """Migrations up to 48 run before a database can be distributed."""
    (step,) = (step for step in migrations(postgres=True) if step.version == version)
    for statement in statements(step.text):
        change = re.match(r"\s*(?:UPDATE|DELETE FROM|INSERT INTO)\s+(\w+)", statement)
        if change is not None and change[1] in TABLES:
            assert "tenant_id" in statement, statement


def test_the_statements_of_a_migration_are_all_of_its_text() -> None:
    for step in migrations(postgres=True):
        parts = statements(step.text)
        assert _without_comments("".join(parts)) == _without_comments(step.text), step.version
        assert all(part.rstrip().endswith(";") for part in parts), step.version
        assert all(part.count("$walls$") in (0, 2) for part in parts), step.version


def _without_comments(text: str) -> list[str]:
    return re.sub(r"--[^\n]*", "", text).split()
