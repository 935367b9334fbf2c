-- name: messages_by_day
-- As in activity.sql, session by session: PostgreSQL would otherwise read the messages of all sessions and compare their ids.
SELECT CAST(m.created_at / 86400000000 AS BIGINT) AS day, count(*) AS messages
FROM session AS s
CROSS JOIN LATERAL (
    SELECT message.created_at FROM message
    WHERE message.tenant_id = :tenant_id
        AND message.message_id >= s.session_id * 2097152 AND message.message_id < (s.session_id + 1) * 2097152
    OFFSET 0
) AS m
WHERE s.tenant_id = :tenant_id
    AND s.session_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:session_ids AS TEXT))))
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND m.created_at >= :since AND m.created_at < :until
GROUP BY 1
