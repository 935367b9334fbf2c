-- The files of Anthropic's memory tool.

-- name: file_sizes
-- All files and directories of a tree, with their sizes; null for a directory.
SELECT path, CASE WHEN content IS NULL THEN NULL ELSE size END
FROM memory_file
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id

-- name: file_content
SELECT content
FROM memory_file
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- name: insert_file
INSERT INTO memory_file (tenant_id, session_id, recalled_pool_id, path, size, content, updated_at)
VALUES (:tenant_id, :session_id, :pool_id, :path, :size, :content, :updated_at)

-- name: update_file
UPDATE memory_file SET size = :size, content = :content, updated_at = :updated_at, checksum = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- name: move_file
UPDATE memory_file SET path = :target, checksum = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- name: delete_file
DELETE FROM memory_file
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- name: delete_files_of_session
DELETE FROM memory_file WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: count_files_of_session
-- Of a session, in all its trees; directories are not counted.
SELECT count(*) FROM memory_file WHERE tenant_id = :tenant_id AND session_id = :session_id AND content IS NOT NULL

-- name: count_files
SELECT count(*) FROM memory_file WHERE tenant_id = :tenant_id AND content IS NOT NULL

-- name: count_files_of_project
SELECT count(*)
FROM pool AS p
JOIN memory_file AS f ON f.tenant_id = p.tenant_id AND f.recalled_pool_id = p.pool_id
WHERE p.tenant_id = :tenant_id AND p.project_id = :project_id AND f.content IS NOT NULL

-- name: lock_file_sessions
-- The sessions with files that were stored in a project, wherever the sessions are now, in id order.
SELECT s.session_id, s.user_id
FROM session AS s
WHERE s.tenant_id = :tenant_id
    AND s.session_id IN (
        SELECT f.session_id
        FROM pool AS p
        JOIN memory_file AS f ON f.tenant_id = p.tenant_id AND f.recalled_pool_id = p.pool_id
        WHERE p.tenant_id = :tenant_id AND p.project_id = :project_id
    )
ORDER BY s.session_id FOR UPDATE

-- name: file_pools
-- The pools of a project in which a session has files.
SELECT DISTINCT f.recalled_pool_id
FROM memory_file AS f
JOIN pool AS p ON p.tenant_id = f.tenant_id AND p.pool_id = f.recalled_pool_id
WHERE f.tenant_id = :tenant_id AND f.session_id = :session_id AND p.project_id = :project_id
ORDER BY f.recalled_pool_id

-- name: move_tree
-- To another pool, below a directory if :directory is not empty.
UPDATE memory_file SET recalled_pool_id = :target_id, path = CAST(:directory AS TEXT) || path, checksum = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id

-- name: set_file_content
-- Not a change by the assistant: the time of the last one stays.
UPDATE memory_file SET size = :size, content = :content, checksum = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- name: delete_old_files
DELETE FROM memory_file
WHERE tenant_id = :tenant_id AND session_id = :session_id AND content IS NOT NULL AND updated_at < :before
