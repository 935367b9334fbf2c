-- columns: pool_message_columns
m.message_id, m.session_id, m.role, m.content, m.author, m.status, m.episode_id, m.is_memory_checked, m.tokens,
m.metadata, m.created_at, m.categories, m.checksum, s.external_id, s.user_id

-- columns: indexed_message_columns
m.message_id, m.role, m.author, m.created_at, m.vector, m.terms

-- name: pool
SELECT pool_id, generation FROM pool
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')

-- name: insert_pool
INSERT INTO pool (pool_id, tenant_id, project_id, user_id, version, removed_version, generation)
VALUES (:pool_id, :tenant_id, :project_id, :user_id, 0, 0, :generation)
ON CONFLICT DO NOTHING

-- name: raise_pool_version
UPDATE pool SET version = version + 1 WHERE tenant_id = :tenant_id AND pool_id = :pool_id RETURNING version, generation

-- name: note_departure
UPDATE pool SET version = version + 1, removed_version = version + 1
WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: lock_pool
SELECT pool_id FROM pool WHERE tenant_id = :tenant_id AND pool_id = :pool_id FOR UPDATE

-- name: note_arrival
UPDATE pool SET generation = 0
WHERE tenant_id = :tenant_id AND pool_id = :pool_id AND EXISTS (
    SELECT 1 FROM pool AS old
    WHERE old.tenant_id = :tenant_id AND old.pool_id = :came_from AND old.generation <> pool.generation
)

-- name: note_mixed_generations
UPDATE pool SET generation = 0 WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: pool_state
SELECT version, removed_version FROM pool WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: derived_state
-- Whether a session can recall anything derived, in one query: memories of the pool, entities of the project, observations of the
-- session, and of the user's sessions if a user is given; whether it excludes anything; and the version of the pool.
SELECT
    version, memory_version,
    (
        SELECT entity_version FROM project
        WHERE tenant_id = :tenant_id AND project_id = CAST(:project_id AS BIGINT) AND deleted_at IS NULL
    ),
    (SELECT observed_message_id FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id),
    (
        SELECT observed_message_id FROM session
        WHERE tenant_id = :tenant_id AND pool_id = :pool_id AND user_id = CAST(:user_id AS TEXT) AND observed_message_id > 0
        LIMIT 1
    ),
    (SELECT CAST(1 AS BIGINT) FROM exclusion WHERE tenant_id = :tenant_id AND session_id = :session_id LIMIT 1)
FROM pool
WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: pool_size
SELECT CAST(coalesce(sum(message_count), 0) AS BIGINT) FROM session WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: pool_readers
-- How many sessions recall from a pool, and of how many users; sessions without a user count as one.
SELECT count(*), count(DISTINCT coalesce(user_id, '')) FROM session WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: pool_members
SELECT session_id FROM session WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: pool_changes
SELECT session_id, rebuilt_version FROM session
WHERE tenant_id = :tenant_id AND pool_id = :pool_id AND changed_version > :version
ORDER BY session_id

-- name: pool_rows
-- The index columns of a pool's messages, except those without words of their own, whose vectors are empty. SQLite's nested loop
-- returns the messages of a session together and in order.
SELECT {indexed_message_columns}
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
    AND m.generation = :generation AND m.status = 'completed' AND (m.vector IS NULL OR length(m.vector) > 0)

-- name: session_rows
-- The same for the messages of one session after an id. With two lower bounds SQLite would start its scan at the first, hence CASE.
SELECT {indexed_message_columns}
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND s.session_id = :session_id AND m.tenant_id = s.tenant_id
    AND m.message_id > CASE
        WHEN CAST(:after AS BIGINT) >= CAST(:session_id AS BIGINT) << 21 THEN CAST(:after AS BIGINT)
        ELSE (CAST(:session_id AS BIGINT) << 21) - 1
    END
    AND m.message_id <= (CAST(:session_id AS BIGINT) << 21) + 2097151
    AND m.generation = :generation AND m.status = 'completed' AND (m.vector IS NULL OR length(m.vector) > 0)
ORDER BY m.message_id

-- name: pool_rows_with_words
-- The rows of a pool whatever their index generation, with the text of those of another.
SELECT {indexed_message_columns}, CASE WHEN m.generation = :generation THEN NULL ELSE m.content END
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
    AND m.status = 'completed' AND (m.generation <> :generation OR m.vector IS NULL OR length(m.vector) > 0)

-- name: session_rows_with_words
-- The same for the messages of one session after an id.
SELECT {indexed_message_columns}, CASE WHEN m.generation = :generation THEN NULL ELSE m.content END
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND s.session_id = :session_id AND m.tenant_id = s.tenant_id
    AND m.message_id > CASE
        WHEN CAST(:after AS BIGINT) >= CAST(:session_id AS BIGINT) << 21 THEN CAST(:after AS BIGINT)
        ELSE (CAST(:session_id AS BIGINT) << 21) - 1
    END
    AND m.message_id <= (CAST(:session_id AS BIGINT) << 21) + 2097151
    AND m.status = 'completed' AND (m.generation <> :generation OR m.vector IS NULL OR length(m.vector) > 0)
ORDER BY m.message_id

-- name: vectors_of_messages
-- The vectors of messages by id, for candidates of an index: only those that are in this pool now.
SELECT m.message_id, m.vector
FROM json_each(CAST(:message_ids AS TEXT)) AS named
CROSS JOIN message AS m
CROSS JOIN session AS s
WHERE m.message_id = named.value AND m.tenant_id = :tenant_id AND m.generation = :generation AND length(m.vector) > 0
    AND {m_on_branch}
    AND s.session_id = m.session_id AND s.tenant_id = m.tenant_id AND s.pool_id = :pool_id

-- name: pool_messages
-- By id, for ids that an index returned: only those that are in this pool now, on the current branches of their sessions.
SELECT {pool_message_columns}
FROM json_each(CAST(:message_ids AS TEXT)) AS named
CROSS JOIN message AS m
CROSS JOIN session AS s
WHERE m.message_id = named.value AND m.tenant_id = :tenant_id AND {m_on_branch}
    AND s.session_id = m.session_id AND s.tenant_id = m.tenant_id AND s.pool_id = :pool_id

-- name: speakers_of_messages
-- Who said messages that an index returned: every role, author and user once, of those that are in this pool now.
SELECT DISTINCT m.role, m.author, s.user_id
FROM json_each(CAST(:message_ids AS TEXT)) AS named
CROSS JOIN message AS m
CROSS JOIN session AS s
WHERE m.message_id = named.value AND m.tenant_id = :tenant_id AND {m_on_branch}
    AND s.session_id = m.session_id AND s.tenant_id = m.tenant_id AND s.pool_id = :pool_id

-- name: pool_recent_messages
-- The last messages of a role in the whole pool, newest first.
SELECT {pool_message_columns}
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
    AND m.role = :role AND m.status = 'completed' AND (m.vector IS NULL OR length(m.vector) > 0)
ORDER BY m.created_at DESC, m.message_id DESC
LIMIT :limit
