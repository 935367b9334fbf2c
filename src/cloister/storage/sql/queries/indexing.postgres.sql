-- name: stale_in_pool
SELECT count(*)
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message_id FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND generation <> :generation
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id

-- name: waiting_in_pool
SELECT count(*)
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message_id FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND indexed_at IS NULL AND generation = :generation AND status = 'completed'
        AND (vector IS NULL OR length(vector) > 0)
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
    AND (SELECT 1 FROM message WHERE tenant_id = :tenant_id AND indexed_at IS NULL ORDER BY message_id LIMIT 1) = 1

-- name: newest_stale_in_pool
SELECT m.message_id
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message_id, created_at FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND generation <> :generation AND status = 'completed'
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
ORDER BY m.created_at DESC, m.message_id DESC
LIMIT :limit
