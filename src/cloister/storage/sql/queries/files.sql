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
UPDATE memory_file SET size = :size, content = :content, updated_at = :updated_at
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- name: move_file
UPDATE memory_file SET path = :target
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- name: delete_file
DELETE FROM memory_file
WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- name: delete_files_of_session
DELETE FROM memory_file WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: delete_files_of_pool
DELETE FROM memory_file WHERE tenant_id = :tenant_id AND recalled_pool_id = :pool_id

-- name: delete_old_files
DELETE FROM memory_file
WHERE tenant_id = :tenant_id AND session_id = :session_id AND content IS NOT NULL AND updated_at < :before
