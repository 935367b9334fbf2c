-- Queries across tenants. These are the only queries without a tenant, and only `Maintenance` may run them.

-- name: generation
SELECT generation_id FROM generation WHERE fingerprint = :fingerprint

-- name: insert_generation
INSERT INTO generation (generation_id, fingerprint)
SELECT coalesce(max(generation_id), 0) + 1, :fingerprint FROM generation WHERE 1 = 1
ON CONFLICT DO NOTHING

-- name: newest_generation
SELECT max(generation_id) FROM generation

-- name: unindexed_messages
-- The session of each, so that a session may be returned several times.
SELECT tenant_id, message_id >> 21 FROM message WHERE indexed_at IS NULL ORDER BY tenant_id, message_id LIMIT :limit

-- name: unindexed_memories
-- The session of each, so that a session may be returned several times.
SELECT tenant_id, session_id FROM memory WHERE indexed_at IS NULL ORDER BY tenant_id, session_id, memory_id LIMIT :limit

-- name: unindexed_entities
-- The project of each, so that a project may be returned several times.
SELECT tenant_id, project_id FROM entity
WHERE indexed_at IS NULL AND part_of IS NULL AND deleted_at IS NULL
ORDER BY tenant_id, project_id, entity_id
LIMIT :limit

-- name: count_unindexed
SELECT
    (SELECT count(*) FROM message WHERE indexed_at IS NULL), (SELECT count(*) FROM memory WHERE indexed_at IS NULL),
    (SELECT count(*) FROM entity WHERE indexed_at IS NULL AND part_of IS NULL AND deleted_at IS NULL)

-- name: index_removals
SELECT tenant_id, removal_id, session_id, message_id, entity_id FROM index_removal
WHERE due_at <= :now
ORDER BY tenant_id, removal_id
LIMIT :limit

-- name: count_index_removals
SELECT count(*) FROM index_removal WHERE due_at <= :now

-- name: stale_pools
SELECT tenant_id, pool_id FROM pool WHERE generation <> :generation ORDER BY tenant_id, pool_id

-- name: count_stale
SELECT count(*)
FROM pool AS p
CROSS JOIN session AS s
CROSS JOIN message AS m
WHERE p.generation <> :generation AND s.tenant_id = p.tenant_id AND s.pool_id = p.pool_id
    AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151 AND m.generation <> :generation

-- name: stale_memories
-- The sessions with memories of another generation.
SELECT DISTINCT tenant_id, session_id FROM memory WHERE generation <> :generation ORDER BY tenant_id, session_id

-- name: stale_entities
-- The projects with entities of another generation.
SELECT DISTINCT tenant_id, project_id FROM entity
WHERE generation <> :generation AND part_of IS NULL AND deleted_at IS NULL
ORDER BY tenant_id, project_id

-- name: count_stale_derived
SELECT
    (SELECT count(*) FROM memory WHERE generation <> :generation),
    (SELECT count(*) FROM entity WHERE generation <> :generation AND part_of IS NULL AND deleted_at IS NULL)

-- name: totals
SELECT
    (SELECT count(*) FROM tenant WHERE erased_at IS NULL), (SELECT count(*) FROM project WHERE deleted_at IS NULL),
    (SELECT count(*) FROM session WHERE pool_id IS NOT NULL),
    (SELECT CAST(coalesce(sum(message_count), 0) AS BIGINT) FROM session)

-- name: tenants
-- A page of the tenants that were not erased, oldest first, with their usage.
SELECT
    t.tenant_id, t.name, t.created_at,
    (SELECT count(*) FROM project AS p WHERE p.tenant_id = t.tenant_id AND p.deleted_at IS NULL),
    (SELECT CAST(coalesce(sum(u.sessions), 0) AS BIGINT) FROM tenant_usage AS u WHERE u.tenant_id = t.tenant_id),
    (SELECT CAST(coalesce(sum(u.messages), 0) AS BIGINT) FROM tenant_usage AS u WHERE u.tenant_id = t.tenant_id)
FROM tenant AS t
WHERE t.erased_at IS NULL AND (t.created_at, t.tenant_id) > (:after_created_at, :after_tenant_id)
ORDER BY t.created_at, t.tenant_id
LIMIT :limit

-- name: tenants_named
SELECT tenant_id FROM tenant WHERE name = :name AND erased_at IS NULL ORDER BY tenant_id LIMIT 2

