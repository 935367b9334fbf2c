"""What PostgreSQL reads to answer: a pool's queries must not walk through the messages of other pools, nor what derives there.

Row-level security keeps the planner from indexes on expressions it cannot prove free of leaks; a query may be right, and
yet read everything. Rows are counted here, not time. CLOISTER_TEST_PLAN_MESSAGES is how many messages of another pool there are.
"""

import os
from collections.abc import Generator, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from cloister.storage.interface import Value, integers
from cloister.storage.postgres.database import open_postgres
from cloister.storage.queries import load_queries
from support.databases.postgres_server import PostgresServer
from support.databases.rows import Household, settle
from support.samples.hot_queries import HOT_QUERIES

MESSAGES_EACH = 50
# A million takes some minutes, and ten gigabytes.
OTHER_SESSIONS = int(os.environ.get("CLOISTER_TEST_PLAN_MESSAGES", "20000")) // MESSAGES_EACH
OURS_AT_MOST = 2 * MESSAGES_EACH
MANY = {
    "message",
    "memory",
    "memory_source",
    "memory_replacement",
    "memory_revision",
    "entity",
    "mention",
    "entity_relation",
    "observation",
    "receipt",
}

CROWD = b"""
INSERT INTO pool (pool_id, tenant_id, project_id, user_id, version, removed_version, generation)
SELECT pool_id + 1, tenant_id, project_id, 'another', 0, 0, 1 FROM pool;
INSERT INTO session (
    session_id, tenant_id, external_id, project_id, pool_id, user_id, tags, metadata, next_sequence, message_count,
    changed_version, rebuilt_version, created_at, updated_at, observed_message_id
) SELECT
    (session_id + n * 7919) %% 4000000000000 + 1, tenant_id, 'other ' || n, project_id, pool_id + 1, 'another', '[]', '{}', 1,
    0, 1, 1, 1, n, 1
FROM session, generate_series(1, %(sessions)s) AS n;
INSERT INTO message (
    message_id, tenant_id, session_id, role, status, created_at, generation, indexed_at, terms, episode_id, tokens,
    metadata, content, parent_id
) SELECT
    (session_id << 21) + n, tenant_id, session_id, 'user', CASE WHEN n %% 7 = 0 THEN 'off_completed' ELSE 'completed' END, n,
    n %% 2, nullif(n %% 5, 0), 'x', 1, 1, '{}', 'x', CASE WHEN n %% 7 = 0 THEN (session_id << 21) + 1 END
FROM session, generate_series(2, %(messages)s) AS n;
INSERT INTO memory (memory_id, tenant_id, session_id, digest, created_at, generation, terms, content, subject, retracted_at)
SELECT
    message_id, tenant_id, session_id, CAST(CAST(message_id AS TEXT) AS bytea), created_at, 1, 'x', 'x', 'home',
    nullif(created_at %% 3, 0)
FROM message
ON CONFLICT DO NOTHING;
INSERT INTO memory_replacement (tenant_id, older_id, newer_id)
SELECT tenant_id, memory_id, memory_id FROM memory ON CONFLICT DO NOTHING;
INSERT INTO memory_revision (tenant_id, revision_id, memory_id, action, changed_at, digest, before)
SELECT tenant_id, memory_id, memory_id, 'correct', 1, digest, '{}' FROM memory ON CONFLICT DO NOTHING;
INSERT INTO memory_source (tenant_id, message_id, memory_id)
SELECT tenant_id, message_id, message_id FROM message ON CONFLICT DO NOTHING;
INSERT INTO project (tenant_id, project_id, name, is_default, member_visibility, settings, created_at)
SELECT tenant_id, project_id + 1, 'Other', 0, 'shared', '{}', 1 FROM project;
INSERT INTO entity (entity_id, tenant_id, project_id, digest, name, type, created_at, generation, terms)
SELECT m.message_id, m.tenant_id, p.project_id, CAST(CAST(message_id AS TEXT) AS bytea), 'x', 'other', m.created_at, 1, 'x'
FROM message AS m JOIN project AS p ON p.tenant_id = m.tenant_id AND p.name = 'Other' ON CONFLICT DO NOTHING;
INSERT INTO mention (tenant_id, message_id, entity_id, session_id, created_at, notes)
SELECT tenant_id, message_id, message_id, session_id, 1, 'x' FROM message ON CONFLICT DO NOTHING;
INSERT INTO entity_relation (
    relation_id, tenant_id, subject_id, object_id, message_id, session_id, created_at, relation
)
SELECT message_id, tenant_id, message_id, message_id, message_id, session_id, 1, 'x' FROM message ON CONFLICT DO NOTHING;
INSERT INTO observation (
    observation_id, tenant_id, session_id, first_message_id, last_message_id, created_at, said_at, sources, content
)
SELECT message_id, tenant_id, session_id, message_id, message_id, 1, 1, '[]', 'x' FROM message ON CONFLICT DO NOTHING;
INSERT INTO receipt (
    receipt_id, tenant_id, session_id, question_id, reply_id, recalled_pool_id, kind, created_at, body
)
SELECT message_id, tenant_id, session_id, message_id, message_id, 1, 'reply', 1, 'x' FROM message ON CONFLICT DO NOTHING;
ANALYZE
"""
# What still refers to a row that goes, and goes first.
FIRST = {
    "delete_entities": b"DELETE FROM mention WHERE tenant_id = %(tenant_id)s AND entity_id = %(entity_id)s",
    "delete_memories": b"WITH sources AS ("
    b"DELETE FROM memory_source WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s), "
    b"revisions AS (DELETE FROM memory_revision WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s) "
    b"DELETE FROM memory_replacement WHERE tenant_id = %(tenant_id)s AND older_id = %(memory_id)s",
}


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


