-- columns: project_columns
project_id, tenant_id, name, is_default, member_visibility, settings, memory_count, created_at

-- name: insert_tenant
INSERT INTO tenant (tenant_id, name, created_at) VALUES (:tenant_id, :name, :created_at) ON CONFLICT DO NOTHING
RETURNING tenant_id

-- name: tenant
SELECT name, created_at FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL

-- name: lock_tenant_shared
-- A shared lock: the tenant cannot be erased until the transaction ends. Any number of transactions can have it.
SELECT tenant_id FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL FOR KEY SHARE

-- name: lock_tenant_names
-- A lock for one transaction at a time that names a project. It does not conflict with the shared lock.
SELECT tenant_id FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL FOR NO KEY UPDATE

-- name: lock_tenant
-- An exclusive lock against every transaction that adds anything to the tenant.
SELECT tenant_id FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL FOR UPDATE

-- name: insert_project
INSERT INTO project (tenant_id, project_id, name, is_default, member_visibility, settings, created_at)
VALUES (:tenant_id, :project_id, :name, :is_default, :member_visibility, :settings, :created_at)

-- name: project
SELECT {project_columns}
FROM project
WHERE tenant_id = :tenant_id AND project_id = :project_id AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)

-- name: default_project
SELECT project_id FROM project
WHERE tenant_id = :tenant_id AND is_default = 1 AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)

-- name: lock_project_shared
-- A shared lock: the project cannot be deleted until the transaction ends. It conflicts with `lock_projects`, which precedes every
-- deletion and regrouping, and not with updates of the counts.
SELECT {project_columns}
FROM project
WHERE tenant_id = :tenant_id AND project_id = :project_id AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
FOR KEY SHARE

-- name: projects
-- A page of projects, oldest first.
SELECT {project_columns}
FROM project
WHERE tenant_id = :tenant_id AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (created_at, project_id) > (:after_created_at, :after_project_id)
ORDER BY created_at, project_id
LIMIT :limit

-- name: project_names
SELECT project_id, name FROM project
WHERE tenant_id = :tenant_id AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
ORDER BY created_at, project_id

-- name: lock_projects
-- Locked before a project is deleted, regrouped, or made the default.
SELECT project_id FROM project WHERE tenant_id = :tenant_id AND deleted_at IS NULL ORDER BY project_id FOR UPDATE

-- name: rename_project
UPDATE project SET name = :name WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: set_project_settings
UPDATE project SET settings = :settings, retention_days = :retention_days
WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: set_project_visibility
UPDATE project SET member_visibility = :member_visibility WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: clear_default_project
UPDATE project SET is_default = 0 WHERE tenant_id = :tenant_id AND is_default = 1

-- name: set_default_project
UPDATE project SET is_default = 1 WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: soft_delete_project
UPDATE project SET deleted_at = :deleted_at WHERE tenant_id = :tenant_id AND project_id = :project_id AND is_default = 0