-- name: engine
SELECT 'SQLite ' || sqlite_version()

-- name: due_session
-- A row if any session can be claimed. Ordered as the index is, which is small, so that no planner scans the table instead.
SELECT session_id FROM session
WHERE due_at <= :now AND (claimed_until IS NULL OR claimed_until < :now)
ORDER BY tenant_id, due_at, session_id
LIMIT 1

-- name: overlong_claim
-- A row if a claim ends, or a session is due, later than after a lease or the longest wait for a retry from now.
SELECT session_id FROM session
WHERE due_at IS NOT NULL
    AND (claimed_until > :until OR due_at > CASE WHEN failures = 0 THEN CAST(:until AS BIGINT) ELSE :retry_until END)
LIMIT 1

-- name: cap_claims
-- A lease that ends later than one that is taken now was taken before the clock was set back; so it is with what is due later than
-- it could be made due now.
UPDATE session
SET claimed_until = CASE WHEN claimed_until > :until THEN CAST(:until AS BIGINT) ELSE claimed_until END,
    due_at = CASE
        WHEN failures = 0 AND due_at > :until THEN CAST(:until AS BIGINT)
        WHEN due_at > :retry_until THEN :retry_until
        ELSE due_at
    END
WHERE due_at IS NOT NULL
    AND (claimed_until > :until OR due_at > CASE WHEN failures = 0 THEN CAST(:until AS BIGINT) ELSE :retry_until END)

-- name: next_due_tenant
-- The first tenant after :after with a session that can be claimed. Ordered as the index is.
SELECT tenant_id FROM session
WHERE tenant_id > :after AND due_at <= :now AND (claimed_until IS NULL OR claimed_until < :now)
ORDER BY tenant_id, due_at, session_id
LIMIT 1

