-- Receipts (PRF-1): see the migration 027.

-- columns: receipt_columns
r.receipt_id, r.session_id, r.question_id, r.reply_id, r.project_id, r.user_id, r.recalled_pool_id, r.kind, r.created_at, r.query,
r.body

-- name: insert_receipt
INSERT INTO receipt (
    tenant_id, receipt_id, session_id, question_id, reply_id, project_id, user_id, recalled_pool_id, kind, created_at,
    expires_at, query, body, template_id
)
VALUES (
    :tenant_id, :receipt_id, :session_id, :question_id, :reply_id, :project_id, :user_id, :pool_id, :kind, :created_at,
    :expires_at, :question, :body, :template_id
)

-- name: receipt_of_session
-- It is where its session is now.
SELECT {receipt_columns}, s.external_id
FROM receipt AS r
JOIN session AS s ON s.tenant_id = r.tenant_id AND s.session_id = r.session_id
WHERE r.tenant_id = :tenant_id AND r.receipt_id = :receipt_id AND s.pool_id IS NOT NULL
    AND (r.expires_at IS NULL OR r.expires_at > :now)
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)

-- name: receipt_of_project
-- A receipt without a session is of its own project and user.
SELECT {receipt_columns}
FROM receipt AS r
WHERE r.tenant_id = :tenant_id AND r.receipt_id = :receipt_id AND r.session_id IS NULL
    AND (r.expires_at IS NULL OR r.expires_at > :now)
    AND (CAST(:confined_to AS BIGINT) IS NULL OR r.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR r.user_id = :bound_user)

-- name: receipts_of_replies
-- Those of a session that the caller found. The receipt of a reply has the number of the reply.
SELECT {receipt_columns}
FROM receipt AS r
WHERE r.tenant_id = :tenant_id AND r.session_id = :session_id
    AND r.receipt_id IN (SELECT value FROM json_each(CAST(:receipt_ids AS TEXT)))
    AND r.kind = 'reply' AND r.reply_id IS NOT NULL AND (r.expires_at IS NULL OR r.expires_at > :now)
ORDER BY r.receipt_id

-- name: messages_in_reach
-- Which of these messages are in any session within the caller's reach, and whether they are on its current branch.
SELECT m.message_id, CAST(CASE WHEN {m_on_branch} THEN 1 ELSE 0 END AS BIGINT)
FROM message AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    AND s.pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)

-- name: message_indexed_at
-- When a message of a pool was recorded, or indexed again, by the clock: callers can set when it was said, and not this. NULL if it
-- waits. By the pool, because that of a shared project has messages of users whom a bound key does not reach otherwise.
SELECT m.indexed_at
FROM message AS m
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE m.tenant_id = :tenant_id AND m.message_id = :message_id AND s.pool_id = :pool_id

-- name: pool_observations
-- By id: only those of sessions that are in this pool now.
SELECT {observation_columns}
FROM observation AS o
JOIN session AS s ON s.tenant_id = o.tenant_id AND s.session_id = o.session_id
WHERE o.tenant_id = :tenant_id AND o.observation_id IN (SELECT value FROM json_each(CAST(:observation_ids AS TEXT)))
    AND s.pool_id = :pool_id

-- name: texts_replaced_since
-- What these memories of a pool said before their text was changed since this time, the oldest first.
SELECT r.memory_id, r.before
FROM memory_revision AS r
JOIN memory AS m ON m.tenant_id = r.tenant_id AND m.memory_id = r.memory_id
JOIN session AS s ON s.tenant_id = m.tenant_id AND s.session_id = m.session_id
WHERE r.tenant_id = :tenant_id AND r.memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
    AND r.digest IS NOT NULL AND r.changed_at > :since AND s.pool_id = :pool_id
ORDER BY r.changed_at, r.revision_id

-- name: entities_changed_since
-- Which of these entities of a project were corrected, or mentioned again under any of their names, since this time.
SELECT DISTINCT coalesce(e.part_of, e.entity_id)
FROM entity AS e
WHERE e.tenant_id = :tenant_id AND e.project_id = :project_id
    AND coalesce(e.part_of, e.entity_id) IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND (e.corrected_at > :since OR EXISTS (
        SELECT 1 FROM mention AS n WHERE n.tenant_id = :tenant_id AND n.entity_id = e.entity_id AND n.created_at > :since
    ))

-- name: delete_receipts_of_message
DELETE FROM receipt
WHERE tenant_id = :tenant_id AND session_id = :session_id AND (question_id = :message_id OR reply_id = :message_id)

-- name: receipts_with_queries
-- Those of a session that stored what was asked, because no message asked it.
SELECT receipt_id, query FROM receipt
WHERE tenant_id = :tenant_id AND session_id = :session_id AND query IS NOT NULL
ORDER BY receipt_id

-- name: contents_of_messages
SELECT content FROM message
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: delete_receipts_of_session
DELETE FROM receipt
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND receipt_id IN (SELECT value FROM json_each(CAST(:receipt_ids AS TEXT)))

-- name: delete_receipts
DELETE FROM receipt WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: delete_old_receipts
DELETE FROM receipt
WHERE tenant_id = :tenant_id AND session_id = :session_id AND kind <> 'reply' AND created_at < :before

-- name: delete_receipts_of_user
DELETE FROM receipt WHERE tenant_id = :tenant_id AND session_id IS NULL AND user_id = :user_id

-- name: delete_expired_receipts
DELETE FROM receipt WHERE tenant_id = :tenant_id AND expires_at <= :now

-- name: expire_receipts_of_project
-- After a change of the setting: of replies, and of contexts and searches.
UPDATE receipt
SET expires_at = CASE
    WHEN kind = 'reply' THEN created_at + CAST(:reply_age AS BIGINT)
    ELSE created_at + CAST(:other_age AS BIGINT)
END
WHERE tenant_id = :tenant_id AND project_id = :project_id

-- name: expire_other_receipts
-- Those of sessions in no project, and of projects that were deleted.
UPDATE receipt
SET expires_at = CASE
    WHEN kind = 'reply' THEN created_at + CAST(:reply_age AS BIGINT)
    ELSE created_at + CAST(:other_age AS BIGINT)
END
WHERE tenant_id = :tenant_id AND NOT EXISTS (
    SELECT 1 FROM project AS p
    WHERE p.tenant_id = :tenant_id AND p.project_id = receipt.project_id AND p.deleted_at IS NULL
)

-- name: tenant_receipt_days
SELECT receipt_days FROM tenant WHERE tenant_id = :tenant_id AND erased_at IS NULL

-- name: set_tenant_receipt_days
UPDATE tenant SET receipt_days = :receipt_days WHERE tenant_id = :tenant_id AND erased_at IS NULL

-- name: detach_receipts_from_pool
UPDATE receipt SET recalled_pool_id = :no_pool WHERE tenant_id = :tenant_id AND recalled_pool_id = :pool_id

-- name: erase_receipts
DELETE FROM receipt WHERE tenant_id = :tenant_id
