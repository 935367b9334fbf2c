-- name: pool_versions
SELECT pool_id, project_id, version, removed_version FROM pool
WHERE tenant_id = :tenant_id AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)

-- name: sessions_changed
-- The sessions of a pool that changed since a version of it, in the order of their changes.
SELECT external_id, project_id, user_id FROM session
WHERE tenant_id = :tenant_id AND pool_id = :pool_id AND changed_version > :version
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
ORDER BY changed_version, session_id
LIMIT :limit
