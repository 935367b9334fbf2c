"""Every named query, as PostgreSQL itself understands it."""

import re
from collections.abc import Generator

import psycopg
import pytest
from psycopg.pq import ExecStatus

from cloister.storage.queries import load_queries
from support.databases.postgres_server import PostgresServer

QUERIES = load_queries(postgres=True)
STORED_TYPES = {17: "bytea", 20: "bigint", 25: "text"}


@pytest.fixture(scope="module")
def connection(postgres_server: PostgresServer) -> Generator[psycopg.Connection]:
    with postgres_server.migrated_database() as url, psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_a_named_query_takes_and_gives_only_the_types_that_both_engines_have(
    connection: psycopg.Connection, name: str
) -> None:
    numbers: dict[str, int] = {}
    numbered = re.sub(
        r"%\((\w+)\)s", lambda match: f"${numbers.setdefault(match[1], len(numbers) + 1)}", QUERIES[name]
    ).replace("%%", "%")
    prepared = connection.pgconn.prepare(name.encode(), numbered.encode())
    assert prepared.status == ExecStatus.COMMAND_OK, prepared.get_error_message()
    described = connection.pgconn.describe_prepared(name.encode())
    columns = {described.fname(number): described.ftype(number) for number in range(described.nfields)}
    parameters = {number: described.param_type(number) for number in range(described.nparams)}
    assert {column: kind for column, kind in columns.items() if kind not in STORED_TYPES} == {}
    assert {number: kind for number, kind in parameters.items() if kind not in STORED_TYPES} == {}
