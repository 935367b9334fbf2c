-- Branches of sessions: see the migration 040, and `domain/branches.py`.

-- columns: on_branch
status IN ('completed', 'partial', 'failed')

-- columns: m_on_branch
m.status IN ('completed', 'partial', 'failed')

-- name: forks
SELECT message_id, parent_id FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last AND parent_id IS NOT NULL
ORDER BY message_id

-- name: message_parents
-- The messages that these messages of one session follow; 0 for none.
SELECT
    m.message_id,
    CASE
        WHEN m.parent_id IS NOT NULL THEN m.parent_id
        ELSE coalesce((
            SELECT max(p.message_id) FROM message AS p
            WHERE p.tenant_id = :tenant_id AND p.message_id > :first AND p.message_id < m.message_id
        ), 0)
    END
FROM message AS m
WHERE m.tenant_id = :tenant_id AND m.message_id > :first AND m.message_id <= :last
    AND m.message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: set_parent
UPDATE message SET parent_id = :parent_id WHERE tenant_id = :tenant_id AND message_id = :message_id

-- name: give_children
-- Has the forks that follow a message follow another instead.
UPDATE message SET parent_id = :parent_id
WHERE tenant_id = :tenant_id AND message_id > :message_id AND message_id <= :last AND parent_id = :message_id

-- name: message_behind
-- The next message of the session, on whatever branch.
SELECT message_id FROM message
WHERE tenant_id = :tenant_id AND message_id > :message_id AND message_id <= :last
ORDER BY message_id
LIMIT 1

-- name: current_in_range
SELECT message_id FROM message
WHERE tenant_id = :tenant_id AND message_id >= :low AND message_id <= :high AND {on_branch}
ORDER BY message_id

-- name: others_in_range
SELECT message_id FROM message
WHERE tenant_id = :tenant_id AND message_id >= :low AND message_id <= :high
    AND status IN ('off_completed', 'off_partial', 'off_failed')
ORDER BY message_id

-- name: take_off_branch
UPDATE message SET status = 'off_' || status, is_memory_checked = 0
WHERE tenant_id = :tenant_id AND message_id >= :low AND message_id <= :high AND {on_branch}

-- columns: settled
(SELECT s.settled_message_id FROM session AS s WHERE s.tenant_id = :tenant_id AND s.session_id = :session_id)

-- name: put_on_branch
-- They are extracted again, unless they are settled.
UPDATE message
SET status = substr(status, 5), is_memory_checked = CASE WHEN message_id <= {settled} THEN 1 ELSE 0 END
WHERE tenant_id = :tenant_id AND message_id >= :low AND message_id <= :high
    AND status IN ('off_completed', 'off_partial', 'off_failed')

-- name: has_other_branches
SELECT message_id FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
    AND status IN ('off_completed', 'off_partial', 'off_failed')
LIMIT 1

-- name: forget_forks
UPDATE message SET parent_id = NULL
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last AND parent_id IS NOT NULL

-- name: set_leaf
UPDATE session SET leaf_id = :leaf_id, is_forked = :is_forked WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: set_branch
-- The session after its current branch changed. A lease is revoked: what a worker read of the old branch must not be stored. The
-- session is due for extraction if it was interrupted, or with :is_due 1.
UPDATE session
SET leaf_id = :leaf_id, is_forked = :is_forked, changed_version = :version, rebuilt_version = :version,
    episode_id = (SELECT m.episode_id FROM message AS m WHERE m.tenant_id = :tenant_id AND m.message_id = CAST(:leaf_id AS BIGINT)),
    due_at = CASE
        WHEN due_at IS NOT NULL AND claim IS NULL THEN due_at
        WHEN claim IS NOT NULL OR CAST(:is_due AS BIGINT) = 1 THEN CAST(:now AS BIGINT)
    END,
    claim = NULL, claimed_until = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: memories_to_withdraw
-- The memories that were extracted from any of these messages, except those that a person changed or pinned.
SELECT DISTINCT m.memory_id
FROM memory_source AS k
JOIN memory AS m ON m.tenant_id = k.tenant_id AND m.memory_id = k.memory_id
WHERE k.tenant_id = :tenant_id AND k.message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    AND m.session_id = :session_id AND m.source = 'extracted' AND m.pinned = 0
    AND NOT EXISTS (SELECT 1 FROM memory_revision AS r WHERE r.tenant_id = :tenant_id AND r.memory_id = m.memory_id)

-- name: names_mentioned
-- The names that any of these messages mentions.
SELECT DISTINCT +entity_id FROM mention
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- columns: of_their_extractions
EXISTS (
        SELECT 1 FROM mention AS n
        WHERE n.tenant_id = :tenant_id AND n.entity_id = mention.entity_id AND n.session_id = :session_id
            AND n.created_at = mention.created_at
            AND n.message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    )

-- name: withdraw_mentions
-- The mentions of names by these messages, with those of other messages that the same extraction made: its notes cannot be split.
DELETE FROM mention
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND {of_their_extractions}
RETURNING message_id

-- name: blank_mentions
-- The same for entities that a person changed: these stay, without the notes.
UPDATE mention SET notes = ''
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND {of_their_extractions}
RETURNING message_id

-- name: withdraw_relations
-- What these messages state, with the rows of other messages that the same extraction gave the same relation.
DELETE FROM entity_relation
WHERE tenant_id = :tenant_id AND session_id = :session_id AND EXISTS (
    SELECT 1 FROM entity_relation AS r
    WHERE r.tenant_id = :tenant_id AND r.session_id = :session_id
        AND r.message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
        AND r.created_at = entity_relation.created_at AND r.relation = entity_relation.relation
        AND r.subject_id = entity_relation.subject_id AND r.object_id = entity_relation.object_id
)
RETURNING message_id

-- name: uncheck_messages
-- Has messages read again by an extraction, because something that was extracted from them too is gone.
UPDATE message SET is_memory_checked = 0
WHERE tenant_id = :tenant_id AND session_id = :session_id AND is_memory_checked = 1 AND message_id > {settled}
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: requeue_messages
UPDATE message SET indexed_at = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND status = 'completed' AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: failed_replies
-- The failed replies to a message, on any branch.
SELECT message_id FROM message
WHERE tenant_id = :tenant_id AND message_id > :message_id AND message_id <= :last AND episode_id = :episode_id
    AND status IN ('failed', 'off_failed')
ORDER BY message_id
LIMIT :limit

-- name: settle_session
-- What was extracted from its messages is final: those up to the last one are not extracted again.
UPDATE session SET settled_message_id = (session_id << 21) + next_sequence - 1
WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: sessions_mentioning
SELECT DISTINCT m.session_id
FROM (
    SELECT CAST(:entity_id AS BIGINT) AS entity_id
    UNION ALL
    SELECT entity_id FROM entity WHERE tenant_id = :tenant_id AND part_of = :entity_id
) AS e
CROSS JOIN mention AS m
WHERE m.tenant_id = :tenant_id AND m.entity_id = e.entity_id
ORDER BY m.session_id
