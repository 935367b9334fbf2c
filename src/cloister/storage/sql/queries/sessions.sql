-- columns: session_columns
session_id, tenant_id, external_id, project_id, pool_id, user_id, title, tags, metadata, message_count, created_at,
updated_at, memory_count, CAST(CASE WHEN due_at IS NULL THEN 0 ELSE 1 END AS BIGINT), extraction_error, pinned, archived,
system_prompt, model, leaf_id, is_forked, next_sequence, episode_id, unchecked_count

-- name: session
SELECT {session_columns}
FROM session
WHERE tenant_id = :tenant_id AND external_id = :external_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)

-- name: lock_session
-- The same, locked against other writers until the transaction ends.
SELECT {session_columns}
FROM session
WHERE tenant_id = :tenant_id AND external_id = :external_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
FOR UPDATE

-- name: sessions
-- A page of sessions, newest activity first. With :any_project 0 only those of :project_id, where NULL is the shared pool. With
-- :pinned or :archived, only those that are (1), or are not (0).
SELECT {session_columns}
FROM session
WHERE tenant_id = :tenant_id AND pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
    AND (CAST(:any_project AS BIGINT) = 1 OR project_id IS NOT DISTINCT FROM CAST(:project_id AS BIGINT))
    AND (CAST(:user_id AS TEXT) IS NULL OR user_id = :user_id)
    AND (CAST(:pinned AS BIGINT) IS NULL OR pinned = :pinned)
    AND (CAST(:archived AS BIGINT) IS NULL OR archived = :archived)
    AND (updated_at, session_id) < (:before_updated_at, :before_session_id)
ORDER BY updated_at DESC, session_id DESC
LIMIT :limit

-- name: session_users
-- The users of the sessions of one project, in order, each with how many sessions and memories there are.
SELECT
    user_id, CAST(count(*) AS BIGINT), CAST(sum(memory_count) AS BIGINT), min(created_at), max(updated_at)
FROM session
WHERE tenant_id = :tenant_id AND project_id = :project_id AND user_id > :after_user_id
    AND pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
GROUP BY user_id
ORDER BY user_id
LIMIT :limit

-- name: insert_session
-- Returns no row if the id or the external id is taken.
INSERT INTO session (
    session_id, tenant_id, external_id, project_id, pool_id, user_id, title, tags, metadata, next_sequence, message_count,
    changed_version, rebuilt_version, created_at, updated_at
) VALUES (
    :session_id, :tenant_id, :external_id, :project_id, :pool_id, :user_id, :title, :tags, :metadata, 1, 0,
    :version, :version, :created_at, :created_at
)
ON CONFLICT DO NOTHING
RETURNING session_id

-- name: next_sequence
SELECT next_sequence FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: note_append
UPDATE session
SET next_sequence = :next_sequence, episode_id = :episode_id, leaf_id = :leaf_id, message_count = message_count + :appended,
    changed_version = :version, updated_at = CASE WHEN updated_at > :now THEN updated_at ELSE :now END,
    unchecked_count = unchecked_count + :unchecked
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: make_due
-- A statement of its own, so that not every append updates an indexed column.
UPDATE session SET due_at = :now WHERE tenant_id = :tenant_id AND session_id = :session_id AND due_at IS NULL

-- name: note_removal
UPDATE session
SET message_count = message_count - :removed, changed_version = :version, rebuilt_version = :version,
    episode_id = CASE WHEN :removed = message_count THEN NULL ELSE episode_id END,
    leaf_id = CASE WHEN :removed = message_count THEN NULL ELSE leaf_id END,
    is_forked = CASE WHEN :removed = message_count THEN 0 ELSE is_forked END
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: describe_session
UPDATE session
SET title_through = CASE
        WHEN CAST(:title_through AS BIGINT) <> 0 THEN CAST(:title_through AS BIGINT)
        WHEN title = :title THEN title_through
    END,
    title = :title, tags = :tags, metadata = :metadata, updated_at = CASE WHEN updated_at > :now THEN updated_at ELSE :now END
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: forget_title
UPDATE session SET title = NULL, title_through = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND (title_through >= :first_removed OR title = :said)

-- name: set_session_choices
-- No activity: the order of the list stays.
UPDATE session SET pinned = :pinned, archived = :archived, system_prompt = :system_prompt, model = :model
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: move_session
-- A lease is revoked: what a worker read in the old pool must not be stored in the new one. The interrupted session is due at once.
UPDATE session
SET project_id = :project_id, pool_id = :pool_id, changed_version = :version, rebuilt_version = :version,
    due_at = CASE WHEN claim IS NULL THEN due_at ELSE :now END, claim = NULL, claimed_until = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: lock_project_sessions
SELECT {session_columns}
FROM session
WHERE tenant_id = :tenant_id AND project_id = :project_id ORDER BY session_id FOR UPDATE

-- name: blank_session
UPDATE session
SET external_id = NULL, project_id = NULL, pool_id = NULL, user_id = NULL, title = NULL, title_through = NULL, tags = '[]', metadata = '{}',
    episode_id = NULL, message_count = 0, memory_count = 0, unchecked_count = 0, due_at = NULL, claim = NULL,
    claimed_until = NULL, failures = 0, extraction_error = NULL, observed_message_id = 0, turn = NULL, turn_until = NULL,
    turn_process = NULL, aged_sequence = 0, oldest_at = NULL, pinned = 0, archived = 0, system_prompt = NULL, model = NULL, leaf_id = NULL,
    is_forked = 0, settled_message_id = 0
WHERE tenant_id = :tenant_id AND session_id = :session_id AND pool_id IS NOT NULL

-- name: count_project_sessions
SELECT count(*), count(DISTINCT user_id) FROM session WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: count_reached_memories
-- The memories of the project's sessions within the caller's reach.
SELECT CAST(coalesce(sum(memory_count), 0) AS BIGINT) FROM session
WHERE tenant_id = :tenant_id AND project_id = :project_id
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
