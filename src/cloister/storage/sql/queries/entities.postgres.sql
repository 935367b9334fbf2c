-- name: projects_of_entities
SELECT DISTINCT project_id FROM entity
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
