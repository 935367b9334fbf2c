-- name: count_tenant_episodes
-- Session by session, by the primary key.
SELECT CAST(coalesce(sum(m.episodes), 0) AS BIGINT)
FROM session AS s
CROSS JOIN LATERAL (
    SELECT count(DISTINCT episode_id) AS episodes FROM message
    WHERE tenant_id = :tenant_id AND message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
) AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id IS NOT NULL
