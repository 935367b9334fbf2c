-- What a removal is about to take away, by id, and what of it is still there afterwards (PRF-4). All queries read only.

-- name: session_message_ids
-- The first messages of a session, each with the message that opened its episode.
SELECT message_id, episode_id FROM message
WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
ORDER BY message_id
LIMIT :limit

-- name: session_sample
-- The longest of the last messages: a search for its words has something to find.
SELECT last_messages.content
FROM (
    SELECT content FROM message
    WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last
    ORDER BY message_id DESC
    LIMIT 30
) AS last_messages
ORDER BY length(last_messages.content) DESC
LIMIT 1

-- name: session_observation_ids
SELECT observation_id FROM observation WHERE tenant_id = :tenant_id AND session_id = :session_id ORDER BY observation_id

-- name: session_items
SELECT item_id, recalled_pool_id, item FROM session_item
WHERE tenant_id = :tenant_id AND message_id >= :first AND message_id <= :last AND position > 0
ORDER BY message_id, position

-- name: session_response_ids
SELECT response_id FROM session_response WHERE tenant_id = :tenant_id AND session_id = :session_id ORDER BY response_id

-- name: items_of_messages
-- As `delete_items_of_message` removes them.
SELECT item_id, recalled_pool_id, item FROM session_item
WHERE tenant_id = :tenant_id AND session_id = :session_id AND position > 0
    AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
ORDER BY message_id, position

-- name: responses_of_messages
-- As `delete_responses_of_message` removes them.
SELECT response_id FROM session_response
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND (
        question_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
        OR reply_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    )
ORDER BY +response_id

-- name: session_receipt_ids
SELECT receipt_id FROM receipt WHERE tenant_id = :tenant_id AND session_id = :session_id ORDER BY +receipt_id

-- name: message_receipt_ids
-- The receipts that are about any of these messages, as the question or as the reply.
SELECT receipt_id FROM receipt
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND (
        question_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
        OR reply_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    )
ORDER BY +receipt_id

-- name: old_receipt_ids
-- Those of contexts and searches from before a time, as `delete_old_receipts` removes them.
SELECT receipt_id FROM receipt
WHERE tenant_id = :tenant_id AND session_id = :session_id AND kind <> 'reply' AND created_at < :before
ORDER BY receipt_id

-- name: user_receipt_ids
SELECT receipt_id FROM receipt
WHERE tenant_id = :tenant_id AND session_id IS NULL AND user_id = :user_id
ORDER BY receipt_id

-- name: tenant_receipt_ids
SELECT receipt_id FROM receipt WHERE tenant_id = :tenant_id ORDER BY receipt_id LIMIT :limit

-- name: count_receipts
SELECT count(*) FROM receipt WHERE tenant_id = :tenant_id

-- name: session_files
SELECT path, recalled_pool_id, updated_at FROM memory_file
WHERE tenant_id = :tenant_id AND session_id = :session_id
ORDER BY path

-- name: visible_entities
-- Those of these entities that the caller may see.
SELECT entity_id FROM entity
WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    AND part_of IS NULL AND deleted_at IS NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
ORDER BY entity_id

-- name: remaining_of_session
-- What is left of the messages of a session up to `last`, and of what derives from them.
SELECT
    (
        SELECT count(*) FROM session
        WHERE tenant_id = :tenant_id AND session_id = :session_id AND pool_id IS NOT NULL
    ),
    (SELECT count(*) FROM message WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last),
    (SELECT count(*) FROM message_vector WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last),
    (SELECT count(*) FROM memory_source WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last),
    (SELECT count(*) FROM mention WHERE tenant_id = :tenant_id AND message_id > :first AND message_id <= :last),
    (
        SELECT count(*) FROM entity_relation
        WHERE tenant_id = :tenant_id AND session_id = :session_id AND message_id <= :last
    ),
    (
        SELECT count(*) FROM idempotency
        WHERE tenant_id = :tenant_id AND session_id = :session_id AND answer IS NOT NULL
            AND (CAST(:is_deleted AS BIGINT) = 1 OR kind = 'messages' AND last_id <= :last)
    )

