-- The planner guesses badly how many ids a list holds, and would read whole tables; as an array they are looked up one by one.

-- name: found_entities
SELECT entity_id, project_id, user_id, name, type, created_at FROM entity
WHERE tenant_id = :tenant_id AND entity_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:entity_ids AS TEXT))))

-- name: mentions
SELECT m.entity_id, m.notes, m.message_id, s.user_id, p.member_visibility
FROM mention AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
JOIN entity AS e ON e.tenant_id = m.tenant_id AND e.entity_id = m.entity_id
JOIN project AS p ON p.tenant_id = e.tenant_id AND p.project_id = e.project_id
WHERE m.tenant_id = :tenant_id AND m.entity_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:entity_ids AS TEXT))))
ORDER BY m.entity_id, m.created_at, m.message_id

-- name: unmentioned_entities
SELECT e.entity_id FROM entity AS e
WHERE e.tenant_id = :tenant_id AND e.entity_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:entity_ids AS TEXT))))
    AND NOT EXISTS (SELECT 1 FROM mention AS m WHERE m.tenant_id = :tenant_id AND m.entity_id = e.entity_id)

-- name: projects_of_entities
SELECT DISTINCT project_id FROM entity
WHERE tenant_id = :tenant_id AND entity_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:entity_ids AS TEXT))))

-- name: delete_entities
DELETE FROM entity
WHERE tenant_id = :tenant_id AND entity_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:entity_ids AS TEXT))))
