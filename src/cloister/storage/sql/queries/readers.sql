-- Who recalls what, or would (PRF-5). Sessions without a user count as one user, and are in no list of users.

-- name: pool_users
SELECT DISTINCT user_id FROM session
WHERE tenant_id = :tenant_id AND pool_id = :pool_id AND user_id IS NOT NULL
ORDER BY user_id
LIMIT :limit

-- name: project_users
SELECT DISTINCT user_id FROM session
WHERE tenant_id = :tenant_id AND project_id = :project_id AND pool_id IS NOT NULL AND user_id IS NOT NULL
ORDER BY user_id
LIMIT :limit

-- name: readers_outside_projects
-- The sessions outside all projects whose user has sessions in this project too: they recall these after the project was deleted.
SELECT count(*), count(DISTINCT coalesce(s.user_id, ''))
FROM session AS s
WHERE s.tenant_id = :tenant_id AND s.project_id IS NULL AND s.pool_id IS NOT NULL
    AND EXISTS (
        SELECT 1 FROM session AS p
        WHERE p.tenant_id = :tenant_id AND p.project_id = :project_id AND p.pool_id IS NOT NULL
            AND coalesce(p.user_id, '') = coalesce(s.user_id, '')
    )

-- name: users_outside_projects
SELECT DISTINCT s.user_id
FROM session AS s
WHERE s.tenant_id = :tenant_id AND s.project_id IS NULL AND s.pool_id IS NOT NULL AND s.user_id IS NOT NULL
    AND EXISTS (
        SELECT 1 FROM session AS p
        WHERE p.tenant_id = :tenant_id AND p.project_id = :project_id AND p.pool_id IS NOT NULL
            AND p.user_id = s.user_id
    )
ORDER BY s.user_id
LIMIT :limit
