-- How many messages and memories were stored on each day, of a project, of what is in no project, or of a user.

-- name: active_sessions
-- The sessions of one part that something was done in since then, the latest first.
SELECT session_id FROM (
    SELECT session_id, updated_at FROM session
    WHERE tenant_id = :tenant_id AND project_id = CAST(:project_id AS BIGINT) AND updated_at >= :since AND pool_id IS NOT NULL
        AND (CAST(:any_user AS BIGINT) = 1 OR coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), ''))
        AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
        AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
    UNION ALL
    SELECT session_id, updated_at FROM session
    WHERE tenant_id = :tenant_id AND CAST(:kind AS TEXT) = 'user' AND user_id = CAST(:user_id AS TEXT) AND updated_at >= :since
        AND pool_id IS NOT NULL
        AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
        AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
) AS active
ORDER BY updated_at DESC, session_id DESC
LIMIT :limit

-- name: messages_by_day
-- A day is a number of days since 1970. The ids of the messages of a session are a range that begins with the session's.
SELECT CAST(m.created_at / 86400000000 AS BIGINT) AS day, count(*) AS messages
FROM session AS s
JOIN message AS m ON m.message_id >= s.session_id * 2097152 AND m.message_id < (s.session_id + 1) * 2097152
WHERE s.tenant_id = :tenant_id AND m.tenant_id = :tenant_id
    AND s.session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND m.created_at >= :since AND m.created_at < :until
GROUP BY 1

-- name: memories_by_day
SELECT CAST(m.created_at / 86400000000 AS BIGINT) AS day, count(*) AS memories
FROM session AS s
JOIN memory AS m ON m.session_id = s.session_id
WHERE s.tenant_id = :tenant_id AND m.tenant_id = :tenant_id
    AND s.session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND m.created_at >= :since AND m.created_at < :until
GROUP BY 1
