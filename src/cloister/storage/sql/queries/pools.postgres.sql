-- Row-level security bars the planner from an index on what it cannot prove free of leaks, such as a shifted column, and it guesses
-- badly how many ids a list holds. These say the walk by the primary key outright.

-- name: pool_rows
-- Session by session, each in order, without a sort of the whole pool.
SELECT m.message_id, m.role, m.author, m.created_at, m.vector, m.terms
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message_id, role, author, created_at, vector, terms FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND generation = :generation AND status = 'completed' AND (vector IS NULL OR length(vector) > 0)
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id

-- name: pool_messages
SELECT
    m.message_id, m.session_id, m.role, m.content, m.author, m.status, m.episode_id, m.is_memory_checked, m.tokens,
    m.metadata, m.created_at, s.external_id, s.user_id
FROM message AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND s.pool_id = :pool_id
    AND m.message_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:message_ids AS TEXT))))

-- name: pool_recent_messages
SELECT
    m.message_id, m.session_id, m.role, m.content, m.author, m.status, m.episode_id, m.is_memory_checked, m.tokens,
    m.metadata, m.created_at, s.external_id, s.user_id
FROM session AS s
CROSS JOIN LATERAL (
    SELECT
        message_id, session_id, role, content, author, status, episode_id, is_memory_checked, tokens, metadata, created_at
    FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND role = :role AND status = 'completed' AND (vector IS NULL OR length(vector) > 0)
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
ORDER BY m.created_at DESC, m.message_id DESC
LIMIT :limit

-- name: lock_pool
SELECT pool_id FROM pool WHERE tenant_id = :tenant_id AND pool_id = :pool_id FOR UPDATE
