-- name: lock_session_by_id
SELECT pool_id FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: words
-- What an indexer reads of one session, from behind an id.
SELECT message_id, author, created_at, content FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last
    AND (CAST(:all_generations AS BIGINT) = 1 OR generation <> :generation)
ORDER BY message_id
LIMIT :limit

-- name: waiting_words
-- Of one session, the messages that no index knows yet.
SELECT message_id, author, created_at, content FROM message
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
-- A run of one session as an index outside the database holds it.
SELECT message_id, role, author, created_at, vector, terms FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last
    AND generation = :generation AND status = 'completed'
ORDER BY message_id

-- name: note_rebuild
UPDATE session SET changed_version = :version, rebuilt_version = :version
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: stale_in_pool
SELECT count(*)
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND m.tenant_id = s.tenant_id
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151 AND m.generation <> :generation

-- name: settle_pool
UPDATE pool SET generation = :generation WHERE tenant_id = :tenant_id AND pool_id = :pool_id
