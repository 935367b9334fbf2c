-- columns: memory_columns
m.memory_id, m.session_id, m.content, m.importance, m.created_at, m.valid_from, m.valid_until, m.superseded_by, m.retracted_at,
m.expires_at, m.pinned, m.source, m.subject, m.categories, m.metadata, m.checksum, s.external_id, s.user_id, s.project_id

-- name: insert_memory
-- Returns no row if the session has the same memory already, or the id is taken.
INSERT INTO memory (
    memory_id, tenant_id, session_id, digest, importance, created_at, generation, vector, terms, content, indexed_at,
    valid_from, source, subject, categories, metadata, checksum
) VALUES (
    :memory_id, :tenant_id, :session_id, :digest, :importance, :created_at, :generation, :vector, :terms, :content, :indexed_at,
    :valid_from, :source, :subject, :categories, :metadata, :checksum
)
ON CONFLICT DO NOTHING
RETURNING memory_id

-- name: insert_memory_source
INSERT INTO memory_source (tenant_id, message_id, memory_id) VALUES (:tenant_id, :message_id, :memory_id)
ON CONFLICT DO NOTHING

-- name: memory_by_digest
SELECT memory_id, superseded_by, retracted_at, expires_at FROM memory
WHERE tenant_id = :tenant_id AND session_id = :session_id AND digest = :digest

-- name: session_memories
-- A page of the memories of one session, oldest first.
SELECT {memory_columns}
FROM memory AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.session_id = :session_id
    AND (m.created_at, m.memory_id) > (:after_created_at, :after_memory_id)
    AND (
        CAST(:status AS TEXT) IS NULL
        OR CAST(:status AS TEXT) = CASE
            WHEN m.retracted_at IS NOT NULL THEN 'retracted'
            WHEN m.superseded_by IS NOT NULL THEN 'superseded'
            WHEN m.expires_at <= :now THEN 'expired'
            ELSE 'active'
        END
    )
ORDER BY m.created_at, m.memory_id
LIMIT :limit

-- name: user_memories
-- A page of the memories of one user's sessions, oldest first. Of equal memories of one pool that are equally true only the
-- newest is listed.
SELECT
    memory_id, session_id, content, importance, created_at, valid_from, valid_until, superseded_by, retracted_at, expires_at,
    pinned, source, subject, categories, metadata, checksum, external_id, user_id, project_id
FROM (
    SELECT
        {memory_columns},
        row_number() OVER (
            PARTITION BY s.pool_id, m.digest, m.superseded_by, m.retracted_at ORDER BY m.created_at DESC, m.memory_id DESC
        ) AS repetition
    FROM memory AS m
    JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
    WHERE m.tenant_id = :tenant_id AND s.user_id = :user_id
        AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
        AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
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
WHERE repetition = 1 AND (created_at, memory_id) > (:after_created_at, :after_memory_id)
ORDER BY created_at, memory_id
LIMIT :limit

-- name: known_memories
-- The memories of a user in one pool, and whether they are of this session; the session's first, each newest first. An extraction
-- sees no memories of other pools.
SELECT
    m.memory_id, m.content, m.subject, m.valid_from,
    CAST(CASE WHEN s.session_id = :session_id THEN 1 ELSE 0 END AS BIGINT) AS here
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND (s.session_id = :session_id OR s.user_id = CAST(:user_id AS TEXT))
    AND m.superseded_by IS NULL AND m.retracted_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > :now)
ORDER BY here DESC, m.created_at DESC, m.memory_id DESC
LIMIT :limit

-- name: memory
SELECT {memory_columns}
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
-- The memories that a message is a source of, which are deleted with it.
SELECT memory_id FROM memory_source WHERE tenant_id = :tenant_id AND message_id = :message_id

