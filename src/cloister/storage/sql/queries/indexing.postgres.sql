-- name: lock_session_by_id
SELECT pool_id FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id FOR UPDATE
