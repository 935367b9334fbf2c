-- name: engine
SELECT 'PostgreSQL ' || current_setting('server_version')

-- name: claim_due
-- The same, passing over what another worker is claiming at this moment.
UPDATE session SET claim = :claim, claimed_until = :until
WHERE session_id = coalesce(
    (
        SELECT session_id FROM session
        WHERE tenant_id > :after AND due_at <= :now AND (claimed_until IS NULL OR claimed_until < :now)
        ORDER BY tenant_id, due_at, session_id
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ), (
        SELECT session_id FROM session
        WHERE tenant_id <= :after AND due_at <= :now AND (claimed_until IS NULL OR claimed_until < :now)
        ORDER BY tenant_id, due_at, session_id
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    )
)
RETURNING tenant_id, session_id
