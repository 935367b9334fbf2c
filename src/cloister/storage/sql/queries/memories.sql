-- name: insert_memory
-- No row comes back when the session knows it already, or the drawn id is taken.
INSERT INTO memory (
    memory_id, tenant_id, session_id, digest, importance, created_at, generation, vector, terms, content, indexed_at
) VALUES (
    :memory_id, :tenant_id, :session_id, :digest, :importance, :created_at, :generation, :vector, :terms, :content, :indexed_at
)
ON CONFLICT DO NOTHING
RETURNING memory_id

-- name: insert_memory_source
INSERT INTO memory_source (tenant_id, message_id, memory_id) VALUES (:tenant_id, :message_id, :memory_id)
ON CONFLICT DO NOTHING

-- name: session_memories
-- A page of one session, oldest first.
SELECT m.memory_id, m.session_id, m.content, m.importance, m.created_at, s.external_id, s.user_id, s.project_id
FROM memory AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.session_id = :session_id
    AND (m.created_at, m.memory_id) > (:after_created_at, :after_memory_id)
ORDER BY m.created_at, m.memory_id
LIMIT :limit

-- name: user_memories
-- A page across one user's sessions, oldest first.
SELECT m.memory_id, m.session_id, m.content, m.importance, m.created_at, s.external_id, s.user_id, s.project_id
FROM memory AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND s.user_id = :user_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND (m.created_at, m.memory_id) > (:after_created_at, :after_memory_id)
ORDER BY m.created_at, m.memory_id
LIMIT :limit

-- name: known_memories
-- What is known of a user inside one pool, newest first: an extraction is told no more than its own pool.
SELECT m.content
FROM session AS s
JOIN memory AS m ON m.tenant_id = s.tenant_id AND m.session_id = s.session_id
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
    AND (s.session_id = :session_id OR s.user_id = CAST(:user_id AS TEXT))
ORDER BY m.created_at DESC, m.memory_id DESC
LIMIT :limit

-- name: memory
SELECT m.memory_id, m.session_id, m.content, m.importance, m.created_at, s.external_id, s.user_id, s.project_id
FROM memory AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.memory_id = :memory_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)

-- name: memory_sources
SELECT memory_id, message_id FROM memory_source
WHERE tenant_id = :tenant_id AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
ORDER BY memory_id, message_id

-- name: memories_of_message
-- Those that a message is a source of: they go with it.
SELECT memory_id FROM memory_source WHERE tenant_id = :tenant_id AND message_id = :message_id

-- name: session_memory_ids
SELECT memory_id FROM memory WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: delete_memory_sources
DELETE FROM memory_source
WHERE tenant_id = :tenant_id AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: delete_memories
DELETE FROM memory
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: add_session_memories
UPDATE session SET memory_count = memory_count + :memories WHERE tenant_id = :tenant_id AND session_id = :session_id
RETURNING project_id, pool_id

-- name: add_project_memories
UPDATE project SET memory_count = memory_count + :memories WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: raise_memory_version
UPDATE pool SET memory_version = memory_version + 1 WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: memory_state
SELECT memory_version FROM pool WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: memory_pool_rows
-- What a pool's block of memories is made of.
SELECT m.memory_id, 'user', CAST(NULL AS TEXT), m.created_at, m.vector, m.terms
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND m.generation = :generation

-- name: pool_memories
-- Content by id, for ids that an index named: only what is in this pool now comes back.
SELECT m.memory_id, m.session_id, m.content, m.importance, m.created_at, s.external_id, s.user_id, s.project_id
FROM json_each(CAST(:memory_ids AS TEXT)) AS named
CROSS JOIN memory AS m
CROSS JOIN session AS s
WHERE m.memory_id = named.value AND m.tenant_id = :tenant_id
    AND s.session_id = m.session_id AND s.tenant_id = m.tenant_id AND s.pool_id = :pool_id
