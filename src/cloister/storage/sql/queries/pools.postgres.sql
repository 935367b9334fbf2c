-- Under row-level security the planner does not use an index for conditions that it cannot prove leakproof, such as a shifted
-- column, and it estimates the length of a list badly. These queries force a scan by the primary key.

-- name: pool_rows
-- Session by session, each in order, without sorting the whole pool.
SELECT {indexed_message_columns}
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message_id, role, author, created_at, vector, terms FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND generation = :generation AND status = 'completed' AND (vector IS NULL OR length(vector) > 0)
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id

-- name: pool_rows_with_words
SELECT {indexed_message_columns}, CASE WHEN m.generation = :generation THEN NULL ELSE m.content END
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message_id, role, author, created_at, vector, terms, generation, content FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND status = 'completed' AND (generation <> :generation OR vector IS NULL OR length(vector) > 0)
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id

-- name: vectors_of_messages
SELECT m.message_id, m.vector
FROM message AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.generation = :generation AND length(m.vector) > 0
    AND {m_on_branch}
    AND m.message_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:message_ids AS TEXT))))

-- name: pool_messages
SELECT {pool_message_columns}
FROM message AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND s.pool_id = :pool_id AND {m_on_branch}
    AND m.message_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:message_ids AS TEXT))))

-- name: speakers_of_messages
SELECT DISTINCT m.role, m.author, s.user_id
FROM message AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND s.pool_id = :pool_id AND {m_on_branch}
    AND m.message_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:message_ids AS TEXT))))

-- name: pool_recent_messages
SELECT {pool_message_columns}
FROM session AS s
CROSS JOIN LATERAL (
    SELECT
        message_id, session_id, role, content, author, status, episode_id, is_memory_checked, tokens, metadata, created_at,
        categories, checksum
    FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND role = :role AND status = 'completed' AND (vector IS NULL OR length(vector) > 0)
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
ORDER BY m.created_at DESC, m.message_id DESC
LIMIT :limit
