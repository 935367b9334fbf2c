-- name: waiting_memories
-- The memories of one session that have no vector yet.
SELECT memory_id, created_at, content, subject FROM memory
WHERE tenant_id = :tenant_id AND session_id = :session_id AND indexed_at IS NULL
ORDER BY memory_id
LIMIT :limit

-- name: memory_words
-- The text of the memories of one session after an id, for an indexer.
SELECT memory_id, created_at, content, subject FROM memory
WHERE tenant_id = :tenant_id AND session_id = :session_id AND memory_id > :after
    AND (CAST(:all_generations AS BIGINT) = 1 OR generation <> :generation)
ORDER BY memory_id
LIMIT :limit

-- name: set_memory_index
UPDATE memory SET generation = :generation, vector = :vector, terms = :terms, indexed_at = :indexed_at
WHERE tenant_id = :tenant_id AND session_id = :session_id AND memory_id = :memory_id

-- name: waiting_entities
-- The entities of one project that are not indexed yet; the vector only if it is of this generation.
SELECT
    {entity_columns}, revision,
    CASE WHEN generation = :generation THEN vector ELSE NULL END, terms
FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND indexed_at IS NULL
    AND part_of IS NULL AND deleted_at IS NULL
ORDER BY entity_id
LIMIT :limit

-- name: entity_words
-- The entities of one project after an id, for an indexer.
SELECT
    {entity_columns}, revision,
    CASE WHEN generation = :generation THEN vector ELSE NULL END, terms
FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND entity_id > :after
    AND part_of IS NULL AND deleted_at IS NULL
    AND (CAST(:all_generations AS BIGINT) = 1 OR generation <> :generation)
ORDER BY entity_id
LIMIT :limit

-- name: keep_entity_index
-- Only if the entity has not changed or moved since it was read.
UPDATE entity SET generation = :generation, vector = :vector, terms = :terms, indexed_at = :indexed_at
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND revision = :revision

-- name: set_entity_indexed_at
UPDATE entity SET indexed_at = :indexed_at
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND revision = :revision

-- name: requeue_entity
UPDATE entity SET indexed_at = NULL WHERE tenant_id = :tenant_id AND entity_id = :entity_id

-- name: note_entity_removal
INSERT INTO index_removal (tenant_id, removal_id, session_id, message_id, entity_id, due_at)
VALUES (:tenant_id, :removal_id, 0, 0, :entity_id, :due_at)

-- name: make_removal_due
UPDATE index_removal SET due_at = 0 WHERE tenant_id = :tenant_id AND removal_id = :removal_id
