-- name: waiting_memories
-- Of one session, those whose vectors are not known yet.
SELECT memory_id, created_at, content FROM memory
WHERE tenant_id = :tenant_id AND session_id = :session_id AND indexed_at IS NULL
ORDER BY memory_id
LIMIT :limit

-- name: memory_words
-- What an indexer reads of one session, from behind an id.
SELECT memory_id, created_at, content FROM memory
WHERE tenant_id = :tenant_id AND session_id = :session_id AND memory_id > :after
    AND (CAST(:all_generations AS BIGINT) = 1 OR generation <> :generation)
ORDER BY memory_id
LIMIT :limit

-- name: set_memory_index
UPDATE memory SET generation = :generation, vector = :vector, terms = :terms, indexed_at = :indexed_at
WHERE tenant_id = :tenant_id AND session_id = :session_id AND memory_id = :memory_id

-- name: waiting_entities
-- Of one project, those that no index knows yet; the vector only if it is of this generation.
SELECT
    entity_id, project_id, user_id, name, type, created_at, revision,
    CASE WHEN generation = :generation THEN vector ELSE NULL END, terms
FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND indexed_at IS NULL
ORDER BY entity_id
LIMIT :limit

-- name: entity_words
-- What an indexer reads of one project, from behind an id.
SELECT
    entity_id, project_id, user_id, name, type, created_at, revision,
    CASE WHEN generation = :generation THEN vector ELSE NULL END, terms
FROM entity
WHERE tenant_id = :tenant_id AND project_id = :project_id AND entity_id > :after
    AND (CAST(:all_generations AS BIGINT) = 1 OR generation <> :generation)
ORDER BY entity_id
LIMIT :limit

-- name: keep_entity_index
-- Only where nothing was said of it, and it was not moved, since its words were read.
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
