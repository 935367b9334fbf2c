-- name: idempotent_answer
-- The tenant's secret, and the stored answer to a request that has not expired.
SELECT
    secret,
    (
        SELECT kind FROM idempotency WHERE tenant_id = :tenant_id AND request = :request AND expires_at > :now
    ), (
        SELECT fingerprint FROM idempotency WHERE tenant_id = :tenant_id AND request = :request AND expires_at > :now
    ), (
        SELECT answer FROM idempotency WHERE tenant_id = :tenant_id AND request = :request AND expires_at > :now
    )
FROM tenant
WHERE tenant_id = :tenant_id

-- name: tenant_secret
SELECT secret FROM tenant WHERE tenant_id = :tenant_id

-- name: set_tenant_secret
UPDATE tenant SET secret = :secret WHERE tenant_id = :tenant_id AND secret IS NULL

-- name: keep_idempotent_answer
INSERT INTO idempotency (tenant_id, request, kind, session_id, first_id, last_id, fingerprint, answer, expires_at)
VALUES (:tenant_id, :request, :kind, :session_id, :first_id, :last_id, :fingerprint, :answer, :expires_at)
ON CONFLICT (tenant_id, request) DO NOTHING
RETURNING kind

-- name: drop_expired_answers
DELETE FROM idempotency WHERE tenant_id = :tenant_id AND expires_at <= :now

-- name: drop_session_answers
DELETE FROM idempotency WHERE tenant_id = :tenant_id AND session_id = :session_id

-- name: blank_content_answers
-- The answers of all messages, items and memories of a session. The key stays used, but nothing else is kept.
UPDATE idempotency SET fingerprint = NULL, answer = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND kind IN ('messages', 'items', 'memories')

-- name: blank_message_answers
UPDATE idempotency SET fingerprint = NULL, answer = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND kind IN ('messages', 'items')
    AND first_id <= :message_id AND last_id >= :message_id

-- name: blank_item_answers
-- The answers that name an item, by a pattern with its id.
UPDATE idempotency SET fingerprint = NULL, answer = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND kind = 'items' AND answer LIKE :item

-- name: blank_memory_answers
UPDATE idempotency SET fingerprint = NULL, answer = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND kind = 'memories'

-- name: blank_key_answers
-- The answers with the encrypted secret of a key, by the key that created it or the key that was created. The idempotency key stays used.
UPDATE idempotency SET fingerprint = NULL, answer = NULL
WHERE tenant_id = :tenant_id AND session_id IS NULL AND kind = 'keys' AND (first_id = :key_id OR last_id = :key_id)
