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
