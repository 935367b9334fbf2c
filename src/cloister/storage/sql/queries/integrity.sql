-- Checksums of the rows that have text: the session, the checksum, the key, and the texts as bytes, which may be no text any more.

-- columns: message_texts
t.session_id, t.checksum, t.message_id,
convert_to(t.role, 'UTF8'), convert_to(t.author, 'UTF8'), convert_to(t.metadata, 'UTF8'), convert_to(t.content, 'UTF8'), convert_to(t.categories, 'UTF8')

-- name: texts_of_message
-- By session: messages have no index that begins with the tenant.
SELECT {message_texts}
FROM session AS s
CROSS JOIN message AS t
WHERE s.tenant_id = :tenant_id AND t.tenant_id = s.tenant_id
    AND t.message_id BETWEEN s.session_id << 21 AND (s.session_id << 21) + 2097151

-- name: unsummed_message
SELECT {message_texts} FROM message AS t WHERE t.tenant_id = :tenant_id AND t.checksum IS NULL LIMIT :limit FOR UPDATE

-- name: locked_message
SELECT {message_texts} FROM message AS t WHERE t.tenant_id = :tenant_id AND t.message_id = :message_id FOR UPDATE

-- name: set_checksum_of_message
UPDATE message SET checksum = :checksum WHERE tenant_id = :tenant_id AND message_id = :message_id

-- columns: memory_texts
t.session_id, t.checksum, t.memory_id,
convert_to(t.subject, 'UTF8'), convert_to(t.metadata, 'UTF8'), convert_to(t.content, 'UTF8'), convert_to(t.categories, 'UTF8')

-- name: texts_of_memory
SELECT {memory_texts} FROM memory AS t WHERE t.tenant_id = :tenant_id

-- name: unsummed_memory
SELECT {memory_texts} FROM memory AS t WHERE t.tenant_id = :tenant_id AND t.checksum IS NULL LIMIT :limit FOR UPDATE

-- name: locked_memory
SELECT {memory_texts} FROM memory AS t WHERE t.tenant_id = :tenant_id AND t.memory_id = :memory_id FOR UPDATE

-- name: set_checksum_of_memory
UPDATE memory SET checksum = :checksum WHERE tenant_id = :tenant_id AND memory_id = :memory_id

-- columns: observation_texts
t.session_id, t.checksum, t.observation_id,
convert_to(t.content, 'UTF8')

-- name: texts_of_observation
SELECT {observation_texts} FROM observation AS t WHERE t.tenant_id = :tenant_id

-- name: unsummed_observation
SELECT {observation_texts} FROM observation AS t WHERE t.tenant_id = :tenant_id AND t.checksum IS NULL LIMIT :limit FOR UPDATE

-- name: locked_observation
SELECT {observation_texts} FROM observation AS t WHERE t.tenant_id = :tenant_id AND t.observation_id = :observation_id FOR UPDATE

-- name: set_checksum_of_observation
UPDATE observation SET checksum = :checksum WHERE tenant_id = :tenant_id AND observation_id = :observation_id

-- name: remove_observation_row
DELETE FROM observation WHERE tenant_id = :tenant_id AND observation_id = :observation_id

-- columns: session_item_texts
t.session_id, t.checksum, t.message_id, t.position,
convert_to(t.item, 'UTF8')

-- name: texts_of_session_item
SELECT {session_item_texts} FROM session_item AS t WHERE t.tenant_id = :tenant_id

-- name: unsummed_session_item
SELECT {session_item_texts} FROM session_item AS t WHERE t.tenant_id = :tenant_id AND t.checksum IS NULL LIMIT :limit FOR UPDATE

-- name: locked_session_item
SELECT {session_item_texts} FROM session_item AS t WHERE t.tenant_id = :tenant_id AND t.message_id = :message_id AND t.position = :position FOR UPDATE

-- name: set_checksum_of_session_item
UPDATE session_item SET checksum = :checksum WHERE tenant_id = :tenant_id AND message_id = :message_id AND position = :position

-- columns: memory_file_texts
t.session_id, t.checksum, t.session_id, t.recalled_pool_id, convert_to(t.path, 'UTF8'),
convert_to(t.content, 'UTF8')

-- name: texts_of_memory_file
SELECT {memory_file_texts} FROM memory_file AS t WHERE t.tenant_id = :tenant_id

-- name: unsummed_memory_file
SELECT {memory_file_texts} FROM memory_file AS t WHERE t.tenant_id = :tenant_id AND t.checksum IS NULL LIMIT :limit FOR UPDATE

-- name: locked_memory_file
SELECT {memory_file_texts} FROM memory_file AS t WHERE t.tenant_id = :tenant_id AND t.session_id = :session_id AND t.recalled_pool_id = :pool_id AND t.path = :path FOR UPDATE

-- name: set_checksum_of_memory_file
UPDATE memory_file SET checksum = :checksum WHERE tenant_id = :tenant_id AND session_id = :session_id AND recalled_pool_id = :pool_id AND path = :path

-- columns: entry_texts
CAST(NULL AS BIGINT), t.checksum, t.entry_id,
convert_to(t.entry_key, 'UTF8'), convert_to(t.value, 'UTF8')

-- name: texts_of_entry
SELECT {entry_texts} FROM entry AS t WHERE t.tenant_id = :tenant_id

-- name: unsummed_entry
SELECT {entry_texts} FROM entry AS t WHERE t.tenant_id = :tenant_id AND t.checksum IS NULL LIMIT :limit FOR UPDATE

-- name: locked_entry
SELECT {entry_texts} FROM entry AS t WHERE t.tenant_id = :tenant_id AND t.entry_id = :entry_id FOR UPDATE

-- name: set_checksum_of_entry
UPDATE entry SET checksum = :checksum WHERE tenant_id = :tenant_id AND entry_id = :entry_id

-- name: remove_entry_row
DELETE FROM entry WHERE tenant_id = :tenant_id AND entry_id = :entry_id

-- name: blank_message
-- In place of a damaged message: it is not recalled, and what derives from it stays.
UPDATE message
SET role = :role, author = NULL, metadata = '{}', categories = '[]', content = :content, tokens = :tokens,
    status = CASE WHEN {on_branch} THEN 'failed' ELSE 'off_failed' END,
    vector = :vector, terms = :terms, checksum = :checksum
WHERE tenant_id = :tenant_id AND message_id = :message_id

-- name: session_external_id
SELECT external_id FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id
