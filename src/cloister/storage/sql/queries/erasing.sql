-- Everything of a user, of a project, or of a whole tenant. Messages are deleted session by session, with `delete_messages`, because there is no
-- index on their users.

-- name: lock_user_sessions
SELECT session_id FROM session WHERE tenant_id = :tenant_id AND user_id = :user_id ORDER BY session_id FOR UPDATE

-- name: sessions_by_id
SELECT {session_columns}
FROM session
WHERE tenant_id = :tenant_id AND session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
    AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id)
ORDER BY session_id

-- name: entities_of_user
-- The entities of the user's parts of projects, including those that other users' sessions mention.
SELECT entity_id FROM entity WHERE tenant_id = :tenant_id AND user_id = :user_id ORDER BY entity_id

-- name: delete_mentions_of
DELETE FROM mention
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))

-- name: lock_user_pools
-- The pools of the user's sessions, and the user's parts of projects and of the shared pool.
SELECT pool_id FROM pool
WHERE tenant_id = :tenant_id
    AND (
        user_id = :user_id
        OR pool_id IN (SELECT s.pool_id FROM session AS s WHERE s.tenant_id = :tenant_id AND s.user_id = :user_id)
    )
ORDER BY pool_id FOR UPDATE

-- name: delete_empty_pools
DELETE FROM pool
WHERE tenant_id = :tenant_id AND user_id = :user_id AND pool_id IN (SELECT value FROM json_each(CAST(:pool_ids AS TEXT)))
    AND NOT EXISTS (SELECT 1 FROM session AS s WHERE s.tenant_id = :tenant_id AND s.pool_id = pool.pool_id)

-- name: keys_of_user
SELECT key_id FROM api_key WHERE tenant_id = :tenant_id AND user_id = :user_id ORDER BY key_id

-- name: delete_user_keys
DELETE FROM api_key WHERE tenant_id = :tenant_id AND user_id = :user_id

-- name: lock_project_pools
SELECT pool_id FROM pool WHERE tenant_id = :tenant_id AND project_id = :project_id ORDER BY pool_id FOR UPDATE

-- name: delete_project_pools
DELETE FROM pool
WHERE tenant_id = :tenant_id AND project_id = :project_id
    AND NOT EXISTS (SELECT 1 FROM session AS s WHERE s.tenant_id = :tenant_id AND s.pool_id = pool.pool_id)

-- name: entity_ids_of_project
-- All names of all entities, also those of deleted ones, which can be restored for a day.
SELECT entity_id FROM entity WHERE tenant_id = :tenant_id AND project_id = :project_id ORDER BY entity_id

-- name: project_files
-- The files that were stored in a project, wherever their sessions are now.
SELECT f.session_id, f.path, f.updated_at, CAST(CASE WHEN f.content IS NULL THEN 0 ELSE 1 END AS BIGINT)
FROM pool AS p
JOIN memory_file AS f ON f.tenant_id = p.tenant_id AND f.recalled_pool_id = p.pool_id
WHERE p.tenant_id = :tenant_id AND p.project_id = :project_id
ORDER BY f.session_id, f.path

-- name: delete_project_files
DELETE FROM memory_file
WHERE tenant_id = :tenant_id
    AND recalled_pool_id IN (SELECT p.pool_id FROM pool AS p WHERE p.tenant_id = :tenant_id AND p.project_id = :project_id)

-- name: project_entries
SELECT namespace, entry_key FROM entry
WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = :project_id
ORDER BY namespace, entry_key
LIMIT :limit

-- name: delete_project_entries
DELETE FROM entry WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = :project_id

-- name: project_receipt_ids
-- Those of no session: the others are where their session is now.
SELECT receipt_id FROM receipt
WHERE tenant_id = :tenant_id AND session_id IS NULL AND project_id = :project_id
ORDER BY receipt_id

-- name: delete_project_receipts
DELETE FROM receipt WHERE tenant_id = :tenant_id AND session_id IS NULL AND project_id = :project_id

-- name: blank_project
-- The row stays, because keys and the pasts of sessions refer to it.
UPDATE project SET name = '', settings = '{}', retention_days = NULL, deleted_at = :deleted_at
WHERE tenant_id = :tenant_id AND project_id = :project_id AND is_default = 0