-- name: claim_due
-- The session of a tenant that is due longest. Sessions that another worker is claiming at the same time are skipped. All of it is
-- of one tenant, so that a distributed table locks a row on one shard.
UPDATE session SET claim = :claim, claimed_until = :until
WHERE tenant_id = :tenant AND session_id = (
    SELECT session_id FROM session
    WHERE tenant_id = :tenant AND due_at <= :now AND (claimed_until IS NULL OR claimed_until < :now)
    ORDER BY due_at, session_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING session_id

-- name: count_due
SELECT count(*) FROM session WHERE due_at <= :now

-- name: count_failing
SELECT count(*) FROM session WHERE due_at IS NOT NULL AND failures > 0

-- name: oldest_due
SELECT min(due_at) FROM session WHERE due_at <= :now AND failures = 0

-- name: extraction_errors
-- The errors of failing sessions, the most frequent first. They are our own sentences, without message content.
SELECT extraction_error, count(*) FROM session
WHERE due_at IS NOT NULL AND failures > 0 AND extraction_error IS NOT NULL
GROUP BY extraction_error
ORDER BY count(*) DESC, extraction_error
LIMIT :limit

-- name: tenants_with_expired_answers
SELECT tenant_id FROM tenant AS t
WHERE EXISTS (SELECT 1 FROM idempotency AS i WHERE i.tenant_id = t.tenant_id AND i.expires_at <= :now)
ORDER BY tenant_id

-- name: tenants_with_expired_entries
SELECT tenant_id FROM tenant AS t
WHERE EXISTS (SELECT 1 FROM entry AS e WHERE e.tenant_id = t.tenant_id AND e.expires_at <= :now)
ORDER BY tenant_id

-- name: tenants_with_expired_receipts
SELECT tenant_id FROM tenant AS t
WHERE EXISTS (SELECT 1 FROM receipt AS r WHERE r.tenant_id = t.tenant_id AND r.expires_at <= :now)
ORDER BY tenant_id

-- name: tenants_with_unused_templates
SELECT tenant_id FROM tenant AS t
WHERE EXISTS (
    SELECT 1 FROM prompt_template AS p
    WHERE p.tenant_id = t.tenant_id AND NOT EXISTS (
        SELECT 1 FROM receipt AS r WHERE r.tenant_id = p.tenant_id AND r.template_id = p.template_id
    )
)
ORDER BY tenant_id

-- name: tenants_with_retention
-- The tenants that forget what is old, or that have a project that does.
SELECT tenant_id FROM tenant WHERE retention_days IS NOT NULL AND erased_at IS NULL
UNION
SELECT tenant_id FROM project WHERE retention_days IS NOT NULL AND deleted_at IS NULL
ORDER BY tenant_id

-- name: embedding_model
SELECT model_id, dimension FROM embedding_model WHERE name = :name

-- name: insert_embedding_model
INSERT INTO embedding_model (model_id, name, dimension, used_at)
SELECT coalesce(max(model_id), 0) + 1, :name, 0, :now FROM embedding_model WHERE 1 = 1
ON CONFLICT DO NOTHING

-- name: set_embedding_dimension
-- By the first vector; :known is 0 then.
UPDATE embedding_model SET dimension = :dimension WHERE model_id = :model_id AND dimension = :known

-- name: note_embedding_model_use
UPDATE embedding_model SET used_at = :now WHERE model_id = :model_id

-- name: unused_embedding_models
SELECT model_id FROM embedding_model WHERE model_id <> :model_id AND used_at < :before ORDER BY model_id

-- name: delete_embedding_models
-- Those that no process has used lately, and that have no vectors left.
DELETE FROM embedding_model
WHERE model_id <> :model_id AND used_at < :before
    AND NOT EXISTS (SELECT 1 FROM message_vector AS v WHERE v.model_id = embedding_model.model_id)

-- name: pools_to_embed
-- The pools with changes that the model has not seen, after a pool.
SELECT tenant_id, pool_id FROM pool
WHERE (tenant_id, pool_id) > (:after_tenant, :after) AND version > 0
    AND (embedded_model_id IS DISTINCT FROM CAST(:model_id AS BIGINT) OR embedded_version < version)
ORDER BY tenant_id, pool_id
LIMIT :limit

-- name: pools
SELECT tenant_id, pool_id FROM pool WHERE (tenant_id, pool_id) > (:after_tenant, :after) ORDER BY tenant_id, pool_id LIMIT :limit

-- name: count_unembedded
-- How many messages of changed sessions come behind the last one with a vector, by their numbers: deleted ones count too, until the
-- pool is looked at.
SELECT CAST(coalesce(sum((s.session_id << 21) + s.next_sequence - 1 - coalesce((
    SELECT max(v.message_id) FROM message_vector AS v
    WHERE v.tenant_id = s.tenant_id AND v.model_id = :model_id
        AND v.message_id > s.session_id << 21 AND v.message_id <= (s.session_id << 21) + 2097151
), s.session_id << 21)), 0) AS BIGINT)
FROM pool AS p
CROSS JOIN session AS s
WHERE (p.embedded_model_id IS DISTINCT FROM CAST(:model_id AS BIGINT) OR p.embedded_version < p.version)
    AND s.tenant_id = p.tenant_id AND s.pool_id = p.pool_id
    AND s.changed_version > CASE WHEN p.embedded_model_id = :model_id THEN p.embedded_version ELSE -1 END

-- name: tenants_with_old_entity_changes
SELECT tenant_id FROM entity_change WHERE changed_at <= :before
UNION
SELECT tenant_id FROM entity WHERE deleted_at <= :before

-- name: tenant_ids
SELECT tenant_id FROM tenant ORDER BY tenant_id

-- name: count_texts
SELECT
    (SELECT count(*) FROM message), (SELECT count(*) FROM memory), (SELECT count(*) FROM observation),
    (SELECT count(*) FROM session_item), (SELECT count(*) FROM memory_file), (SELECT count(*) FROM entry)

-- name: tenants_without_checksums
SELECT tenant_id FROM message WHERE checksum IS NULL
UNION
SELECT tenant_id FROM memory WHERE checksum IS NULL
UNION
SELECT tenant_id FROM observation WHERE checksum IS NULL
UNION
SELECT tenant_id FROM session_item WHERE checksum IS NULL
UNION
SELECT tenant_id FROM memory_file WHERE checksum IS NULL
UNION
SELECT tenant_id FROM entry WHERE checksum IS NULL

-- name: insert_process
INSERT INTO process (process_id, address, secret, started_at) VALUES (:process_id, :address, :secret, :started_at)
ON CONFLICT DO NOTHING

-- name: processes
SELECT process_id, address, secret FROM process ORDER BY started_at DESC LIMIT 256

-- name: process
SELECT process_id, address, secret FROM process WHERE process_id = :process_id

-- name: delete_process
DELETE FROM process WHERE process_id = :process_id

-- name: delete_processes_of_address
DELETE FROM process WHERE address = :address
