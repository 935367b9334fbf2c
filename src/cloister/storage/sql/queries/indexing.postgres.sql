-- name: lock_session_by_id
SELECT pool_id FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id FOR UPDATE

-- name: set_indexed_at
UPDATE message SET indexed_at = :indexed_at
WHERE tenant_id = :tenant_id AND indexed_at IS NULL
    AND message_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:message_ids AS TEXT))))

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
