-- name: lock_user_sessions
SELECT session_id FROM session WHERE tenant_id = :tenant_id AND user_id = :user_id ORDER BY session_id FOR UPDATE

-- name: lock_user_pools
-- The same.
SELECT pool_id FROM pool
WHERE tenant_id = :tenant_id
    AND (
        user_id = :user_id
        OR pool_id IN (SELECT s.pool_id FROM session AS s WHERE s.tenant_id = :tenant_id AND s.user_id = :user_id)
    )
ORDER BY pool_id FOR UPDATE

-- name: lock_sessions
SELECT session_id FROM session WHERE tenant_id = :tenant_id AND pool_id IS NOT NULL ORDER BY session_id FOR UPDATE

-- name: count_user_episodes
-- Session by session, by the primary key.
SELECT CAST(coalesce(sum(m.episodes), 0) AS BIGINT)
FROM session AS s
CROSS JOIN LATERAL (
    SELECT count(DISTINCT episode_id) AS episodes FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
) AS m
WHERE s.tenant_id = :tenant_id AND s.user_id = :user_id

-- name: count_tenant_episodes
SELECT CAST(coalesce(sum(m.episodes), 0) AS BIGINT)
FROM session AS s
CROSS JOIN LATERAL (
    SELECT count(DISTINCT episode_id) AS episodes FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id IS NOT NULL

-- name: sessions_by_id
SELECT
    session_id, tenant_id, external_id, project_id, pool_id, user_id, title, tags, metadata, message_count, created_at,
    updated_at, memory_count, CAST(CASE WHEN due_at IS NULL THEN 0 ELSE 1 END AS BIGINT), extraction_error,
    next_sequence, episode_id, unchecked_count
FROM session
WHERE tenant_id = :tenant_id AND session_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:session_ids AS TEXT))))
    AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id)
ORDER BY session_id

-- name: delete_mentions_of
DELETE FROM mention
WHERE tenant_id = :tenant_id AND entity_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:entity_ids AS TEXT))))
