-- name: subjects_of_memories
SELECT DISTINCT subject FROM memory
WHERE tenant_id = :tenant_id AND subject IS NOT NULL
    AND memory_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))

-- name: replacements
SELECT older_id, newer_id FROM memory_replacement
WHERE tenant_id = :tenant_id AND older_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
UNION
SELECT older_id, newer_id FROM memory_replacement
WHERE tenant_id = :tenant_id AND newer_id IN (SELECT value FROM json_each(CAST(:memory_ids AS TEXT)))
