-- columns: observation_columns
o.observation_id, o.session_id, o.content, o.sources, o.said_at, o.created_at, s.external_id, s.user_id

-- name: claim_extraction
-- Takes a lease, which another worker may take after it expired. A session that was not due becomes due when the lease expires, so
-- that it is not lost if its worker dies.
UPDATE session SET claim = :claim, claimed_until = :until, due_at = coalesce(due_at, :until)
WHERE tenant_id = :tenant_id AND session_id = :session_id AND pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
    AND (claimed_until IS NULL OR claimed_until < :now)
RETURNING session_id

-- name: claimed_session
SELECT project_id, pool_id, user_id, observed_message_id FROM session
WHERE tenant_id = :tenant_id AND session_id = :session_id AND claim = :claim AND pool_id IS NOT NULL

-- name: renew_claim
-- Returns no row if the lease was lost.
UPDATE session SET claimed_until = :until
WHERE tenant_id = :tenant_id AND session_id = :session_id AND claim = :claim
RETURNING session_id

-- name: release_claim
-- The session stays due as it was.
UPDATE session SET claim = NULL, claimed_until = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND claim = :claim

-- name: unchecked_messages
SELECT message_id, role, content, author, created_at, recalled_pool_id, metadata, categories, checksum FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
    AND is_memory_checked = 0 AND status = 'completed'
ORDER BY message_id
LIMIT :limit

-- name: mark_checked
UPDATE message SET is_memory_checked = 1
WHERE tenant_id = :tenant_id AND session_id = :session_id AND is_memory_checked = 0 AND status = 'completed'
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: present_messages
-- On the current branch, or on any.
SELECT message_id FROM message
WHERE tenant_id = :tenant_id AND session_id = :session_id AND (CAST(:all_branches AS BIGINT) = 1 OR {on_branch})
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: lock_claimed_session
-- Locks the session until the transaction ends, if the lease is still valid.
SELECT observed_message_id FROM session
WHERE tenant_id = :tenant_id AND session_id = :session_id AND claim = :claim
FOR UPDATE

-- name: finish_extraction
UPDATE session
SET claim = NULL, claimed_until = NULL, failures = 0, extraction_error = NULL, unchecked_count = unchecked_count - :checked,
    observed_message_id = :observed,
    due_at = CASE WHEN unchecked_count - :checked >= :threshold THEN CAST(:now AS BIGINT) END
WHERE tenant_id = :tenant_id AND session_id = :session_id AND claim = :claim

-- name: fail_extraction
UPDATE session
SET claim = NULL, claimed_until = NULL, failures = failures + 1, extraction_error = :error, due_at = :retry_at
WHERE tenant_id = :tenant_id AND session_id = :session_id AND claim = :claim

-- name: extraction_failures
SELECT failures FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: note_past
INSERT INTO session_past (tenant_id, session_id, last_message_id, project_id)
VALUES (:tenant_id, :session_id, :last_message_id, :project_id)
ON CONFLICT DO NOTHING

-- name: session_past
SELECT last_message_id, project_id FROM session_past
WHERE tenant_id = :tenant_id AND session_id = :session_id
ORDER BY last_message_id

-- name: forget_past
DELETE FROM session_past WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: unobserved_messages
-- The messages older than the recent window that no observation covers yet.
SELECT message_id, role, content, author, created_at, recalled_pool_id, metadata, categories, checksum FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last AND status = 'completed'
    AND message_id <= coalesce((
        SELECT min(recent.message_id) - 1 FROM (
            SELECT message_id FROM message
            WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last AND {on_branch}
            ORDER BY message_id DESC LIMIT :window
        ) AS recent
    ), :after)
ORDER BY message_id
LIMIT :limit

-- name: insert_observation
INSERT INTO observation (
    observation_id, tenant_id, session_id, first_message_id, last_message_id, created_at, said_at, sources, content
) VALUES (
    :observation_id, :tenant_id, :session_id, :first_message_id, :last_message_id, :created_at, :said_at, :sources, :content
)

-- name: session_observations
SELECT {observation_columns}
FROM observation AS o
JOIN session AS s ON s.tenant_id = o.tenant_id AND s.session_id = o.session_id
WHERE o.tenant_id = :tenant_id AND o.session_id = :session_id
    AND (o.said_at, o.observation_id) > (:after_said_at, :after_observation_id)
ORDER BY o.said_at, o.observation_id
LIMIT :limit

-- name: count_session_observations
SELECT count(*) FROM observation WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: observation_cursor_key
-- The key by which the pages of observations are ordered.
SELECT said_at, observation_id FROM observation
WHERE tenant_id = :tenant_id AND session_id = :session_id AND observation_id = :observation_id

-- name: recent_observations
-- The newest observations of one session, newest first.
SELECT {observation_columns}
FROM session AS s
CROSS JOIN observation AS o
WHERE s.tenant_id = :tenant_id AND s.session_id = :session_id AND s.pool_id = :pool_id
    AND o.tenant_id = s.tenant_id AND o.session_id = s.session_id
ORDER BY o.said_at DESC, o.observation_id DESC
LIMIT :limit

-- name: recent_observations_of_user
-- The newest observations of all sessions of one user in one pool (TAB-7), newest first.
SELECT {observation_columns}
FROM session AS s
CROSS JOIN observation AS o
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND s.user_id = :user_id AND s.observed_message_id > 0
    AND o.tenant_id = s.tenant_id AND o.session_id = s.session_id
ORDER BY o.said_at DESC, o.observation_id DESC
LIMIT :limit

-- name: observation_contents
SELECT content, sources FROM observation WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: delete_session_observations
DELETE FROM observation WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: first_observation_of
-- The first message of the first observation that covers a message.
SELECT min(first_message_id) FROM observation
WHERE tenant_id = :tenant_id AND session_id = :session_id AND first_message_id <= :message_id AND last_message_id >= :message_id

-- name: first_observation_until
-- The first message of the first observation that covers any message from this one on.
SELECT min(first_message_id) FROM observation
WHERE tenant_id = :tenant_id AND session_id = :session_id AND last_message_id >= :message_id

-- name: delete_observations_from
DELETE FROM observation
WHERE tenant_id = :tenant_id AND session_id = :session_id AND first_message_id >= :message_id
RETURNING observation_id

-- name: observe_again
UPDATE session SET observed_message_id = :message_id - 1
WHERE tenant_id = :tenant_id AND session_id = :session_id AND observed_message_id >= :message_id

-- name: recount_unchecked
UPDATE session
SET unchecked_count = (
    SELECT count(*) FROM message
    WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
        AND is_memory_checked = 0 AND status = 'completed'
)
WHERE tenant_id = :tenant_id AND session_id = :session_id