-- name: lock_sessions
SELECT session_id FROM session WHERE tenant_id = :tenant_id AND pool_id IS NOT NULL ORDER BY session_id FOR UPDATE

-- name: count_tenant
SELECT
    (SELECT count(*) FROM project WHERE tenant_id = :tenant_id AND deleted_at IS NULL),
    (SELECT count(*) FROM session WHERE tenant_id = :tenant_id AND pool_id IS NOT NULL),
    (SELECT CAST(coalesce(sum(message_count), 0) AS BIGINT) FROM session WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM memory WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM observation WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM entity WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM api_key WHERE tenant_id = :tenant_id AND revoked_at IS NULL),
    (SELECT count(*) FROM entry WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM memory_file WHERE tenant_id = :tenant_id AND content IS NOT NULL)

-- name: count_tenant_episodes
SELECT count(DISTINCT m.episode_id)
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id IS NOT NULL AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151

-- name: tenant_entities
SELECT entity_id FROM entity WHERE tenant_id = :tenant_id ORDER BY entity_id

-- name: erase_mentions
DELETE FROM mention WHERE tenant_id = :tenant_id

-- name: erase_entity_relations
DELETE FROM entity_relation WHERE tenant_id = :tenant_id

-- name: erase_entity_changes
DELETE FROM entity_change WHERE tenant_id = :tenant_id

-- name: erase_entities
DELETE FROM entity WHERE tenant_id = :tenant_id

-- name: erase_memory_sources
DELETE FROM memory_source WHERE tenant_id = :tenant_id

-- name: erase_memory_revisions
DELETE FROM memory_revision WHERE tenant_id = :tenant_id

-- name: erase_replacements
DELETE FROM memory_replacement WHERE tenant_id = :tenant_id

-- name: erase_memories
DELETE FROM memory WHERE tenant_id = :tenant_id

-- name: erase_observations
DELETE FROM observation WHERE tenant_id = :tenant_id

-- name: erase_session_pasts
DELETE FROM session_past WHERE tenant_id = :tenant_id

-- name: erase_idempotent_answers
DELETE FROM idempotency WHERE tenant_id = :tenant_id

-- name: erase_items
DELETE FROM session_item WHERE tenant_id = :tenant_id

-- name: erase_files
DELETE FROM memory_file WHERE tenant_id = :tenant_id

-- name: erase_responses
DELETE FROM session_response WHERE tenant_id = :tenant_id

-- name: erase_entries
DELETE FROM entry WHERE tenant_id = :tenant_id

-- name: erase_usage
DELETE FROM tenant_usage WHERE tenant_id = :tenant_id

-- name: erase_sign_ins
DELETE FROM sign_in WHERE tenant_id = :tenant_id

-- name: erase_api_keys
DELETE FROM api_key WHERE tenant_id = :tenant_id

-- name: blank_sessions
-- As `blank_session` does, for all sessions.
UPDATE session
SET external_id = NULL, project_id = NULL, pool_id = NULL, user_id = NULL, title = NULL, tags = '[]', metadata = '{}',
    episode_id = NULL, message_count = 0, memory_count = 0, unchecked_count = 0, due_at = NULL, claim = NULL,
    claimed_until = NULL, failures = 0, extraction_error = NULL, observed_message_id = 0, turn = NULL, turn_until = NULL,
    turn_process = NULL, aged_sequence = 0, oldest_at = NULL, pinned = 0, archived = 0, system_prompt = NULL, model = NULL, leaf_id = NULL,
    is_forked = 0, settled_message_id = 0
WHERE tenant_id = :tenant_id AND pool_id IS NOT NULL

-- name: erase_pools
DELETE FROM pool WHERE tenant_id = :tenant_id

-- name: erase_projects
DELETE FROM project WHERE tenant_id = :tenant_id

-- name: erase_tenant
UPDATE tenant
SET name = '', secret = NULL, erased_at = :now, message_limit = NULL, session_limit = NULL, project_limit = NULL,
    file_limit = NULL, entry_limit = NULL, retention_days = NULL, receipt_days = NULL
WHERE tenant_id = :tenant_id
