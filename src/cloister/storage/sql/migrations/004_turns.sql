-- One assistant turn at a time in a session: `turn` is the number of whoever answers, `turn_until` the moment until which that stands.
-- Whoever lives renews it; a dead process does not.
ALTER TABLE session ADD COLUMN turn BIGINT;
ALTER TABLE session ADD COLUMN turn_until BIGINT;
