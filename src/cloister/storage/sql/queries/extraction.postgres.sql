-- A lock, and lists of ids as arrays: the planner guesses badly how many a list holds, and would read whole tables.

-- name: lock_claimed_session
SELECT observed_message_id FROM session
WHERE tenant_id = :tenant_id AND session_id = :session_id AND claim = :claim
FOR UPDATE

-- name: mark_checked
UPDATE message SET is_memory_checked = 1
WHERE tenant_id = :tenant_id AND session_id = :session_id AND is_memory_checked = 0
    AND message_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:message_ids AS TEXT))))

-- name: present_messages
SELECT message_id FROM message
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND message_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:message_ids AS TEXT))))
