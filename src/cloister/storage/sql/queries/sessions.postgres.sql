-- name: lock_session
SELECT
    session_id, tenant_id, external_id, project_id, pool_id, user_id, title, tags, metadata, message_count, created_at,
    updated_at, memory_count, CAST(CASE WHEN due_at IS NULL THEN 0 ELSE 1 END AS BIGINT), extraction_error,
    next_sequence, episode_id, unchecked_count
FROM session
WHERE tenant_id = :tenant_id AND external_id = :external_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
FOR UPDATE

-- name: lock_project_sessions
SELECT
    session_id, tenant_id, external_id, project_id, pool_id, user_id, title, tags, metadata, message_count, created_at,
    updated_at, memory_count, CAST(CASE WHEN due_at IS NULL THEN 0 ELSE 1 END AS BIGINT), extraction_error,
    next_sequence, episode_id, unchecked_count
FROM session
WHERE tenant_id = :tenant_id AND project_id = :project_id ORDER BY session_id FOR UPDATE
