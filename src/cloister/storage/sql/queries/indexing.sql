-- name: lock_session_by_id
SELECT pool_id FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id FOR UPDATE

-- name: words
-- The text of the messages of one session after an id, for an indexer.
SELECT message_id, author, created_at, content FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last
    AND (CAST(:all_generations AS BIGINT) = 1 OR generation <> :generation)
ORDER BY message_id
LIMIT :limit

-- name: waiting_words
-- The messages of one session that are not indexed yet, and whether their vectors are stored.
SELECT
    message_id, author, created_at, content,
    CAST(CASE WHEN generation = :generation AND vector IS NOT NULL THEN 1 ELSE 0 END AS BIGINT)
FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last AND indexed_at IS NULL
ORDER BY message_id
LIMIT :limit

-- name: set_indexed
UPDATE message
SET generation = :generation, vector = :vector, terms = :terms, tokens = :tokens, indexed_at = :indexed_at
WHERE tenant_id = :tenant_id AND message_id = :message_id

-- name: set_indexed_at
UPDATE message SET indexed_at = :indexed_at
WHERE tenant_id = :tenant_id AND indexed_at IS NULL AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: points
-- A range of messages of one session for an external index, with :around more on either side.
SELECT message_id, role, author, created_at, vector, terms FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :end
    AND generation = :generation AND status = 'completed' AND (vector IS NULL OR length(vector) > 0)
    AND message_id >= coalesce((
        SELECT min(before.message_id) FROM (
            SELECT message_id FROM message
            WHERE tenant_id = :tenant_id AND message_id > :after AND message_id < :first AND status = 'completed'
                AND (vector IS NULL OR length(vector) > 0)
            ORDER BY message_id DESC LIMIT :around
        ) AS before
    ), :first)
    AND message_id <= coalesce((
        SELECT max(behind.message_id) FROM (
            SELECT message_id FROM message
            WHERE tenant_id = :tenant_id AND message_id > :last AND message_id <= :end AND status = 'completed'
                AND (vector IS NULL OR length(vector) > 0)
            ORDER BY message_id LIMIT :around
        ) AS behind
    ), :last)
ORDER BY message_id

-- name: requeue_around
-- The messages around one that was deleted, or left or entered the current branch: their index entries include its text.
UPDATE message SET indexed_at = NULL
WHERE tenant_id = :tenant_id AND message_id IN (
    SELECT before.message_id FROM (
        SELECT message_id FROM message
        WHERE tenant_id = :tenant_id AND message_id > :after AND message_id < :message_id AND status = 'completed'
            AND (vector IS NULL OR length(vector) > 0)
        ORDER BY message_id DESC LIMIT :around
    ) AS before
    UNION ALL
    SELECT behind.message_id FROM (
        SELECT message_id FROM message
        WHERE tenant_id = :tenant_id AND message_id > :message_id AND message_id <= :end AND status = 'completed'
            AND (vector IS NULL OR length(vector) > 0)
        ORDER BY message_id LIMIT :around
    ) AS behind
)

-- name: note_index_removal
INSERT INTO index_removal (tenant_id, removal_id, session_id, message_id)
VALUES (:tenant_id, :removal_id, :session_id, :message_id)

-- name: note_put
-- The removal, due later, of a message that is about to be put into an external index. A row a statement: a distributed PostgreSQL copies
-- the rows of a SELECT without a table, and row-level security allows no copy.
INSERT INTO index_removal (tenant_id, removal_id, session_id, message_id, due_at)
VALUES (:tenant_id, :removal_id, :session_id, :message_id, :due_at)

-- name: settle_put
DELETE FROM index_removal
WHERE tenant_id = :tenant_id AND removal_id >= :removal_id AND removal_id <= :last_removal_id AND session_id = :session_id
RETURNING message_id

-- name: settle_index_removal
DELETE FROM index_removal WHERE tenant_id = :tenant_id AND removal_id = :removal_id

-- name: requeue_session
-- Messages recorded after a session was cleared may have been removed from the index with the rest.
UPDATE message SET indexed_at = NULL WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :end

-- name: note_rebuild
UPDATE session SET changed_version = :version, rebuilt_version = :version
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: stale_in_pool
SELECT count(*)
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151 AND m.generation <> :generation

-- name: waiting_in_pool
-- The messages of a pool that an external index does not have yet.
SELECT count(*)
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151 AND m.indexed_at IS NULL
    AND m.generation = :generation AND m.status = 'completed' AND (m.vector IS NULL OR length(m.vector) > 0)
    AND EXISTS (SELECT 1 FROM message AS w WHERE w.tenant_id = :tenant_id AND w.indexed_at IS NULL)

-- name: newest_stale_in_pool
-- The last messages of a pool that another generation indexed.
SELECT m.message_id
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151 AND m.generation <> :generation
    AND m.status = 'completed'
ORDER BY m.created_at DESC, m.message_id DESC
LIMIT :limit

-- name: settle_pool
UPDATE pool SET generation = :generation WHERE tenant_id = :tenant_id AND pool_id = :pool_id
