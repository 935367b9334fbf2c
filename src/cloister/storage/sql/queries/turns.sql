-- name: take_turn
-- Takes a lease, which another turn may take after it expired. Returns no row while another turn has it.
UPDATE session SET turn = :turn, turn_until = :until, turn_process = :process
WHERE tenant_id = :tenant_id AND session_id = :session_id AND pool_id IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
    AND (turn IS NULL OR turn_until < :now)
RETURNING session_id

-- name: renew_turn
-- Returns no row if the turn was lost.
UPDATE session SET turn_until = :until
WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn = :turn
RETURNING session_id

-- name: cap_turn
-- A lease that ends later than one that is taken now was taken before the clock was set back.
UPDATE session SET turn_until = :until
WHERE tenant_id = :tenant_id AND external_id = :external_id AND turn_until > :until
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)

-- name: end_turn
-- Returns the session's external id, or no row if the turn was lost.
UPDATE session SET turn = NULL, turn_until = NULL, turn_process = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn = :turn
RETURNING external_id

-- name: revoke_turn
-- The question was deleted, so that no reply to it may be stored.
UPDATE session SET turn = NULL, turn_until = NULL, turn_process = NULL
WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn IS NOT NULL

-- name: turn_of
-- Returns a row if this is the current turn of the session.
SELECT session_id FROM session
WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn = :turn
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)

-- name: running_turn
SELECT turn FROM session WHERE tenant_id = :tenant_id AND session_id = :session_id AND turn IS NOT NULL AND turn_until >= :now

-- name: process_of_turn
-- The turn of a session whose lease is valid, and the process that answers it.
SELECT session_id, turn, turn_process FROM session
WHERE tenant_id = :tenant_id AND external_id = :external_id AND turn IS NOT NULL AND turn_process IS NOT NULL
    AND (CAST(:confined_to AS BIGINT) IS NULL OR project_id = :confined_to)
    AND (CAST(:bound_user AS TEXT) IS NULL OR user_id = :bound_user)
