-- Session by session, each by the primary key: see `pools.postgres.sql`.

-- name: filter_messages
SELECT
    m.message_id, m.role, m.author, m.created_at,
    CASE WHEN CAST(:labels AS BIGINT) = 1 THEN m.categories ELSE '[]' END,
    CASE WHEN CAST(:labels AS BIGINT) = 1 THEN m.metadata ELSE '{}' END
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message_id, role, author, created_at, categories, metadata FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND created_at >= :created_from AND created_at <= :created_until
        AND status = 'completed' AND (vector IS NULL OR length(vector) > 0)
        AND (CAST(:labelled AS BIGINT) = 0 OR metadata <> '{}' OR categories <> '[]')
    ORDER BY message_id
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
    AND (
        CAST(:any_session AS BIGINT) = 1
        OR s.session_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:session_ids AS TEXT))))
    )
