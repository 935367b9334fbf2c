-- columns: api_key_columns
key_id, tenant_id, name, project_id, is_confined, permissions, created_at, expires_at, revoked_at, user_id, secret_hash

-- name: insert_api_key
INSERT INTO api_key (
    key_id, tenant_id, name, secret_hash, project_id, is_confined, permissions, created_at, expires_at, user_id
) VALUES (
    :key_id, :tenant_id, :name, :secret_hash, :project_id, :is_confined, :permissions, :created_at, :expires_at, :user_id
)
ON CONFLICT DO NOTHING
RETURNING key_id

-- name: api_key
SELECT {api_key_columns}
FROM api_key
WHERE tenant_id = :tenant_id AND key_id = :key_id

-- name: api_keys
-- A page of the keys that are not revoked, oldest first.
SELECT {api_key_columns}
FROM api_key
WHERE tenant_id = :tenant_id AND revoked_at IS NULL
    AND (created_at, key_id) > (:after_created_at, :after_key_id)
ORDER BY created_at, key_id
LIMIT :limit

-- name: lock_admin_keys
-- All admin keys that are not revoked, locked before one of them is revoked.
SELECT {api_key_columns}
FROM api_key
WHERE tenant_id = :tenant_id AND revoked_at IS NULL AND permissions LIKE '%"admin"%'
ORDER BY key_id
FOR UPDATE

-- name: revoke_api_key
UPDATE api_key SET revoked_at = :revoked_at WHERE tenant_id = :tenant_id AND key_id = :key_id AND revoked_at IS NULL

-- name: count_api_keys
SELECT count(*) FROM api_key WHERE tenant_id = :tenant_id AND revoked_at IS NULL

-- name: add_usage
UPDATE tenant_usage SET sessions = sessions + :sessions, messages = messages + :messages
WHERE tenant_id = :tenant_id AND part = :part

-- name: open_usage_part
INSERT INTO tenant_usage (tenant_id, part, sessions, messages) VALUES (:tenant_id, :part, 0, 0) ON CONFLICT DO NOTHING

-- name: limits
SELECT message_limit, session_limit, project_limit, file_limit, entry_limit FROM tenant WHERE tenant_id = :tenant_id

-- name: usage
SELECT
    t.message_limit, t.session_limit, t.project_limit, t.file_limit, t.entry_limit,
    (SELECT CAST(coalesce(sum(messages), 0) AS BIGINT) FROM tenant_usage WHERE tenant_id = :tenant_id),
    (SELECT CAST(coalesce(sum(sessions), 0) AS BIGINT) FROM tenant_usage WHERE tenant_id = :tenant_id)
FROM tenant AS t
WHERE t.tenant_id = :tenant_id

-- name: count_projects
SELECT count(*) FROM project WHERE tenant_id = :tenant_id AND deleted_at IS NULL

-- name: set_limits
UPDATE tenant
SET message_limit = :messages, session_limit = :sessions, project_limit = :projects, file_limit = :files,
    entry_limit = :entries
WHERE tenant_id = :tenant_id
