-- name: lock_admin_keys
SELECT key_id, tenant_id, name, project_id, is_confined, permissions, created_at, expires_at, revoked_at, user_id,
    secret_hash
FROM api_key
WHERE tenant_id = :tenant_id AND revoked_at IS NULL AND permissions LIKE '%"admin"%'
ORDER BY key_id
FOR UPDATE
