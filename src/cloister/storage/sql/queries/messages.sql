-- columns: message_columns
message_id, session_id, role, content, author, status, episode_id, is_memory_checked, tokens, metadata, created_at,
categories, checksum, recalled_pool_id

-- name: insert_message
INSERT INTO message (
    message_id, tenant_id, session_id, role, status, author, created_at, generation, indexed_at, vector, terms, episode_id,
    tokens, metadata, content, recalled_pool_id, categories, checksum
) VALUES (
    :message_id, :tenant_id, :session_id, :role, :status, :author, :created_at, :generation, :indexed_at, :vector, :terms,
    :episode_id, :tokens, :metadata, :content, :recalled_pool_id, :categories,
    :checksum
)

-- name: messages
-- A page of the messages of one session, in order: of its current branch, or of all.
SELECT {message_columns}
FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last
    AND (CAST(:all_branches AS BIGINT) = 1 OR {on_branch})
ORDER BY message_id
LIMIT :limit

-- name: last_messages_before
-- The last messages of one session before an id, newest first: of its current branch, or of all.
SELECT {message_columns}
FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id < :before
    AND (CAST(:all_branches AS BIGINT) = 1 OR {on_branch})
ORDER BY message_id DESC
LIMIT :limit

-- name: recent_messages
-- The last completed messages of a role, and with :with_partial 1 partial ones, newest first, among the last :window of the session.
SELECT {message_columns}
FROM message
WHERE tenant_id = :tenant_id AND role = :role AND message_id <= :last
    AND (status = 'completed' OR (CAST(:with_partial AS BIGINT) = 1 AND status = 'partial'))
    AND message_id > (
        SELECT CASE WHEN max(message_id) - :window > :first THEN max(message_id) - :window ELSE :first END
        FROM message
        WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
    )
ORDER BY message_id DESC
LIMIT :limit

-- name: recent_authors
-- The names of users who spoke among the last :window messages of the session.
SELECT DISTINCT author
FROM message
WHERE tenant_id = :tenant_id AND role = 'user' AND author IS NOT NULL AND message_id <= :last
    AND message_id > (
        SELECT CASE WHEN max(message_id) - :window > :first THEN max(message_id) - :window ELSE :first END
        FROM message
        WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
    )
LIMIT :limit

-- name: count_given_recalled_text
SELECT count(*) FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last AND role = 'assistant'
    AND recalled_pool_id = :pool_id

-- name: detach_from_pool
UPDATE message SET recalled_pool_id = :no_pool WHERE tenant_id = :tenant_id AND recalled_pool_id = :pool_id

-- name: quotes_of_pool
-- Whether any message was given text of the pool.
SELECT message_id FROM message WHERE tenant_id = :tenant_id AND recalled_pool_id = :pool_id LIMIT 1

-- name: messages_given_text_of_pool
-- Wherever their sessions are now.
SELECT message_id, content, tokens FROM message WHERE tenant_id = :tenant_id AND recalled_pool_id = :pool_id

-- name: set_message_content
UPDATE message SET content = :content, tokens = :tokens, checksum = NULL
WHERE tenant_id = :tenant_id AND message_id = :message_id

-- name: message_contents
SELECT content FROM message WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last

-- name: message_session
SELECT s.external_id
FROM message AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.message_id = :message_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)

-- name: count_episodes
SELECT count(DISTINCT episode_id) FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last

-- name: delete_message
DELETE FROM message WHERE tenant_id = :tenant_id AND session_id = :session_id AND message_id = :message_id

-- name: delete_messages
DELETE FROM message WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
