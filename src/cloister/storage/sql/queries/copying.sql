-- What a copy of a tenant carries to another database apart from its archive: the tenant's own row, keys and exclusions.

-- name: copied_tenant
SELECT name, created_at, secret, retention_days, receipt_days FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL

-- name: set_copied_secret
-- The names of default sessions are made with it, so that of the source replaces one that was made here.
UPDATE tenant SET secret = :secret WHERE tenant_id = :tenant_id

-- name: copied_keys
-- All keys, also revoked ones.
SELECT {api_key_columns} FROM api_key WHERE tenant_id = :tenant_id ORDER BY key_id

-- name: copied_exclusions
SELECT exclusion_id, session_id, created_at, message_id, memory_id, entity_id FROM exclusion
WHERE tenant_id = :tenant_id
ORDER BY exclusion_id

-- name: copied_exclusion
SELECT exclusion_id FROM exclusion WHERE tenant_id = :tenant_id AND exclusion_id = :exclusion_id

-- name: copy_exclusion
-- Returns no row if the session or what it excludes is not here.
INSERT INTO exclusion (exclusion_id, tenant_id, session_id, created_at, message_id, memory_id, entity_id)
SELECT CAST(:exclusion_id AS BIGINT), :tenant_id, s.session_id, CAST(:created_at AS BIGINT), CAST(:message_id AS BIGINT),
    CAST(:memory_id AS BIGINT), CAST(:entity_id AS BIGINT)
FROM session AS s
WHERE s.tenant_id = :tenant_id AND s.session_id = :session_id AND s.pool_id IS NOT NULL
    AND (CAST(:message_id AS BIGINT) IS NULL OR EXISTS (
        SELECT 1 FROM message AS m WHERE m.tenant_id = :tenant_id AND m.message_id = CAST(:message_id AS BIGINT)
    ))
    AND (CAST(:memory_id AS BIGINT) IS NULL OR EXISTS (
        SELECT 1 FROM memory AS m WHERE m.tenant_id = :tenant_id AND m.memory_id = CAST(:memory_id AS BIGINT)
    ))
    AND (CAST(:entity_id AS BIGINT) IS NULL OR EXISTS (
        SELECT 1 FROM entity AS e WHERE e.tenant_id = :tenant_id AND e.entity_id = CAST(:entity_id AS BIGINT)
    ))
ON CONFLICT DO NOTHING
RETURNING exclusion_id
