-- Where PostgreSQL needs another text to compare names as bytes.

-- name: archive_entries
SELECT {archived_entry}
ORDER BY coalesce(project_id, 0), coalesce(user_id, '') COLLATE "C", namespace, entry_key COLLATE "C"
