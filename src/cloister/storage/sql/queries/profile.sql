-- What is true now of a user in one pool, and what a project knows (MEM-16).

-- columns: profile_columns
m.memory_id, m.content, m.digest, m.subject, m.categories, m.source, m.pinned, m.valid_from, m.metadata, m.checksum,
s.external_id, s.user_id

-- name: profile_memories
-- The memories of one person in one pool that are true now, the most important first. Of a session without a user only its own. The
-- best are found by columns at the end of the row, and only of these the contents are read.
SELECT
    m.memory_id, m.content, m.digest, m.subject, m.categories, m.source, m.pinned, m.valid_from, m.metadata,
    m.checksum, best.external_id, best.user_id
FROM (
    SELECT m.memory_id, s.external_id, s.user_id
    FROM session AS s
    CROSS JOIN memory AS m
    WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
        AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)
        AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
        AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
        AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
        AND m.retracted_at IS NULL AND m.superseded_by IS NULL AND (m.expires_at IS NULL OR m.expires_at > :now)
    ORDER BY
        m.pinned DESC, CASE m.source WHEN 'corrected' THEN 0 WHEN 'written' THEN 1 ELSE 2 END,
        CASE WHEN m.subject IS NULL THEN 1 ELSE 0 END, m.valid_from DESC, m.memory_id DESC
    LIMIT :limit
) AS best
CROSS JOIN memory AS m
WHERE m.tenant_id = :tenant_id AND m.memory_id = best.memory_id

-- name: equal_memories
-- For each of these memories the others of the pool that say the same of the same user and are true now, newest first.
SELECT named.value, m.memory_id, s.external_id
FROM json_each(CAST(:memory_ids AS TEXT)) AS named
CROSS JOIN memory AS chosen
CROSS JOIN session AS its
CROSS JOIN memory AS m
CROSS JOIN session AS s
WHERE chosen.tenant_id = :tenant_id AND chosen.memory_id = named.value
    AND its.tenant_id = :tenant_id AND its.session_id = chosen.session_id AND its.pool_id = :pool_id
    AND m.tenant_id = :tenant_id AND m.digest = chosen.digest AND m.memory_id <> chosen.memory_id
    AND s.tenant_id = :tenant_id AND s.session_id = m.session_id AND s.pool_id = :pool_id
    AND its.user_id = s.user_id
    AND m.retracted_at IS NULL AND m.superseded_by IS NULL AND (m.expires_at IS NULL OR m.expires_at > :now)
ORDER BY m.valid_from DESC, m.memory_id DESC

-- name: project_decisions
-- The memories of one pool that are true now, and are decisions or pinned, the most important first.
SELECT {profile_columns}
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
    AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND m.retracted_at IS NULL AND m.superseded_by IS NULL AND (m.expires_at IS NULL OR m.expires_at > :now)
    AND (m.pinned = 1 OR m.categories LIKE '%"decision"%')
ORDER BY
    m.pinned DESC, CASE m.source WHEN 'corrected' THEN 0 WHEN 'written' THEN 1 ELSE 2 END, m.valid_from DESC,
    m.memory_id DESC
LIMIT :limit

-- name: most_mentioned_entities
-- The entities of a project, or of one user's part of it, that most messages mention.
SELECT {entity_columns} FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND user_id IS NOT DISTINCT FROM CAST(:user_id AS TEXT)
    AND part_of IS NULL AND deleted_at IS NULL
ORDER BY
    (SELECT count(*) FROM mention AS n WHERE n.tenant_id = :tenant_id AND n.entity_id = entity.entity_id) DESC, entity_id
LIMIT :limit
