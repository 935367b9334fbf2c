-- Memories as people look through them: of a project, of what is in no project, or of a user, newest first, and what happened to them.

-- columns: listed_sessions
-- The sessions of the one part that is asked for. Each branch has an index; the branches that are not asked for read nothing.
SELECT session_id, external_id, user_id, project_id, pool_id FROM session
WHERE tenant_id = :tenant_id AND project_id = CAST(:project_id AS BIGINT) AND memory_count > 0
    AND (CAST(:any_user AS BIGINT) = 1 OR coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), ''))
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
UNION ALL
SELECT session_id, external_id, user_id, project_id, pool_id FROM session
WHERE tenant_id = :tenant_id AND CAST(:kind AS TEXT) = 'none' AND project_id IS NULL AND memory_count > 0
    AND (CAST(:any_user AS BIGINT) = 1 OR coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), ''))
    AND CAST(:confined_to AS BIGINT) IS NULL
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
UNION ALL
SELECT session_id, external_id, user_id, project_id, pool_id FROM session
WHERE tenant_id = :tenant_id AND CAST(:kind AS TEXT) = 'user' AND user_id = CAST(:user_id AS TEXT) AND memory_count > 0
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)

-- name: listed_memories
-- A page of the memories of one part, newest first. Of equal memories of one pool that are equally true only the newest is listed.
SELECT
    memory_id, session_id, content, importance, created_at, valid_from, valid_until, superseded_by, retracted_at, expires_at,
    pinned, source, subject, categories, metadata, checksum, external_id, user_id, project_id
FROM (
    SELECT
        {memory_columns},
        row_number() OVER (
            PARTITION BY s.pool_id, m.digest, m.superseded_by, m.retracted_at ORDER BY m.created_at DESC, m.memory_id DESC
        ) AS repetition
    FROM ({listed_sessions}) AS s
    JOIN memory AS m ON m.session_id = s.session_id
    WHERE m.tenant_id = :tenant_id
        AND (CAST(:pinned AS BIGINT) IS NULL OR m.pinned = CAST(:pinned AS BIGINT))
        AND (
            CAST(:status AS TEXT) IS NULL
            OR CAST(:status AS TEXT) = CASE
                WHEN m.retracted_at IS NOT NULL THEN 'retracted'
                WHEN m.superseded_by IS NOT NULL THEN 'superseded'
                WHEN m.expires_at <= :now THEN 'expired'
                ELSE 'active'
            END
        )
) AS said
WHERE repetition = 1 AND (created_at, memory_id) < (:before_at, :before_id)
ORDER BY created_at DESC, memory_id DESC
LIMIT :limit

-- name: timeline_rows
-- A page of what happened to the memories of one part, newest first: each was learnt once, and each change is one row. Equal
-- memories of one pool are learnt once, and changed together.
SELECT happened_at, id, memory_id, is_change
FROM (
    SELECT
        m.created_at AS happened_at, m.memory_id AS id, m.memory_id, CAST(0 AS BIGINT) AS is_change,
        row_number() OVER (
            PARTITION BY s.pool_id, m.digest, m.superseded_by, m.retracted_at ORDER BY m.created_at, m.memory_id
        ) AS repetition
    FROM ({listed_sessions}) AS s
    JOIN memory AS m ON m.session_id = s.session_id
    WHERE m.tenant_id = :tenant_id
    UNION ALL
    SELECT
        r.changed_at AS happened_at, r.revision_id AS id, r.memory_id, CAST(1 AS BIGINT) AS is_change,
        row_number() OVER (
            PARTITION BY s.pool_id, m.digest, r.changed_at, r.action ORDER BY r.revision_id
        ) AS repetition
    FROM ({listed_sessions}) AS s
    JOIN memory AS m ON m.session_id = s.session_id
    JOIN memory_revision AS r ON r.memory_id = m.memory_id
    WHERE m.tenant_id = :tenant_id AND r.tenant_id = :tenant_id
) AS happened
WHERE repetition = 1 AND (happened_at, id) < (:before_at, :before_id)
ORDER BY happened_at DESC, id DESC
LIMIT :limit

-- name: timeline_memories
SELECT {memory_columns}
FROM ({listed_sessions}) AS s
JOIN memory AS m ON m.session_id = s.session_id
WHERE m.tenant_id = :tenant_id AND m.memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: timeline_changes
-- Changes of memories, each with the state before it, and the state before the next change of the same memory.
SELECT
    r.revision_id, r.action, r.changed_by, r.undone_at, r.before,
    (
        SELECT n.before FROM memory_revision AS n
        WHERE n.tenant_id = :tenant_id AND n.memory_id = r.memory_id
            AND (n.changed_at, n.revision_id) > (r.changed_at, r.revision_id)
        ORDER BY n.changed_at, n.revision_id
        LIMIT 1
    ) AS next_before
FROM ({listed_sessions}) AS s
JOIN memory AS m ON m.session_id = s.session_id
JOIN memory_revision AS r ON r.memory_id = m.memory_id
WHERE m.tenant_id = :tenant_id AND r.tenant_id = :tenant_id
    AND r.memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
    AND r.revision_id IN (SELECT value FROM json_each(CAST(:revision_ids AS TEXT)))

-- name: timeline_replaced
-- The memories whose place these took, the latest of them first.
SELECT m.superseded_by, m.memory_id, m.content
FROM ({listed_sessions}) AS s
JOIN memory AS m ON m.session_id = s.session_id
WHERE m.tenant_id = :tenant_id AND m.superseded_by IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
ORDER BY m.valid_from DESC, m.memory_id DESC

-- name: timeline_first_states
-- The state before the first change of each of these memories that was changed.
SELECT memory_id, before
FROM (
    SELECT
        r.memory_id, r.before, row_number() OVER (PARTITION BY r.memory_id ORDER BY r.changed_at, r.revision_id) AS position
    FROM ({listed_sessions}) AS s
    JOIN memory AS m ON m.session_id = s.session_id
    JOIN memory_revision AS r ON r.memory_id = m.memory_id
    WHERE m.tenant_id = :tenant_id AND r.tenant_id = :tenant_id
        AND r.memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
) AS changed
WHERE position = 1
