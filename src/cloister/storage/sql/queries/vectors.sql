-- The vectors of additional embedders: which messages of a pool have none yet, and those that a pool may be searched by.

-- columns: vector_columns
v.message_id, v.vector, CAST(length(m.terms) AS BIGINT)

-- name: claim_pool_embedding
-- Takes the lease of a pool, unless another process has it; returns how far the pool is embedded.
UPDATE pool SET embedding_until = :until
WHERE tenant_id = :tenant_id AND pool_id = :pool_id AND (embedding_until < :now OR embedding_until > :until + (:until - :now))
RETURNING version, CAST(CASE WHEN embedded_model_id = :model_id THEN embedded_version ELSE -1 END AS BIGINT)

-- name: release_pool_embedding
-- Records how far the pool is embedded. Fewer than before, by a process that read the pool earlier, does no harm.
UPDATE pool SET embedding_until = 0, embedded_model_id = :model_id, embedded_version = :version
WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: sessions_to_embed
-- A page of the sessions of a pool that changed after the cursor, in the order of their changes, if they have messages behind the
-- last one with a vector.
SELECT session_id, changed_version FROM session AS s
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id
    AND (s.changed_version, s.session_id) > (:after_version, :after_session)
    AND (s.session_id << 21) + s.next_sequence - 1 > coalesce((
        SELECT max(v.message_id) FROM message_vector AS v
        WHERE v.tenant_id = :tenant_id AND v.message_id > s.session_id << 21
            AND v.message_id <= (s.session_id << 21) + 2097151 AND v.model_id = :model_id
    ), s.session_id << 21)
ORDER BY changed_version, session_id
LIMIT :limit

-- name: words_to_embed
-- The messages of a session behind the last one with a vector; those that cannot be recalled get none. Those of other branches do:
-- they may be chosen when there are vectors behind them.
SELECT message_id, content FROM message
WHERE tenant_id = :tenant_id AND message_id > coalesce((
        SELECT max(v.message_id) FROM message_vector AS v
        WHERE v.tenant_id = :tenant_id AND v.message_id > :after AND v.message_id <= :last AND v.model_id = :model_id
    ), :after)
    AND message_id <= :last AND status IN ('completed', 'off_completed') AND (vector IS NULL OR length(vector) > 0)
ORDER BY message_id
LIMIT :limit

-- name: insert_vector
-- A message that was deleted meanwhile gets none.
INSERT INTO message_vector (tenant_id, session_id, message_id, model_id, vector)
SELECT :tenant_id, session_id, message_id, :model_id, :vector FROM message
WHERE tenant_id = :tenant_id AND session_id = :session_id AND message_id = :message_id
ON CONFLICT DO NOTHING

-- name: raise_vectors_version
UPDATE pool SET vectors_version = vectors_version + 1 WHERE tenant_id = :tenant_id AND pool_id = :pool_id
RETURNING vectors_version

-- name: note_vectors
UPDATE session SET vectors_version = :version WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: delete_vectors
-- The vectors of other models, or with :model_id 0 of all.
DELETE FROM message_vector
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last AND model_id <> :model_id

-- name: vector_state
SELECT version, removed_version, vectors_version FROM pool WHERE tenant_id = :tenant_id AND pool_id = :pool_id

-- name: vector_sessions
-- The sessions of a pool that got vectors since a number of its vectors_version.
SELECT session_id FROM session
WHERE tenant_id = :tenant_id AND pool_id = :pool_id AND vectors_version > :version
ORDER BY session_id

-- name: pool_vectors
SELECT {vector_columns}
FROM session AS s
CROSS JOIN message_vector AS v
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND v.tenant_id = s.tenant_id
    AND v.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151
    AND v.model_id = :model_id AND length(v.vector) > 0 AND m.tenant_id = v.tenant_id AND m.message_id = v.message_id
    AND m.status = 'completed'

-- name: session_vectors
-- The same for one session's messages after an id.
SELECT {vector_columns}
FROM session AS s
CROSS JOIN message_vector AS v
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.pool_id = :pool_id AND s.session_id = :session_id AND v.tenant_id = s.tenant_id
    AND v.message_id > :after AND v.message_id <= :last
    AND v.model_id = :model_id AND length(v.vector) > 0 AND m.tenant_id = v.tenant_id AND m.message_id = v.message_id
    AND m.status = 'completed'
ORDER BY v.message_id
