-- name: lock_projects
SELECT project_id FROM project WHERE tenant_id = :tenant_id AND deleted_at IS NULL ORDER BY project_id FOR UPDATE
