-- Under row-level security the planner does not use an index for conditions that it cannot prove leakproof, such as a shifted
-- column. This query forces a scan by the primary key, session by session, each in order.

-- name: pool_vectors
SELECT {vector_columns}
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message_id, vector FROM message_vector
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
        AND model_id = :model_id AND length(vector) > 0
    ORDER BY message_id
) AS v
JOIN message AS m ON m.tenant_id = :tenant_id AND m.message_id = v.message_id AND m.status = 'completed'
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
