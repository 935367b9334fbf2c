-- What is older than a project or its tenant keeps (MEM-18). `:before` is the time before which it is too old.

-- name: tenant_retention
SELECT retention_days FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL

-- name: set_tenant_retention
UPDATE tenant SET retention_days = :retention_days WHERE tenant_id = :tenant_id AND erased_at IS NULL

-- name: project_retentions
-- All projects, with their own number of days.
SELECT project_id, retention_days FROM project
WHERE tenant_id = :tenant_id AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
ORDER BY project_id

-- name: sessions_to_age
-- The sessions of a project, or of the shared pool, that may have something too old: messages, memories, files or receipts of contexts
-- and searches, or messages of which nobody knows yet how old they are.
SELECT
    session_id, external_id, aged_sequence, next_sequence, oldest_at,
    CAST(CASE WHEN EXISTS (
        SELECT 1 FROM memory AS m
        WHERE m.tenant_id = :tenant_id AND m.session_id = s.session_id AND m.created_at < :before
    ) OR EXISTS (
        SELECT 1 FROM memory_file AS f
        WHERE f.tenant_id = :tenant_id AND f.session_id = s.session_id AND f.content IS NOT NULL AND f.updated_at < :before
    ) OR EXISTS (
        SELECT 1 FROM receipt AS r
        WHERE r.tenant_id = :tenant_id AND r.session_id = s.session_id AND r.kind <> 'reply' AND r.created_at < :before
    ) THEN 1 ELSE 0 END AS BIGINT)
FROM session AS s
WHERE tenant_id = :tenant_id AND project_id IS NOT DISTINCT FROM CAST(:project_id AS BIGINT) AND pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
    AND session_id > :after
    AND (
        aged_sequence < next_sequence OR oldest_at < :before
        OR EXISTS (
            SELECT 1 FROM memory AS m
            WHERE m.tenant_id = :tenant_id AND m.session_id = s.session_id AND m.created_at < :before
        )
        OR EXISTS (
            SELECT 1 FROM memory_file AS f
            WHERE f.tenant_id = :tenant_id AND f.session_id = s.session_id AND f.content IS NOT NULL
                AND f.updated_at < :before
        )
        OR EXISTS (
            SELECT 1 FROM receipt AS r
            WHERE r.tenant_id = :tenant_id AND r.session_id = s.session_id AND r.kind <> 'reply'
                AND r.created_at < :before
        )
    )
ORDER BY session_id
LIMIT :limit

-- name: old_messages
SELECT message_id FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last AND created_at < :before
ORDER BY message_id
LIMIT :limit

-- name: oldest_message
SELECT min(created_at) FROM message WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last

-- name: set_session_age
-- Unless the age was noted by another transaction since :known_sequence was read.
UPDATE session SET aged_sequence = :aged_sequence, oldest_at = :oldest_at
WHERE tenant_id = :tenant_id AND session_id = :session_id AND pool_id IS NOT NULL AND aged_sequence = :known_sequence

-- name: note_oldest
UPDATE session SET oldest_at = :oldest_at WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: old_memories
SELECT memory_id FROM memory
WHERE tenant_id = :tenant_id AND session_id = :session_id AND created_at < :before
ORDER BY created_at, memory_id
LIMIT :limit

-- name: observations_of_messages
-- The observations that cover any of these messages.
SELECT o.observation_id, o.content FROM observation AS o
WHERE o.tenant_id = :tenant_id AND o.session_id = :session_id
    AND o.last_message_id >= :first AND o.first_message_id <= :last
    AND EXISTS (
        SELECT 1 FROM json_each(CAST(:message_ids AS TEXT)) AS named
        WHERE named.value BETWEEN o.first_message_id AND o.last_message_id
    )

-- name: delete_observations
DELETE FROM observation
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND observation_id IN (SELECT value FROM json_each(CAST(:observation_ids AS TEXT)))

-- name: count_old_messages
-- The messages that are too old, and the sessions that they are in.
SELECT count(DISTINCT s.session_id), count(m.message_id)
FROM session AS s
CROSS JOIN message AS m
WHERE s.tenant_id = :tenant_id AND s.project_id IS NOT DISTINCT FROM CAST(:project_id AS BIGINT) AND s.pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND (s.aged_sequence < s.next_sequence OR s.oldest_at < :before)
    AND m.tenant_id = s.tenant_id AND m.created_at < :before
    AND m.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151

-- name: count_old_memories
-- The memories that are too old themselves, or derive from a message that is.
SELECT count(*)
FROM session AS s
CROSS JOIN memory AS y
WHERE s.tenant_id = :tenant_id AND s.project_id IS NOT DISTINCT FROM CAST(:project_id AS BIGINT) AND s.pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND y.tenant_id = s.tenant_id AND y.session_id = s.session_id
    AND (
        y.created_at < :before
        OR y.memory_id IN (
            SELECT k.memory_id
            FROM session AS f
            CROSS JOIN memory_source AS k
            CROSS JOIN message AS m
            WHERE f.tenant_id = :tenant_id AND f.project_id IS NOT DISTINCT FROM CAST(:project_id AS BIGINT)
                AND f.pool_id IS NOT NULL
                AND k.tenant_id = :tenant_id
                AND k.message_id BETWEEN f.session_id << 21 AND (f.session_id << 21) + 2097151
                AND m.tenant_id = :tenant_id AND m.message_id = k.message_id AND m.created_at < :before
        )
    )

