-- Entries of the key-value store. An entry that has expired is not found, even before it is deleted.

-- columns: entry_columns
entry_id, namespace, entry_key, value, created_at, updated_at, ttl

-- name: entry
SELECT {entry_columns}
FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND namespace = :namespace AND entry_key = :entry_key
    AND (expires_at IS NULL OR expires_at > :now)

-- name: entries
-- The entries in a range of namespaces, last changed first.
SELECT {entry_columns}
FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND namespace >= :first AND namespace < :after
    AND (expires_at IS NULL OR expires_at > :now)
ORDER BY updated_at DESC, entry_id
LIMIT :limit OFFSET :offset

-- name: entries_by_key
-- The entries of one namespace in order of their keys. No key is empty, so that all are after an empty text.
SELECT {entry_columns}
FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND namespace = :namespace AND entry_key > :after
    AND (expires_at IS NULL OR expires_at > :now)
ORDER BY entry_key
LIMIT :limit

-- name: entries_to_filter
-- The same without a limit, since a filter is applied to each.
SELECT {entry_columns}
FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND namespace >= :first AND namespace < :after
    AND (expires_at IS NULL OR expires_at > :now)
ORDER BY updated_at DESC, entry_id

-- name: entry_vectors
-- The vectors of the entries in a range of namespaces. The value is read where a filter needs it, or the vectors are of another model.
SELECT entry_id, index_paths, vector_model, vectors,
    CASE WHEN CAST(:with_values AS BIGINT) = 1 OR vector_model <> :vector_model THEN value END
FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND namespace >= :first AND namespace < :after
    AND (expires_at IS NULL OR expires_at > :now) AND vector_model IS NOT NULL

-- name: entries_by_id
SELECT {entry_columns}
FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')
    AND entry_id IN (SELECT value FROM json_each(CAST(:entry_ids AS TEXT)))

-- name: entry_namespaces
SELECT DISTINCT namespace
FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND namespace >= :first AND namespace < :after
    AND (expires_at IS NULL OR expires_at > :now)
ORDER BY namespace

-- name: update_entry
-- An entry that has expired is replaced as if it had been deleted.
UPDATE entry
SET created_at = CASE WHEN expires_at <= :now THEN :now ELSE created_at END, updated_at = :now, ttl = :ttl,
    expires_at = :expires_at, index_paths = :index_paths, vector_model = :vector_model, vectors = :vectors, value = :value,
    checksum = NULL
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND namespace = :namespace AND entry_key = :entry_key

-- name: insert_entry
INSERT INTO entry (
    entry_id, tenant_id, project_id, user_id, namespace, entry_key, created_at, updated_at, ttl, expires_at, index_paths,
    vector_model, vectors, value
)
VALUES (
    :entry_id, :tenant_id, :project_id, :user_id, :namespace, :entry_key, :now, :now, :ttl, :expires_at, :index_paths,
    :vector_model, :vectors, :value
)
ON CONFLICT DO NOTHING

-- name: delete_entry
DELETE FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND namespace = :namespace AND entry_key = :entry_key

-- name: refresh_entries
UPDATE entry SET expires_at = :now + ttl
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '')
    AND entry_id IN (SELECT value FROM json_each(CAST(:entry_ids AS TEXT))) AND expires_at > :now

-- name: delete_expired_entries_of_part
DELETE FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = coalesce(CAST(:project_id AS BIGINT), 0)
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND expires_at <= :now

-- name: delete_expired_entries
DELETE FROM entry WHERE tenant_id = :tenant_id AND expires_at <= :now

-- name: count_entries
SELECT count(*) FROM entry WHERE tenant_id = :tenant_id

-- name: count_entries_of_project
SELECT count(*) FROM entry
WHERE tenant_id = :tenant_id AND project_id = :project_id AND (expires_at IS NULL OR expires_at > :now)

-- name: entries_with_taken_address
-- The entries of a project that have the address of an entry of the same user in no project.
SELECT e.entry_id, e.namespace
FROM entry AS e
JOIN entry AS t
    ON t.tenant_id = e.tenant_id AND coalesce(t.project_id, 0) = 0 AND coalesce(t.user_id, '') = coalesce(e.user_id, '')
    AND t.namespace = e.namespace AND t.entry_key = e.entry_key
WHERE e.tenant_id = :tenant_id AND e.project_id = :project_id
ORDER BY e.entry_id

-- name: entry_in_namespaces
-- An entry of a project or of none, of any user, in a range of namespaces.
SELECT entry_id FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) IN (0, :project_id) AND namespace >= :first AND namespace < :after
LIMIT 1

-- name: set_entry_namespace
UPDATE entry SET namespace = :namespace WHERE tenant_id = :tenant_id AND entry_id = :entry_id

-- name: take_entries_out_of_project
UPDATE entry SET project_id = NULL WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: delete_entries_of_user
DELETE FROM entry WHERE tenant_id = :tenant_id AND user_id = :user_id
