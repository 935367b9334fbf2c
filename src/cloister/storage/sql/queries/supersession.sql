-- columns: fact_columns
m.memory_id, m.session_id, m.subject, m.content, m.valid_from, m.created_at, m.retracted_at, m.source, m.pinned,
m.superseded_by, m.valid_until

-- name: facts_of_person
-- The memories of one person in one pool that can supersede or be superseded. Of a session without a user only its own.
SELECT {fact_columns}
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)
    AND (
        m.subject IS NOT NULL OR m.superseded_by IS NOT NULL
        OR EXISTS (SELECT 1 FROM memory_replacement AS r WHERE r.tenant_id = :tenant_id AND r.older_id = m.memory_id)
    )

-- name: facts_about
-- The memories of one person in one pool about one subject.
SELECT {fact_columns}
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND m.subject = :subject
    AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)

-- name: facts_by_id
-- The memories with these ids that are of one person in one pool; other ids are left out.
SELECT {fact_columns}
FROM json_each(CAST(:memory_ids AS TEXT)) AS named
CROSS JOIN memory AS m
CROSS JOIN session AS s
WHERE m.memory_id = named.value AND m.tenant_id = :tenant_id
    AND s.session_id = m.session_id AND s.tenant_id = m.tenant_id AND s.pool_id = :pool_id
    AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)

-- name: facts_saying
-- The memories of one person in one pool that make one statement, the newest first.
SELECT {fact_columns}
FROM memory AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.digest = :digest AND s.pool_id = :pool_id
    AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)
ORDER BY m.created_at DESC, m.memory_id DESC
LIMIT :limit

-- name: copies_of_memory
-- The other memories of one person in one pool that say the same as one of them and have the same status and the same successor:
-- those that are listed as one with it. The newest first.
SELECT m.memory_id
FROM session AS s
JOIN memory AS m ON m.tenant_id = s.tenant_id AND m.session_id = s.session_id
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.memory_id <> :memory_id
    AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND (m.digest = :digest OR m.content = :content)
    AND m.superseded_by IS NOT DISTINCT FROM CAST(:superseded_by AS BIGINT)
    AND CAST(:status AS TEXT) = CASE
        WHEN m.retracted_at IS NOT NULL THEN 'retracted'
        WHEN m.superseded_by IS NOT NULL THEN 'superseded'
        WHEN m.expires_at <= :now THEN 'expired'
        ELSE 'active'
    END
ORDER BY m.created_at DESC, m.memory_id DESC
LIMIT :limit

-- name: memories_changed_at
-- The other memories of one person in one pool that a person changed at this time. What was undone is left out.
SELECT m.memory_id
FROM session AS s
JOIN memory AS m ON m.tenant_id = s.tenant_id AND m.session_id = s.session_id
JOIN memory_revision AS r ON r.tenant_id = m.tenant_id AND r.memory_id = m.memory_id
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.memory_id <> :memory_id
    AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND r.changed_at = :changed_at AND r.undone_at IS NULL AND r.action <> 'restore'
ORDER BY m.created_at DESC, m.memory_id DESC
LIMIT :limit

-- name: standing_revisions
-- The changes of these memories that were not undone, oldest first.
SELECT memory_id, changed_at, before FROM memory_revision
WHERE tenant_id = :tenant_id AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
    AND undone_at IS NULL AND action <> 'restore'
ORDER BY memory_id, changed_at, revision_id

-- name: subjects_of_memories
SELECT DISTINCT m.subject
FROM json_each(CAST(:memory_ids AS TEXT)) AS named
CROSS JOIN memory AS m
WHERE m.tenant_id = :tenant_id AND m.memory_id = named.value AND m.subject IS NOT NULL

-- name: replacements
-- The pairs of which at least one is among these memories.
SELECT +r.older_id, +r.newer_id
FROM json_each(CAST(:memory_ids AS TEXT)) AS named
CROSS JOIN memory_replacement AS r
WHERE r.tenant_id = :tenant_id AND r.older_id = named.value
UNION
SELECT +r.older_id, +r.newer_id
FROM json_each(CAST(:memory_ids AS TEXT)) AS named
CROSS JOIN memory_replacement AS r
WHERE r.tenant_id = :tenant_id AND r.newer_id = named.value

-- name: insert_replacement
INSERT INTO memory_replacement (tenant_id, older_id, newer_id) VALUES (:tenant_id, :older_id, :newer_id)
ON CONFLICT DO NOTHING

-- name: delete_replacements
DELETE FROM memory_replacement
WHERE tenant_id = :tenant_id AND older_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: delete_replacements_by_newer
DELETE FROM memory_replacement
WHERE tenant_id = :tenant_id AND newer_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: set_superseded
UPDATE memory SET superseded_by = :superseded_by, valid_until = :valid_until
WHERE tenant_id = :tenant_id AND session_id = :session_id AND memory_id = :memory_id

-- name: retracted_statements
-- What was retracted of one person in one pool: an extraction does not bring it back.
SELECT m.content
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND m.retracted_at IS NOT NULL
    AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)

-- name: corrected_digests
-- The digests of texts of one person in one pool that a person replaced by others.
SELECT r.digest
FROM session AS s
CROSS JOIN memory AS m
CROSS JOIN memory_revision AS r
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id
    AND r.tenant_id = m.tenant_id AND r.memory_id = m.memory_id AND r.digest IS NOT NULL AND r.undone_at IS NULL
    AND (s.user_id = CAST(:user_id AS TEXT) OR CAST(:user_id AS TEXT) IS NULL AND s.session_id = :session_id)

-- name: person_of_session
SELECT pool_id, user_id FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id AND pool_id IS NOT NULL