-- name: count_old_files
-- The files that were not changed since then, in all trees of a session.
SELECT count(*)
FROM session AS s
JOIN memory_file AS f ON f.tenant_id = s.tenant_id AND f.session_id = s.session_id
WHERE s.tenant_id = :tenant_id AND s.project_id IS NOT DISTINCT FROM CAST(:project_id AS BIGINT) AND s.pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND f.content IS NOT NULL AND f.updated_at < :before

-- name: count_old_observations
-- The observations that cover a message that is too old.
SELECT count(*)
FROM session AS s
JOIN observation AS o ON o.tenant_id = s.tenant_id AND o.session_id = s.session_id
WHERE s.tenant_id = :tenant_id AND s.project_id IS NOT DISTINCT FROM CAST(:project_id AS BIGINT) AND s.pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
    AND EXISTS (
        SELECT 1 FROM message AS m
        WHERE m.tenant_id = :tenant_id AND m.message_id BETWEEN o.first_message_id AND o.last_message_id
            AND m.created_at < :before
    )

-- name: count_old_entities
-- The entities of any project all of whose mentions go with messages that are too old: in sessions of one project, those from before
-- :before; without a project in all sessions, with each project's own days where they are stricter, and :before is NULL if the tenant
-- keeps everything. The mentions that one extraction gave to a name go together.
SELECT count(*)
FROM entity AS e
WHERE e.tenant_id = :tenant_id AND e.part_of IS NULL AND e.deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR e.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR e.user_id = :bound_user)
    AND e.entity_id IN (
        SELECT coalesce(n.part_of, n.entity_id)
        FROM session AS s
        CROSS JOIN mention AS k
        CROSS JOIN entity AS n
        WHERE s.tenant_id = :tenant_id AND s.pool_id IS NOT NULL
            AND (CAST(:project_id AS BIGINT) IS NULL OR s.project_id = CAST(:project_id AS BIGINT))
            AND k.tenant_id = s.tenant_id AND k.session_id = s.session_id
            AND n.tenant_id = k.tenant_id AND n.entity_id = k.entity_id
    )
    AND NOT EXISTS (
        SELECT 1 FROM entity AS n
        JOIN mention AS k ON k.tenant_id = n.tenant_id AND k.entity_id = n.entity_id
        WHERE n.tenant_id = :tenant_id AND (n.entity_id = e.entity_id OR n.part_of = e.entity_id)
            AND NOT EXISTS (
                SELECT 1 FROM mention AS g
                JOIN message AS m ON m.tenant_id = g.tenant_id AND m.message_id = g.message_id
                JOIN session AS s ON s.tenant_id = g.tenant_id AND s.session_id = g.session_id
                WHERE g.tenant_id = :tenant_id AND g.entity_id = k.entity_id AND g.session_id = k.session_id
                    AND g.created_at = k.created_at AND s.pool_id IS NOT NULL
                    AND (CAST(:project_id AS BIGINT) IS NULL OR s.project_id = CAST(:project_id AS BIGINT))
                    AND (
                        m.created_at < CAST(:before AS BIGINT)
                        OR CAST(:project_id AS BIGINT) IS NULL AND EXISTS (
                            SELECT 1 FROM project AS p
                            WHERE p.tenant_id = :tenant_id AND p.project_id = s.project_id AND p.deleted_at IS NULL
                                AND m.created_at < CAST(:now AS BIGINT) - p.retention_days * 86400000000
                        )
                    )
            )
    )

-- name: count_old_receipts
-- The receipts of contexts and searches from before then, of sessions and of none. What was searched in a project that was deleted since
-- is in no project.
SELECT (
    SELECT count(*)
    FROM session AS s
    JOIN receipt AS r ON r.tenant_id = s.tenant_id AND r.session_id = s.session_id
    WHERE s.tenant_id = :tenant_id AND s.project_id IS NOT DISTINCT FROM CAST(:project_id AS BIGINT) AND s.pool_id IS NOT NULL
        AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
        AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)
        AND r.kind <> 'reply' AND r.created_at < :before
) + (
    SELECT count(*) FROM receipt AS r
    WHERE r.tenant_id = :tenant_id AND r.session_id IS NULL
        AND (
            r.project_id = CAST(:project_id AS BIGINT)
            OR (CAST(:project_id AS BIGINT) IS NULL AND NOT EXISTS (
                SELECT 1 FROM project AS p
                WHERE p.tenant_id = :tenant_id AND p.project_id = r.project_id AND p.deleted_at IS NULL
            ))
        )
        AND (CAST(:confined_to AS BIGINT) IS NULL OR r.project_id = :confined_to)
        AND (CAST(:bound_user AS TEXT) IS NULL OR r.user_id = :bound_user)
        AND r.kind <> 'reply' AND r.created_at < :before
)

-- name: old_search_receipts
-- The receipts of searches that belong to no session, from before then: of a project, or of none and of those that were deleted.
SELECT r.receipt_id FROM receipt AS r
WHERE r.tenant_id = :tenant_id AND r.session_id IS NULL
    AND (
        r.project_id = CAST(:project_id AS BIGINT)
        OR (CAST(:project_id AS BIGINT) IS NULL AND NOT EXISTS (
            SELECT 1 FROM project AS p
            WHERE p.tenant_id = :tenant_id AND p.project_id = r.project_id AND p.deleted_at IS NULL
        ))
    )
    AND (CAST(:confined_to AS BIGINT) IS NULL OR r.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR r.user_id = :bound_user)
    AND r.kind <> 'reply' AND r.created_at < :before
ORDER BY r.receipt_id
LIMIT :limit

-- name: delete_search_receipts
DELETE FROM receipt
WHERE tenant_id = :tenant_id AND session_id IS NULL
    AND receipt_id IN (SELECT value FROM json_each(CAST(:receipt_ids AS TEXT)))
