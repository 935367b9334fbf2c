-- The pool whose text a message quotes, or was given to answer with; NULL where it was given none, 0 where that pool is divided or
-- joined since. What a message quotes is shown only while its session is in that pool (ISO-12).
ALTER TABLE message ADD COLUMN recalled_pool_id BIGINT;
CREATE INDEX message_by_recalled_pool ON message (tenant_id, recalled_pool_id) WHERE recalled_pool_id IS NOT NULL;

-- What was quoted before this was noted is taken to be of the pool in which its session is now.
UPDATE message SET recalled_pool_id = (
    SELECT pool_id FROM session
    WHERE session.tenant_id = message.tenant_id AND session.session_id = message.session_id
) WHERE lower(content) LIKE '%recalled%memory%';