@pytest.mark.parametrize("query", HOT_QUERIES)
def test_a_query_reads_no_more_rows_than_its_pool_holds(crowded: tuple[str, Household], query: str) -> None:
    url, household = crowded
    first = household.session << 21
    parameters: dict[str, Value] = {
        "tenant_id": household.tenant,
        "confined_to": None,
        "bound_user": None,
        "pool_id": household.pool,
        "session_id": household.session,
        "message_id": household.message,
        "message_ids": integers([household.message, household.message + 1]),
        "memory_id": household.message,
        "memory_ids": integers([household.message]),
        "entity_id": household.message,
        "entity_ids": integers([household.message]),
        "project_id": household.project,
        "user_id": "ann",
        "kind": "project",
        "any_user": 1,
        "before_at": (1 << 63) - 1,
        "before_id": (1 << 63) - 1,
        "revision_ids": integers([household.message]),
        "digest": bytes(16),
        "first_digest": bytes(16),
        "to_entity_id": household.message,
        "since": 0,
        "until": 1 << 60,
        "session_ids": integers([household.session]),
        "before_created_at": (1 << 63) - 1,
        "before_message_id": (1 << 63) - 1,
        "after_created_at": 0,
        "created_at": 1,
        "after_memory_id": 0,
        "after_entity_id": 0,
        "after_said_at": 0,
        "after_observation_id": 0,
        "observation_id": household.message,
        "revision": 0,
        "subject": "home",
        "before": 1 << 60,
        "superseded_by": None,
        "valid_until": None,
        "retracted_at": None,
        "expires_at": None,
        "importance": None,
        "pinned": 0,
        "categories": "[]",
        "metadata": "{}",
        "source": "written",
        "content": "x",
        "notes": "x",
        "status": None,
        "now": 1,
        "after_changed_at": 0,
        "after_revision_id": 0,
        "vector": bytes(512),
        "terms": b"",
        "role": "user",
        "first": first,
        "window": 2_000,
        "around": 3,
        "all_branches": 0,
        "with_partial": 1,
        "low": first + 1,
        "high": first + 2_097_151,
        "parent_id": 0,
        "leaf_id": household.message,
        "is_forked": 0,
        "is_due": 1,
        "version": 2,
        "episode_id": household.message,
        "receipt_ids": integers([household.message]),
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
        if query in FIRST:
            connection.execute(FIRST[query], parameters)
        text = f"EXPLAIN (ANALYZE, FORMAT JSON) {load_queries(postgres=True)[query]}"
        assert rows_read(connection, text, parameters) <= OURS_AT_MOST
        connection.rollback()


def rows_read(connection: psycopg.Connection[TupleRow], text: str, parameters: dict[str, Value]) -> int:
    row = connection.execute(text.encode(), parameters).fetchone()
    assert row is not None
    scans = [node for node in nodes(row[0][0]["Plan"]) if node.get("Relation Name") in MANY]
    return sum(
        round(node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)))
        for node in scans
        if "Scan" in node["Node Type"]
    )


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)
