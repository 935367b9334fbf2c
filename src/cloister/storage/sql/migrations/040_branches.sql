-- Branches of sessions. A message follows the one before it in its session, unless `parent_id` names another, or with 0 none.
-- A message that is not on the current branch has `off_` before its status: `off_completed`, `off_partial`, `off_failed`. So every query
-- for completed messages leaves it out, without a further column: one behind the content would be read with the whole content.
ALTER TABLE message ADD COLUMN parent_id BIGINT;

CREATE INDEX message_fork ON message (tenant_id, message_id) WHERE parent_id IS NOT NULL;

-- `leaf_id` is the last message of the current branch; `is_forked` says that there are messages that are not on it.
ALTER TABLE session ADD COLUMN leaf_id BIGINT;
ALTER TABLE session ADD COLUMN is_forked BIGINT NOT NULL DEFAULT 0;
-- Messages up to this one are not extracted again: a person deleted something that came from one of them, and it must not come back.
ALTER TABLE session ADD COLUMN settled_message_id BIGINT NOT NULL DEFAULT 0;

UPDATE session SET leaf_id = (
    SELECT max(message_id) FROM message
    WHERE message_id BETWEEN session.session_id << 21 AND (session.session_id << 21) + 2097151
) WHERE message_count > 0;
