-- name: hold_claim
SELECT observed_message_id FROM session
WHERE tenant_id = :tenant_id AND session_id = :session_id AND claim = :claim
FOR UPDATE
