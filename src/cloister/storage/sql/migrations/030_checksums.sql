-- Rows with text carry a CRC-32 of their id and texts, so that damage on the disk is known (OPS-1). Null: not computed yet; a worker does
-- it in the background, for rows from before this migration and after changes that set it to null.
ALTER TABLE message ADD COLUMN checksum BIGINT;
ALTER TABLE memory ADD COLUMN checksum BIGINT;
ALTER TABLE observation ADD COLUMN checksum BIGINT;
ALTER TABLE session_item ADD COLUMN checksum BIGINT;
ALTER TABLE memory_file ADD COLUMN checksum BIGINT;
ALTER TABLE entry ADD COLUMN checksum BIGINT;

CREATE INDEX message_unsummed ON message (tenant_id, message_id) WHERE checksum IS NULL;
CREATE INDEX memory_unsummed ON memory (tenant_id, memory_id) WHERE checksum IS NULL;
CREATE INDEX observation_unsummed ON observation (tenant_id, observation_id) WHERE checksum IS NULL;
CREATE INDEX session_item_unsummed ON session_item (tenant_id, message_id, position) WHERE checksum IS NULL;
CREATE INDEX memory_file_unsummed ON memory_file (tenant_id, session_id) WHERE checksum IS NULL;
CREATE INDEX entry_unsummed ON entry (tenant_id, entry_id) WHERE checksum IS NULL;
