-- An erased tenant leaves its bare id, as a deleted session does: its sessions still refer to it. Nothing is found under that id, and
-- nothing can be added to it.
ALTER TABLE tenant ADD COLUMN erased_at BIGINT;
