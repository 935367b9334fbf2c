-- The planner guesses badly how many ids a list holds, and would read whole tables; as an array they are looked up one by one.

-- name: memory_sources
SELECT memory_id, message_id FROM memory_source
WHERE tenant_id = :tenant_id AND memory_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:memory_ids AS TEXT))))
ORDER BY memory_id, message_id

-- name: memory_contents
SELECT content FROM memory
WHERE tenant_id = :tenant_id AND memory_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:memory_ids AS TEXT))))

-- name: delete_memory_sources
DELETE FROM memory_source
WHERE tenant_id = :tenant_id AND memory_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:memory_ids AS TEXT))))

-- name: delete_memories
DELETE FROM memory
WHERE tenant_id = :tenant_id AND session_id = :session_id
    AND memory_id = ANY (ARRAY(SELECT value FROM json_each(CAST(:memory_ids AS TEXT))))