-- name: session_memory_ids
SELECT memory_id FROM memory WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: memory_contents
SELECT content FROM memory
WHERE tenant_id = :tenant_id AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: delete_memory_sources
DELETE FROM memory_source
WHERE tenant_id = :tenant_id AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: delete_memory_revisions
DELETE FROM memory_revision
WHERE tenant_id = :tenant_id AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: change_memory
UPDATE memory
SET importance = :importance, expires_at = :expires_at, pinned = :pinned, categories = :categories, metadata = :metadata,
    source = :source, retracted_at = :retracted_at, checksum = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND memory_id = :memory_id

-- name: set_memory_text
UPDATE memory SET content = :content, digest = :digest, subject = :subject, checksum = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND memory_id = :memory_id

-- name: insert_memory_revision
INSERT INTO memory_revision (tenant_id, revision_id, memory_id, action, changed_at, changed_by, digest, before)
VALUES (:tenant_id, :revision_id, :memory_id, :action, :changed_at, :changed_by, :digest, :before)

-- name: memory_revisions
-- A page of the changes of one memory, oldest first.
SELECT revision_id, action, changed_at, changed_by, undone_at, before FROM memory_revision
WHERE tenant_id = :tenant_id AND memory_id = :memory_id
    AND (changed_at, revision_id) > (:after_changed_at, :after_revision_id)
ORDER BY changed_at, revision_id
LIMIT :limit

-- name: memory_change_times
-- When people last changed these memories; without those that nobody changed.
SELECT r.memory_id, max(r.changed_at)
FROM memory_revision AS r
JOIN memory AS m ON m.tenant_id = r.tenant_id AND m.memory_id = r.memory_id
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE r.tenant_id = :tenant_id AND r.memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
GROUP BY r.memory_id

-- name: last_memory_revision
-- The last change of a memory that was not undone.
SELECT revision_id, action, changed_at, changed_by, undone_at, before FROM memory_revision
WHERE tenant_id = :tenant_id AND memory_id = :memory_id AND undone_at IS NULL AND action <> 'restore'
ORDER BY changed_at DESC, revision_id DESC
LIMIT 1

-- name: replaced_digests
SELECT digest FROM memory_revision WHERE tenant_id = :tenant_id AND memory_id = :memory_id AND digest IS NOT NULL

-- name: set_revision_undone
UPDATE memory_revision SET undone_at = :undone_at
WHERE tenant_id = :tenant_id AND memory_id = :memory_id AND revision_id = :revision_id

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
-- The index columns of a pool's memories, also of those that are not true now.
SELECT m.memory_id, 'user', CAST(NULL AS TEXT), m.created_at, m.vector, m.terms
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND m.generation = :generation

-- name: stale_memory_words
-- The text of a pool's memories that another index generation wrote.
SELECT m.memory_id, m.created_at, m.content, m.subject
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND m.generation <> :generation
ORDER BY m.memory_id DESC
LIMIT :limit

-- name: stale_memories_in_pool
SELECT count(*)
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND m.generation <> :generation

-- name: memory_validity_rows
-- Since when and until when the memories of a pool are true.
SELECT
    m.memory_id, s.user_id, m.digest, m.created_at, m.valid_from, m.valid_until, m.superseded_by, m.retracted_at, m.expires_at,
    m.pinned, m.subject
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id

-- name: pool_memories
-- By id, for ids that an index returned: only those that are in this pool now.
SELECT {memory_columns}
FROM json_each(CAST(:memory_ids AS TEXT)) AS named
CROSS JOIN memory AS m
CROSS JOIN session AS s
WHERE m.memory_id = named.value AND m.tenant_id = :tenant_id
    AND s.session_id = m.session_id AND s.tenant_id = m.tenant_id AND s.pool_id = :pool_id

-- name: pool_memory_page
-- A page of the memories of one pool, oldest first: of those that are true now, or with :past 1 of all.
SELECT {memory_columns}
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND (
        CAST(:past AS BIGINT) = 1
        OR (m.superseded_by IS NULL AND m.retracted_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > :now))
    )
    AND (m.created_at, m.memory_id) > (:after_created_at, :after_memory_id)
ORDER BY m.created_at, m.memory_id
LIMIT :limit
