-- Items of conversations that are not messages, what items of messages have besides their text, and responses of OpenAI's interface.

-- columns: item_on_branch
NOT EXISTS (
        SELECT 1 FROM message AS m
        WHERE m.tenant_id = :tenant_id AND m.message_id = session_item.message_id
            AND m.status IN ('off_completed', 'off_partial', 'off_failed')
    )

-- columns: item_columns
message_id, position, item_id, response_id, recalled_pool_id, item

-- name: insert_item
INSERT INTO session_item (tenant_id, session_id, message_id, position, item_id, response_id, recalled_pool_id, item)
VALUES (:tenant_id, :session_id, :message_id, :position, :item_id, :response_id, :recalled_pool_id, :item)

-- name: last_message
SELECT max(message_id) FROM message WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last

-- name: last_current_message
SELECT max(message_id) FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last AND {on_branch}

-- name: last_position
SELECT max(position) FROM session_item WHERE tenant_id = :tenant_id AND message_id = :message_id

-- name: items_after
-- Items that are not messages, after a position, in order; those behind messages of the current branch, or before all messages.
SELECT {item_columns}
FROM session_item
WHERE tenant_id = :tenant_id AND message_id >= :message_id AND message_id <= :last AND position > 0
    AND recalled_pool_id = :pool_id AND (message_id > :message_id OR position > :position)
    AND {item_on_branch}
ORDER BY message_id, position
LIMIT :limit

-- name: items_before
-- The same before a position, last first.
SELECT {item_columns}
FROM session_item
WHERE tenant_id = :tenant_id AND message_id >= :first AND message_id <= :message_id AND position > 0
    AND recalled_pool_id = :pool_id AND (message_id < :message_id OR position < :position)
    AND {item_on_branch}
ORDER BY message_id DESC, position DESC
LIMIT :limit

-- name: message_frames
-- What the items of these messages have besides their text.
SELECT {item_columns}
FROM session_item
WHERE tenant_id = :tenant_id AND position = 0
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))

-- name: item_by_id
SELECT {item_columns} FROM session_item
WHERE tenant_id = :tenant_id AND session_id = :session_id AND item_id = :item_id
    AND (CAST(:all_branches AS BIGINT) = 1 OR {item_on_branch})

-- name: messages_after
-- A page of the messages of one session that are items, in order.
SELECT {message_columns}
FROM message
WHERE tenant_id = :tenant_id AND message_id > :after AND message_id <= :last AND status IN ('completed', 'partial')
ORDER BY message_id
LIMIT :limit

-- name: messages_before
-- The same, last first.
SELECT {message_columns}
FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id < :before AND status IN ('completed', 'partial')
ORDER BY message_id DESC
LIMIT :limit

-- name: delete_item
DELETE FROM session_item
WHERE tenant_id = :tenant_id AND session_id = :session_id AND message_id = :message_id AND position = :position

-- name: delete_items_of_message
DELETE FROM session_item WHERE tenant_id = :tenant_id AND session_id = :session_id AND message_id = :message_id

-- name: delete_items
DELETE FROM session_item WHERE tenant_id = :tenant_id AND message_id >= :first AND message_id <= :last

-- name: detach_items_from_pool
UPDATE session_item SET recalled_pool_id = :no_pool WHERE tenant_id = :tenant_id AND recalled_pool_id = :pool_id

-- name: insert_response
INSERT INTO session_response (tenant_id, session_id, response_id, question_id, reply_id, owns_messages, body)
VALUES (:tenant_id, :session_id, :response_id, :question_id, :reply_id, :owns_messages, :body)

-- name: response
SELECT s.external_id, r.question_id, r.reply_id, r.owns_messages, r.body
FROM session_response AS r
JOIN session AS s ON s.tenant_id = r.tenant_id AND s.session_id = r.session_id
WHERE r.tenant_id = :tenant_id AND r.response_id = :response_id AND s.pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR s.project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR s.user_id = :bound_user)

-- name: delete_response
DELETE FROM session_response WHERE tenant_id = :tenant_id AND session_id = :session_id AND response_id = :response_id

-- name: delete_responses_of_message
DELETE FROM session_response
WHERE tenant_id = :tenant_id AND session_id = :session_id AND (question_id = :message_id OR reply_id = :message_id)

-- name: delete_responses
DELETE FROM session_response WHERE tenant_id = :tenant_id AND session_id = :session_id
