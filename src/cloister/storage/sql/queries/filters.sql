-- Which rows of one pool, session or project a filter lets pass (MEM-14). The queries leave out what cannot match, by session, time
-- and labels; the filter itself is evaluated on the rows that they return.

-- name: filter_sessions
-- The sessions of a pool, as conditions on the session and its user see them.
SELECT session_id, external_id, user_id FROM session WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: filter_messages
-- The messages of a pool that can be recalled. Labels only where the filter asks for them; with :labelled 1 only messages that have some.
SELECT
    m.message_id, m.role, m.author, m.created_at,
    CASE WHEN CAST(:labels AS BIGINT) = 1 THEN m.categories ELSE '[]' END,
    CASE WHEN CAST(:labels AS BIGINT) = 1 THEN m.metadata ELSE '{}' END
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
    AND (
        CAST(:any_session AS BIGINT) = 1
        OR s.session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
    )
    AND m.tenant_id = s.tenant_id AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
    AND m.created_at >= :created_from AND m.created_at <= :created_until
    AND m.status = 'completed' AND (m.vector IS NULL OR length(m.vector) > 0)
    AND (CAST(:labelled AS BIGINT) = 0 OR m.metadata <> '{}' OR m.categories <> '[]')

-- name: filter_session_messages
-- The messages of one session after an id, in order; others than completed ones too. Of its current branch, or of all.
SELECT
    message_id, role, author, created_at,
    CASE WHEN CAST(:labels AS BIGINT) = 1 THEN categories ELSE '[]' END,
    CASE WHEN CAST(:labels AS BIGINT) = 1 THEN metadata ELSE '{}' END
FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last
    AND created_at >= :created_from AND created_at <= :created_until
    AND (CAST(:all_branches AS BIGINT) = 1 OR {on_branch})
    AND (CAST(:labelled AS BIGINT) = 0 OR metadata <> '{}' OR categories <> '[]')
ORDER BY message_id

-- name: filter_memories
-- The time of a memory is when it was said, not when it was extracted.
SELECT m.memory_id, m.valid_from, s.external_id, s.user_id, m.categories, m.metadata
FROM session AS s
CROSS JOIN memory AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id AND m.session_id = s.session_id

-- name: filter_entities
SELECT entity_id, created_at, user_id FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id
    AND coalesce(user_id, '') = coalesce(CAST(:user_id AS TEXT), '') AND part_of IS NULL AND deleted_at IS NULL

-- name: session_messages
-- Messages of one session by id, in order, on any branch.
SELECT {message_columns}
FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
ORDER BY message_id
