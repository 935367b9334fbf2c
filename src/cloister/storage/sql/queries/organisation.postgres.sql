-- name: lock_projects
SELECT project_id FROM project WHERE tenant_id = :tenant_id AND deleted_at IS NULL ORDER BY project_id FOR UPDATE

-- name: hold_project
SELECT project_id, tenant_id, name, is_default, member_visibility, settings, memory_count, created_at
FROM project
WHERE tenant_id = :tenant_id AND project_id = :project_id AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
FOR SHARE
