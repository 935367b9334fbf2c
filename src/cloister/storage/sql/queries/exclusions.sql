-- What sessions do not recall: see the migration 041.

-- name: insert_exclusion
INSERT INTO exclusion (exclusion_id, tenant_id, session_id, created_at, message_id, memory_id, entity_id)
VALUES (:exclusion_id, :tenant_id, :session_id, :created_at, :message_id, :memory_id, :entity_id)

-- name: exclusions_of_session
SELECT exclusion_id, created_at, message_id, memory_id, entity_id
FROM exclusion
WHERE tenant_id = :tenant_id AND session_id = :session_id
ORDER BY exclusion_id

-- name: delete_exclusion
DELETE FROM exclusion WHERE tenant_id = :tenant_id AND session_id = :session_id AND exclusion_id = :exclusion_id

-- name: delete_exclusions
DELETE FROM exclusion WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: erase_exclusions
DELETE FROM exclusion WHERE tenant_id = :tenant_id
