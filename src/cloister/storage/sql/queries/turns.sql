-- name: take_turn
-- A lease: another may take it when it has run out. No row comes back while it stands.
UPDATE session SET turn = :turn, turn_until = :until
WHERE tenant_id = :tenant_id AND session_id = :session_id AND pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
    AND (turn IS NULL OR turn_until < :now)
RETURNING session_id

-- name: renew_turn
-- No row comes back when the turn was lost.
UPDATE session SET turn_until = :until
WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn = :turn
RETURNING session_id

-- name: end_turn
-- Of the session as it is called now; no row comes back when the turn was lost.
UPDATE session SET turn = NULL, turn_until = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn = :turn
RETURNING external_id

-- name: revoke_turn
-- Whoever answers may keep nothing of it: what it answers was forgotten.
UPDATE session SET turn = NULL, turn_until = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn IS NOT NULL

-- name: turn_of
-- One row while the turn of the session is this one.
SELECT session_id FROM session
WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn = :turn
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
