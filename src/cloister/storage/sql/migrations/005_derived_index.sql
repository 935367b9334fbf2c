-- What derives waits for its index as messages do: `indexed_at` is empty while a slow embedder, or of entities an index outside the
-- database, has yet to run.
ALTER TABLE memory ADD COLUMN indexed_at BIGINT;
ALTER TABLE entity ADD COLUMN indexed_at BIGINT;

-- Raised with every change of what is known of an entity, or of where it is: what an indexer worked out before that is not kept.
ALTER TABLE entity ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;

CREATE INDEX memory_unindexed ON memory (tenant_id, session_id, memory_id) WHERE indexed_at IS NULL;
CREATE INDEX entity_unindexed ON entity (tenant_id, project_id, entity_id) WHERE indexed_at IS NULL;

-- An entity that is gone from here; 0 where a message or a session is.
ALTER TABLE index_removal ADD COLUMN entity_id BIGINT NOT NULL DEFAULT 0;

-- Memories are in no other index. Entities all wait: those of an index outside the database were never put there.
UPDATE memory SET indexed_at = created_at WHERE vector IS NOT NULL;
