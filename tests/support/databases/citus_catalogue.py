"""Citus as far as `cloister distribute` calls it: its tables and functions, under its names, in a real PostgreSQL. They record the
calls, refuse what Citus refuses, and distribute nothing."""

from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

VERSION = "13.2-2"
SHARDS = 32
_CATALOGUE = """
CREATE TABLE pg_dist_node (nodename TEXT, isactive BOOLEAN, shouldhaveshards BOOLEAN);
INSERT INTO pg_dist_node VALUES ('first', true, true), ('second', true, true), ('coordinator', true, false);
CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod TEXT);
CREATE TABLE citus_call (number BIGINT GENERATED ALWAYS AS IDENTITY, name TEXT, relation TEXT, beside TEXT, at BIGINT);
CREATE TABLE citus_failure (name TEXT, relation TEXT);
GRANT SELECT, INSERT ON pg_dist_node, pg_dist_partition, citus_call TO PUBLIC;
GRANT SELECT ON citus_failure TO PUBLIC;

CREATE FUNCTION citus_called(called TEXT, relation regclass, beside TEXT DEFAULT NULL) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = relation), 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of table %', relation;
    END IF;
    IF EXISTS (SELECT FROM citus_failure AS f WHERE f.name = called AND f.relation = citus_called.relation::TEXT) THEN
        RAISE EXCEPTION 'a server was lost';
    END IF;
    INSERT INTO citus_call (name, relation, beside, at) VALUES (called, relation::TEXT, beside, txid_current());
END $$;

CREATE FUNCTION create_distributed_table(
    table_name regclass, distribution_column TEXT, distribution_type TEXT DEFAULT 'hash', colocate_with TEXT DEFAULT 'default'
) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('citus.multi_shard_modify_mode', true) IS DISTINCT FROM 'sequential' THEN
        RAISE EXCEPTION 'cannot run in parallel mode within this transaction';
    END IF;
    IF row_security_active(table_name) THEN
        RAISE EXCEPTION 'COPY FROM not supported with row-level security';
    END IF;
    IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND table_name IN (conrelid, confrelid)) THEN
        RAISE EXCEPTION 'cannot create foreign key constraint';
    END IF;
    IF colocate_with <> 'none' AND NOT EXISTS (
        SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(colocate_with)
    ) THEN
        RAISE EXCEPTION 'relation % is not distributed', colocate_with;
    END IF;
    PERFORM citus_called('create_distributed_table', table_name, colocate_with);
    INSERT INTO pg_dist_partition VALUES (table_name, 'h');
END $$;

CREATE FUNCTION create_reference_table(table_name regclass) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    PERFORM citus_called('create_reference_table', table_name);
    INSERT INTO pg_dist_partition VALUES (table_name, 'n');
END $$;

CREATE FUNCTION truncate_local_data_after_distributing_table(function_table_name regclass) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = function_table_name) THEN
        RAISE EXCEPTION 'supplied parameter is not a distributed relation';
    END IF;
    PERFORM citus_called('truncate_local_data_after_distributing_table', function_table_name);
END $$;
"""
_EXTENSION = """
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
VALUES (1, 'citus', 10, 'pg_catalog'::regnamespace, false, %s)
"""


class CitusCatalogue:
    """The catalogue in one database, which belongs to a login. `url` is the superuser's."""

    def __init__(self, url: str, login: str) -> None:
        self.superuser_url = url
        self.url = make_conninfo(url, user=login)
        self._login = login

    def install(self) -> None:
        """As an operator does with CREATE EXTENSION and citus_add_node. The parameter that Citus would know is granted."""
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute("SET allow_system_table_mods = on")
            connection.execute(_EXTENSION, [VERSION])
            connection.execute(_CATALOGUE)
            shards = sql.SQL("ALTER DATABASE {} SET citus.shard_count = {}")
            connection.execute(shards.format(sql.Identifier(connection.info.dbname), sql.Literal(str(SHARDS))))
            granted = sql.SQL("GRANT SET ON PARAMETER citus.propagate_set_commands TO {}")
            connection.execute(granted.format(sql.Identifier(self._login)))

    def calls(self, name: str) -> list[tuple[str, str | None]]:
        """The tables that this function was called with, in order, and the tables that they were to be colocated with."""
        return [(str(table), beside) for table, beside in self.rows(_CALLS, name)]

    def transactions(self, name: str) -> set[int]:
        return {at for (at,) in self.rows("SELECT at FROM citus_call WHERE name = %s", name)}

    def fail(self, name: str, table: str) -> None:
        """Let calls of this function with this table fail until `recover`."""
        self.run(sql.SQL("INSERT INTO citus_failure VALUES ({}, {})").format(name, table))

    def recover(self) -> None:
        self.run(sql.SQL("DELETE FROM citus_failure"))

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.superuser_url) as connection:
            return connection.execute(query.encode(), parameters or None).fetchall()

    def run(self, statement: "sql.Composable | bytes") -> None:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(statement.as_bytes(connection) if isinstance(statement, sql.Composable) else statement)


_CALLS = "SELECT relation, beside FROM citus_call WHERE name = %s ORDER BY number"