-- name: remaining_rows
-- What is left of rows that were removed by id.
SELECT
    (
        SELECT count(*) FROM memory
        WHERE tenant_id = :tenant_id AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM memory_revision
        WHERE tenant_id = :tenant_id AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM observation
        WHERE tenant_id = :tenant_id AND observation_id IN (SELECT value FROM json_each(CAST(:observation_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM entity
        WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:entity_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM entity
        WHERE tenant_id = :tenant_id AND entity_id IN (SELECT value FROM json_each(CAST(:hidden_ids AS TEXT)))
            AND deleted_at IS NULL
    ),
    (
        SELECT count(*) FROM session_item
        WHERE tenant_id = :tenant_id AND item_id IN (SELECT value FROM json_each(CAST(:item_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM session_response
        WHERE tenant_id = :tenant_id AND response_id IN (SELECT value FROM json_each(CAST(:response_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM receipt
        WHERE tenant_id = :tenant_id AND receipt_id IN (SELECT value FROM json_each(CAST(:receipt_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM prompt_template AS t
        WHERE t.tenant_id = :tenant_id AND t.template_id IN (SELECT value FROM json_each(CAST(:template_ids AS TEXT)))
            AND NOT EXISTS (
                SELECT 1 FROM receipt AS r WHERE r.tenant_id = :tenant_id AND r.template_id = t.template_id
            )
    )

-- name: remaining_messages
-- What is left of single messages, and of what is stored with them. An answer to an addition of memories does not say of which messages
-- they were.
SELECT
    (
        SELECT count(*) FROM message
        WHERE tenant_id = :tenant_id AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM message_vector
        WHERE tenant_id = :tenant_id AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM memory_source
        WHERE tenant_id = :tenant_id AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM mention
        WHERE tenant_id = :tenant_id AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM entity_relation
        WHERE tenant_id = :tenant_id AND session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
            AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM session_item
        WHERE tenant_id = :tenant_id AND message_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
    ),
    (
        SELECT count(*) FROM session_response
        WHERE tenant_id = :tenant_id AND session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
            AND (
                question_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
                OR reply_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
            )
    ),
    (
        SELECT count(*) FROM receipt
        WHERE tenant_id = :tenant_id AND session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
            AND (
                question_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
                OR reply_id IN (SELECT value FROM json_each(CAST(:message_ids AS TEXT)))
            )
    ),
    (
        SELECT count(*) FROM idempotency AS i
        WHERE i.tenant_id = :tenant_id AND i.session_id IN (SELECT value FROM json_each(CAST(:session_ids AS TEXT)))
            AND i.answer IS NOT NULL AND i.kind IN ('messages', 'items')
            AND EXISTS (
                SELECT 1 FROM json_each(CAST(:message_ids AS TEXT)) AS named
                WHERE named.value BETWEEN i.first_id AND i.last_id
            )
    )

-- name: remaining_of_user
SELECT
    (SELECT count(*) FROM entry WHERE tenant_id = :tenant_id AND user_id = :user_id),
    (SELECT count(*) FROM api_key WHERE tenant_id = :tenant_id AND user_id = :user_id),
    (SELECT count(*) FROM receipt WHERE tenant_id = :tenant_id AND session_id IS NULL AND user_id = :user_id)

-- name: remaining_of_project
SELECT
    (SELECT count(*) FROM entry WHERE tenant_id = :tenant_id AND coalesce(project_id, 0) = :project_id),
    (SELECT count(*) FROM session WHERE tenant_id = :tenant_id AND project_id = :project_id),
    (SELECT count(*) FROM project WHERE tenant_id = :tenant_id AND project_id = :project_id AND deleted_at IS NULL),
    (SELECT count(*) FROM prompt_template WHERE tenant_id = :tenant_id AND project_id = :project_id)

-- name: remaining_of_tenant
SELECT
    (SELECT count(*) FROM session WHERE tenant_id = :tenant_id AND pool_id IS NOT NULL),
    (SELECT count(*) FROM project WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM pool WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM memory WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM memory_revision WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM observation WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM entity WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM mention WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM entity_relation WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM session_item WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM session_response WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM receipt WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM prompt_template WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM memory_file WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM entry WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM idempotency WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM api_key WHERE tenant_id = :tenant_id)

-- name: tenant_project_ids
SELECT project_id FROM project WHERE tenant_id = :tenant_id AND deleted_at IS NULL ORDER BY project_id LIMIT :limit

-- name: tenant_key_ids
SELECT key_id FROM api_key WHERE tenant_id = :tenant_id AND revoked_at IS NULL ORDER BY key_id LIMIT :limit

-- name: tenant_memory_ids
SELECT memory_id FROM memory WHERE tenant_id = :tenant_id ORDER BY memory_id LIMIT :limit

-- name: tenant_observation_ids
SELECT observation_id FROM observation WHERE tenant_id = :tenant_id ORDER BY observation_id LIMIT :limit

-- name: user_entries
SELECT namespace, entry_key FROM entry
WHERE tenant_id = :tenant_id AND user_id = :user_id
ORDER BY namespace, entry_key
LIMIT :limit
