-- name: lock_projects
SELECT project_id FROM project WHERE tenant_id = :tenant_id AND deleted_at IS NULL ORDER BY project_id FOR UPDATE

-- name: lock_project_shared
-- Against `lock_projects`, which whatever deletes or regroups a project comes through, and not against changes of its counts.
SELECT project_id, tenant_id, name, is_default, member_visibility, settings, memory_count, created_at
FROM project
WHERE tenant_id = :tenant_id AND project_id = :project_id AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
FOR KEY SHARE

-- name: lock_tenant_shared
SELECT tenant_id FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL FOR KEY SHARE

-- name: lock_tenant_names
SELECT tenant_id FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL FOR NO KEY UPDATE

-- name: lock_tenant
SELECT tenant_id FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL FOR UPDATE
