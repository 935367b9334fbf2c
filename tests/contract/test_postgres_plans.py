"""What PostgreSQL reads to answer: a pool's queries must not walk through the messages of other pools.

Row-level security keeps the planner from indexes on expressions it cannot prove free of leaks; a query may be right, and
yet read everything. Rows are counted here, not time.
"""

from collections.abc import Generator, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from cloister.storage.interface import Value, integers
from cloister.storage.postgres import open_postgres
from cloister.storage.queries import load_queries
from postgres_server import PostgresServer
from rows import Household, settle

OTHER_SESSIONS = 400
MESSAGES_EACH = 50
OURS_AT_MOST = 2 * MESSAGES_EACH

CROWD = b"""
INSERT INTO pool SELECT pool_id + 1, tenant_id, project_id, 'another', 0, 0, 1 FROM pool;
INSERT INTO session (
    session_id, tenant_id, external_id, project_id, pool_id, tags, metadata, next_sequence, message_count, changed_version,
    rebuilt_version, created_at, updated_at
) SELECT
    (session_id + n * 7919) %% 4000000000000 + 1, tenant_id, 'other ' || n, project_id, pool_id + 1, '[]', '{}', 1, 0, 1, 1, 1, n
FROM session, generate_series(1, %(sessions)s) AS n;
INSERT INTO message (
    message_id, tenant_id, session_id, role, status, created_at, generation, indexed_at, terms, episode_id, tokens,
    metadata, content
) SELECT
    (session_id << 21) + n, tenant_id, session_id, 'user', 'completed', n, n %% 2, nullif(n %% 5, 0), 'x', 1, 1, '{}', 'x'
FROM session, generate_series(2, %(messages)s) AS n;
ANALYZE
"""


@pytest.fixture(scope="module")
def crowded(postgres_server: PostgresServer) -> Generator[tuple[str, Household]]:
    """A tenant whose pool holds one session, beside a pool of the same tenant that holds hundreds."""
    with postgres_server.migrated_database() as url:
        database = open_postgres(url)
        household = settle(database)
        database.close()
        with psycopg.ClientCursor(psycopg.connect(url, autocommit=True)) as cursor:
            cursor.execute(CROWD, {"sessions": OTHER_SESSIONS, "messages": MESSAGES_EACH})
            cursor.connection.close()
        yield url, household


@pytest.mark.parametrize(
    "query",
    [
        "count_episodes",
        "message_session",
        "messages",
        "points",
        "pool_messages",
        "pool_recent_messages",
        "pool_rows",
        "recent_messages",
        "session_rows",
        "set_indexed_at",
        "stale_in_pool",
        "wait_again",
        "waiting_words",
        "words",
    ],
)
def test_a_query_reads_no_more_messages_than_its_pool_holds(crowded: tuple[str, Household], query: str) -> None:
    url, household = crowded
    first = household.session << 21
    parameters: dict[str, Value] = {
        "tenant_id": household.tenant,
        "confined_to": None,
        "pool_id": household.pool,
        "session_id": household.session,
        "message_id": household.message,
        "message_ids": integers([household.message, household.message + 1]),
        "role": "user",
        "first": first,
        "window": 2_000,
        "around": 3,
        "end": first + 2_097_151,
        "generation": 1,
        "all_generations": 1,
        "indexed_at": 1,
        "after": first,
        "last": first + 2_097_151,
        "limit": 20,
    }
    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT set_config('role', 'cloister_tenant', true), set_config('cloister.tenant', %s, true)",
            [str(household.tenant)],
        )
        text = f"EXPLAIN (ANALYZE, FORMAT JSON) {load_queries(postgres=True)[query]}"
        assert messages_read(connection, text, parameters) <= OURS_AT_MOST


def messages_read(connection: psycopg.Connection[TupleRow], text: str, parameters: dict[str, Value]) -> int:
    row = connection.execute(text.encode(), parameters).fetchone()
    assert row is not None
    scans = [node for node in nodes(row[0][0]["Plan"]) if node.get("Relation Name") == "message"]
    return sum(
        round(node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)))
        for node in scans
        if "Scan" in node["Node Type"]
    )


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)
